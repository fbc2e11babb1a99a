"""A screen as a picture or text: its rows in pieces, drawn as ANSI, HTML, SVG and PNG."""

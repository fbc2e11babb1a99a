"""HTML for a browser: rows as articles, documents and diffs in them."""

from vantage.surfaces.html.rows import BLOCKS, render_html, row_html

__all__ = ["BLOCKS", "render_html", "row_html"]

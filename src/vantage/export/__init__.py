"""A conversation or a screen as one file."""

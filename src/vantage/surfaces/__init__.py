"""Rows and a context in, output out: one module per kind of display. They never import each other."""

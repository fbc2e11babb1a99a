"""Rows as lines of cells: the layout that the terminal and the plain surface share.

Everything here returns lines of styled spans that fit the page they were laid out for; what becomes of the styles is
the surface's business.
"""

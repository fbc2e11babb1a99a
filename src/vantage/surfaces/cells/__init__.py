"""Rows as lines of cells: the layout that the terminal and the plain surface share.

Everything here returns lines of styled spans that fit their page; the surface decides what becomes of the styles.
"""

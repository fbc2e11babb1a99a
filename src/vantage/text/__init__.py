"""Cells on a line: width, styles, spans, wrapping, sanitising, colours.

The lowest package: it imports nothing of ours, does no IO and knows nothing of agents or documents.
"""

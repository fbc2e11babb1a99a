"""The process that owns the PTYs: it outlives whoever started it, and writes what it reads before it tells anyone.

Standard library only, and everything is imported at start: an upgrade of the package under its feet must not matter.
"""

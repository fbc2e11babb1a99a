"""Render specs: a tool describes how it looks, as data, for every surface."""

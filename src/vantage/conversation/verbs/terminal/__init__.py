"""The verbs of a terminal: what each takes and returns, what it does, and what is remembered between two calls."""

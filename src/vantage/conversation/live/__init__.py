"""A terminal while it runs: the connection to its host, what is derived from its output, and the waits on it."""

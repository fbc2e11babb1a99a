"""The shell of a live terminal: its start, its hooks, its lock, and the commands it was given."""

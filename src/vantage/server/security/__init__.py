"""The checks in front of every request: tokens, sessions, origins, limits."""

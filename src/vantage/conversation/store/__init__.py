"""A conversation on disk: its logs, and everything that is derived from them and can be derived again."""

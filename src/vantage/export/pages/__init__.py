"""Exports that are web pages of one file: a conversation, and a terminal that is played."""

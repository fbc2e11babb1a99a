"""Render specs on disk: the files of a home, and the specs that a conversation has used."""

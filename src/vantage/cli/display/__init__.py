"""How commands draw on this terminal, read it, and write files."""

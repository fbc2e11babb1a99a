"""Commands for the server, its tokens, and the state of this machine."""

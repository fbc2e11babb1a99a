"""A terminal's screen: the screen over an engine, when it is fed, its history, and its changes as values."""

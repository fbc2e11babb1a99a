"""What a terminal shows: the screen over an engine, when it is fed, its history, and its changes as values."""

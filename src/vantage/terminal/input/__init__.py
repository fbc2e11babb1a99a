"""Input for a terminal: keys and mouse as bytes, for the modes that the program has set."""

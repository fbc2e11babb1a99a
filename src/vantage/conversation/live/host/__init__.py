"""The connection to the PTY host: one per home, with one link per terminal."""

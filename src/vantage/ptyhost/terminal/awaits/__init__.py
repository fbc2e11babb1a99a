"""Whether the foreground of a terminal waits for input: system calls, descriptors, one look, several looks in time."""

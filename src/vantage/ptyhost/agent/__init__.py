"""One agent of the host: a process with pipes, its files, and the numbered messages that it is sent."""

"""One terminal of the host: its files and watchers, and the process that runs in it with its input and its output."""

"""What is written to a terminal: typed input and answers to queries, each while a process can read it."""

"""Files that survive the death of the process that writes them: logs, growing files, atomic replacement."""

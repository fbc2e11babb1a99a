"""What a terminal and an agent of the host have in common: files, a full disk, watchers, start and end."""

"""What a terminal prints: reading it into the journal, what is noticed in it, and when watchers are told."""

"""What a message says: markdown as nodes, and the steps that fit them to a display."""

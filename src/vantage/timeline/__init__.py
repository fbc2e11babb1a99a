"""What happened: agent and terminal events as rows that every surface can draw."""

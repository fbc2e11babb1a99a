"""Commands that show a conversation: live, as a screen, as text, as a file."""

"""What a conversation keeps and reads: IO begins here."""

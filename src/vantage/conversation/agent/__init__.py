"""The agent that Vantage runs in a conversation: its process, its stream, what it is sent."""

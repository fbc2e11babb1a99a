"""What can be asked of a conversation and its terminal: parameters, functions and results."""

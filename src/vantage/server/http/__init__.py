"""HTTP: requests decoded, verbs called, answers encoded."""

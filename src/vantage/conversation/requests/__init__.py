"""Requests to people: the ledger of one conversation, its expiry, and whether the conversation needs a person."""

"""The verbs of a conversation and of the home: events, displays, render specs, assets, keyboard, life cycle."""

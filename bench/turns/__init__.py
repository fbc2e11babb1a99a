"""What a task costs a model: calls and tokens, with our tools and with Codex's own. `python -m bench.turns`."""

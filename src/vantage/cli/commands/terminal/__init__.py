"""Commands that run something in a terminal, type into it and wait for it."""

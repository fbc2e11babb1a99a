"""How commands read their arguments: which conversation of which home, words, times, sizes; and wrong usage."""

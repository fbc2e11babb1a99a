"""The sizes that a terminal may have. Verbs, checks, the screen and the command line read them from here."""

MIN_COLS, MAX_COLS = 2, 1000
MIN_ROWS, MAX_ROWS = 1, 500

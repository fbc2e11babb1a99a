"""How a benchmark runs: the harness, the process of one side, the plot."""

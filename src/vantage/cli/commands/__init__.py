"""The commands, loaded when one is called; the folders are the headings of `vantage --help`."""

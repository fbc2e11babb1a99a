"""What is typed into a terminal: keys and mouse as the bytes that the program's modes ask for."""

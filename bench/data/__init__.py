"""What is measured: a corpus that is the same every time."""

"""What a program prints, as text: marks cut out, the spool, blocks, what a person would have seen, what to wait for."""

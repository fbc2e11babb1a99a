"""Diagrams where they cannot be drawn: Mermaid read, and written as an outline."""

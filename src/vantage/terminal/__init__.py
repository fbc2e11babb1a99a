"""The meaning of a PTY's output: bytes and journal records in, text, screens, blocks and events out.

No files, sockets or clocks: time is an argument, and every way to cut the bytes into chunks gives the same result.
"""

"""The process that owns the PTYs: it outlives whoever started it, and writes what it reads before it tells anyone.

Standard library only, and everything is imported at start: an upgrade of the package under its feet must not matter.

Clients need `protocol` (names, codec, limits) and `start` (a connection to the host of a home, started if need be).
Inside: `__main__` becomes a host, `host` knows connections and terminals, `ops` is the table of what can be asked,
`terminal` joins one process (`pty`), its two files (`journal`) and what is typed into it (`inputs`); `loop` turns,
`processes` asks /proc.
"""

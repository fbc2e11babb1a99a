"""The process that owns the PTYs: it outlives the process that started it, and writes output before it sends events.

Standard library only, and everything is imported at start: an upgrade of the package must not affect a running host.

Clients need `protocol` (names, codec, limits) and `start` (a connection to the host of a home, started if need be).
Inside: `__main__` becomes a host, `host` has the connections and terminals, `ops` is the table of operations,
`terminal` joins one process (`pty`), its two files (`journal`) and its input (`inputs`); `loop` waits for descriptors
and timers, `processes` reads /proc.
"""

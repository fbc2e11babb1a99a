"""The process that owns PTYs and agents: it outlives the process that started it, and writes output before events.

Standard library only, and everything is imported at start: an upgrade of the package must not affect a running host.

Clients need `protocol` (names, codec, limits) and `start` (a connection to the host of a home, started if need be).
Inside: `__main__` becomes a host, `host` has the connections, terminals and agents, `ops` is the table of operations,
`fields` checks what they are asked with. `shared` joins a process and its files, for a terminal (`terminal`, on a PTY)
and for an agent (`agent`, with pipes). `loop` waits for descriptors and timers, `processes` reads /proc.
"""

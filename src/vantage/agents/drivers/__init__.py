"""The two-way protocols of agents, without IO: one driver per protocol, behind the one interface of `driver`."""

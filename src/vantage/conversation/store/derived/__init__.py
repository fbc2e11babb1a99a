"""What is derived from a terminal's raw output and kept beside it: derivation, replay, rebuild."""

"""Everything that takes input of strangers and only computes, by name. Servers are in `live_targets`."""

from terminal_targets import TERMINAL_TARGETS
from text_targets import TEXT_TARGETS

TARGETS = {target.name: target for target in (*TEXT_TARGETS, *TERMINAL_TARGETS)}

"""A program's output as text: marks cut out, the spool, blocks, the text as a person saw it, conditions to wait for."""

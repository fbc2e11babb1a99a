"""Common slips of callers that type, noticed before the input is written and returned as notes.

A note never refuses anything: the input is typed unchanged.
"""

from typing import Any

from vantage.conversation.verbs.terminal.params import Send
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Note
from vantage.conversation.verbs.terminal.secret_input import ends_line
from vantage.errors import Do


def slips(terminal: PtyTerminal, params: Send) -> tuple[Note, ...]:
    """Notes on input that is probably not meant like this."""
    text = params.data or ""
    entered = ends_line(text.encode("utf-8", "replace"))
    if params.secret and text and not entered:
        return (_note("secret_without_enter", "no Enter follows the secret", Do("keys", "presses it", keys=["Enter"])),)
    if not entered and text.endswith(("\\n", "\\r")):
        message = "the text ends with a backslash and a letter, not with a line end: Enter was not pressed"
        return (_note("literal_line_end", message, Do("keys", "presses it", keys=["Enter"])),)
    if not entered or not terminal.prompts.at_prompt:
        return ()
    blocks = terminal.live.derivation.blocks
    last = blocks.get(f"b{blocks.count}") if blocks.count else None
    if last is not None and last.origin == "interactive":
        message = f"the program that ran ({last.block_id}) has ended: the shell got this"
        step = Do("read_block", "shows what it printed", block_id=last.block_id)
        return (_note("program_ended", message, step, block_id=last.block_id, exit_code=last.exit_code),)
    step = Do("exec_block", "runs a command and returns its output and exit code")
    return (_note("typed_at_shell", "nothing runs: the shell got this as a command", step),)


def _note(code: str, message: str, *steps: Do, **facts: Any) -> Note:
    return Note(code=code, message=message, facts=facts, steps=[step.to_dict() for step in steps])

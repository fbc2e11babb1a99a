"""The verbs that type: text, keys, the mouse, Ctrl-C, Ctrl-D and Enter; and how input is written.

All input goes through `write_input`: the keyboard is checked, a secret is recognised, input that the shell cannot read
yet is held, and the bytes go to the host in pieces, as keys come from a keyboard.
"""

import asyncio
import base64
import binascii
from typing import Any, NamedTuple

import msgspec

from vantage.conversation.checks import within
from vantage.conversation.verbs.terminal import calls, held_input, turn
from vantage.conversation.verbs.terminal.keyboard import AGENT
from vantage.conversation.verbs.terminal.params import Keys, Mouse, OnSession, Send
from vantage.conversation.verbs.terminal.prompts import KEY_S
from vantage.conversation.verbs.terminal.pty_terminal import PtyTerminal
from vantage.conversation.verbs.terminal.results import Clicked, Cursor, Note
from vantage.conversation.verbs.terminal.secret_input import ends_line, secret_gone
from vantage.conversation.verbs.terminal.slips import slips
from vantage.conversation.verbs.verb import verb
from vantage.errors import Conflict, Do, InputError, NoSecretPrompt, NotRunning, SecretGone
from vantage.ptyhost import protocol
from vantage.ptyhost.terminal.input.queue import NO_READER
from vantage.terminal.input.keys import CONTROL, ESCAPE, encode_keys, parse_key
from vantage.terminal.input.keys import paste as paste_bytes
from vantage.terminal.input.mouse import encode_mouse, find_text

MAX_SEND = 8 << 20
PIECE = 1 << 16
ESCAPE_S = 0.1
"""Between an Escape and the next key: a program that gets both at once takes them for Alt with that key."""
ENTER = b"\r"
ENTER_S = 0.15
"""Seconds between a text and its Enter for programs that detect pastes: Codex waits about 120 ms for more of one."""
INTERRUPT = b"\x03"
LINE_ENDS = (b"\r", b"\n")
AT_SECRET_PROMPTS = frozenset({("c", CONTROL), ("d", CONTROL), ("Enter", 0)})
"""Keys that add nothing to a secret: they leave its prompt, or submit what was typed before."""


class Typing(msgspec.Struct, frozen=True, kw_only=True):
    """Whose input it is, and how it is written."""

    by: str = AGENT
    session_id: str | None = None
    secret: bool = False
    hold: bool = True
    """False: input that would have to wait for a prompt is dropped, since a Ctrl-C follows it."""
    check: str = "open"
    """The condition that the host checks before it writes: `open` refuses while a program asks for a secret."""
    pause: float = KEY_S
    """Seconds between two pieces: tmux takes keys that come within a millisecond for a paste."""
    earlier: calls.Earlier | None = None
    """How much of it was typed when the same call was sent before."""
    facts: dict[str, Any] = {}
    """The facts that the host keeps with the call, for the answer when the call is sent again."""


@verb("Type text into the program that runs, or at the prompt.")
async def send(terminal: PtyTerminal, params: Send) -> Cursor:
    if (params.data is None) == (params.data_b64 is None):
        raise InputError("give one of data and data_b64", hint="data is text, data_b64 bytes")
    wait, earlier = await turn.asked(terminal, params), await calls.typed_earlier(terminal)
    runs, notes = _runs(terminal), slips(terminal, params)
    if earlier is not None:
        runs, notes = earlier.facts["block"], msgspec.convert(earlier.facts["notes"], tuple[Note, ...])
    facts = {"block": runs, "notes": msgspec.to_builtins(notes)}
    how = Typing(session_id=params.session_id, secret=params.secret, earlier=earlier, facts=facts)
    if params.data is not None:
        act = type_text(terminal, params.data, how, paste=params.paste)
    else:
        act = type_bytes(terminal, _decoded(params.data_b64 or ""), how, paste=params.paste)
    typed = await turn.acted(wait, act)
    typed.notes = notes
    return await turn.waited(terminal, wait, typed, runs)


def _decoded(data_b64: str) -> bytes:
    try:
        return base64.b64decode(data_b64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"data_b64 is not base64: {error}", hint="give text as data") from None


def _runs(terminal: PtyTerminal) -> str | None:
    """The command that runs and gets the input."""
    active = terminal.live.state.block
    return active.block_id if active else None


@verb("Press keys by name.")
async def keys(terminal: PtyTerminal, params: Keys) -> Cursor:
    wait, earlier = await turn.asked(terminal, params), await calls.typed_earlier(terminal)
    runs = earlier.facts["block"] if earlier is not None else _runs(terminal)
    names = [params.keys] if isinstance(params.keys, str) else params.keys
    act = press_keys(terminal, names, Typing(session_id=params.session_id, earlier=earlier, facts={"block": runs}))
    return await turn.waited(terminal, wait, await turn.acted(wait, act), runs)


@verb("Interrupt, even a program that does not read its input.")
async def ctrl_c(terminal: PtyTerminal, params: OnSession) -> Cursor:
    if (earlier := await calls.typed_earlier(terminal)) is not None:
        return _typed_at(terminal, earlier.facts["cursor"])
    await _check_input(terminal, Typing(session_id=params.session_id))
    await terminal.prompts.interrupt_taken()  # a shell that gets two at one prompt may keep one for the next command
    cursor = terminal.live.terminal.cursor
    terminal.note_place(cursor, terminal.live.terminal.raw)
    terminal.prompts.interrupt_sent()
    terminal.held.interrupted()
    terminal.secrets.cancelled(AGENT)
    done = await terminal.live.ask("interrupt", **_once(0, 1, 1, {"cursor": cursor}))
    await terminal.prompts.interrupt_handed_over(done.get("to"))
    return _typed_at(terminal, cursor)


@verb("End of input.")
async def ctrl_d(terminal: PtyTerminal, params: OnSession) -> Cursor:
    how = Typing(session_id=params.session_id, check="none", earlier=await calls.typed_earlier(terminal))
    return await write_input(terminal, [held_input.END_OF_INPUT], how)


@verb("Press Enter.")
async def enter(terminal: PtyTerminal, params: OnSession) -> Cursor:
    how = Typing(session_id=params.session_id, check="none", earlier=await calls.typed_earlier(terminal))
    return await write_input(terminal, [ENTER], how)


@verb("Click a cell, or a text that is visible.")
async def mouse(terminal: PtyTerminal, params: Mouse) -> Clicked:
    if (earlier := await calls.typed_earlier(terminal)) is not None:
        _check_written({"written": earlier.taken, "why": earlier.why}, earlier.size, 0, earlier.size)
        return Clicked(row=earlier.facts["row"], col=earlier.facts["col"])
    screen = terminal.screen()
    row, col = find_text(screen, params.on_text) if params.on_text is not None else (params.row, params.col)
    if row is None or col is None:
        raise InputError("mouse needs a position", hint="give row and col, or on_text with a text that is visible")
    within("row", row, 0, screen.rows_count - 1)
    within("col", col, 0, screen.cols - 1)
    data = encode_mouse(params.action, row, col, screen.modes, button=params.button)
    await write_input(terminal, [data], Typing(facts={"row": row, "col": col}))
    return Clicked(row=row, col=col)


async def type_text(terminal: PtyTerminal, text: str, how: Typing, *, paste: bool = False) -> Cursor:
    """Types a text, whose line ends are Enter, as on a keyboard.

    A program that enabled bracketed pastes may take text and Enter that come at once for a paste: for it, the last
    Enter is a piece of its own.
    """
    data = text.replace("\r\n", "\r").replace("\n", "\r").encode()
    if not paste and data.endswith(ENTER) and len(data) > 1 and _watches_for_pastes(terminal):
        _check_size(data)
        return await write_input(terminal, [data[:-1], ENTER], msgspec.structs.replace(how, pause=ENTER_S))
    return await type_bytes(terminal, data, how, paste=paste)


async def type_bytes(terminal: PtyTerminal, data: bytes, how: Typing, *, paste: bool = False) -> Cursor:
    """Types bytes unchanged; `paste` brackets them if the program has enabled that."""
    _check_size(data)
    screen = terminal.live.terminal.screen
    if paste and screen is not None:
        data = paste_bytes(data.decode("utf-8", "replace"), screen.modes)
    return await write_input(terminal, [data], how)


async def press_keys(terminal: PtyTerminal, names: list[str], how: Typing) -> Cursor:
    """Presses keys by name, encoded for the modes that the program has set. Some may be pressed at a secret prompt."""
    pieces = encode_keys(names, terminal.screen().modes)
    if all((key.name, key.modifiers) in AT_SECRET_PROMPTS for key in map(parse_key, names)):
        how = msgspec.structs.replace(how, check="none")
    return await write_input(terminal, pieces, how)


def _check_size(data: bytes) -> None:
    if len(data) > MAX_SEND:
        raise InputError(f"{len(data):,} bytes at once are too many", hint=f"at most {MAX_SEND:,}; write a file")


def _watches_for_pastes(terminal: PtyTerminal) -> bool:
    """Whether the running program tells pastes from typed text."""
    screen = terminal.live.terminal.screen
    return screen is not None and screen.modes.bracketed_paste and not terminal.prompts.at_prompt


async def write_input(terminal: PtyTerminal, pieces: list[bytes], how: Typing) -> Cursor:
    """Writes input in pieces, once the shell can read it; a secret is checked and remembered."""
    live, prompts, held, secrets = terminal.live, terminal.prompts, terminal.held, terminal.secrets
    interrupts = held.interrupts if how.hold else -1
    if how.earlier is not None:
        return await _write_rest(terminal, pieces, how, how.earlier)
    await _check_input(terminal, how)
    typed = b"".join(pieces)
    note, secret = "", how.secret
    if not typed.startswith(INTERRUPT):
        await prompts.interrupt_taken()
        secret = await secrets.is_secret(typed, secret, how.by)
        note = "" if secret else await held.hold(typed, interrupts)
        await prompts.editor_left()
    cursor = live.terminal.cursor
    terminal.input_written(b"" if secret else typed)
    check = "secret" if secret else "none" if live.settings.allow_secret_input else how.check
    typed_at = prompts.current if prompts.at_prompt else None
    if typed.endswith(INTERRUPT):
        prompts.interrupt_sent()
    if INTERRUPT in typed:
        held.interrupted()
        secrets.cancelled(how.by)
    try:
        facts = {**how.facts, "cursor": cursor, "note": note}
        written = await _enter(terminal, pieces, check, how, facts)
    except (NoSecretPrompt, SecretGone):
        secrets.refused(typed, how.by)
        raise
    if secret:
        secrets.typed(typed, how.by)
    if written.echoed:
        terminal.input_echoed(cursor)
    if typed_at is None:
        prompts.command_typed(line=typed.endswith(LINE_ENDS))
    elif ends_line(typed):
        prompts.line_entered(typed_at)
    elif typed and not typed.endswith((INTERRUPT, held_input.END_OF_INPUT)):
        prompts.line_begun(typed_at)
    return _typed_at(terminal, cursor, written.note or note)


async def _write_rest(terminal: PtyTerminal, pieces: list[bytes], how: Typing, earlier: calls.Earlier) -> Cursor:
    """The part of a call's input that was not written when it was sent before. The host writes nothing twice."""
    cursor: int = earlier.facts["cursor"]
    terminal.input_known(b"" if how.secret else b"".join(pieces), cursor)
    if not earlier.complete or earlier.why:
        check = "secret" if how.secret else "none" if terminal.live.settings.allow_secret_input else how.check
        await _enter(terminal, pieces, check, how, earlier.facts)
    return _typed_at(terminal, cursor, earlier.facts["note"])


async def _check_input(terminal: PtyTerminal, how: Typing) -> None:
    terminal.keyboard.check(how.by)
    await terminal.live.join_host()
    if not terminal.live.alive:
        steps = [Do("exec_block", "starts one"), Do("exec_interactive", "starts one")]
        raise NotRunning("there is no shell", do=steps)
    terminal.check_session(how.session_id)


async def _enter(
    terminal: PtyTerminal, pieces: list[bytes], check: str, how: Typing, facts: dict[str, Any]
) -> "_Written":
    """Writes input. A line of it answers the request for the secret that was asked for before."""
    asked = await terminal.asked.open(check == "secret")
    typed = b"".join(pieces)
    with terminal.asked.typing():
        written = await _write(terminal, pieces, check, how.pause, facts)
        if ends_line(typed) and INTERRUPT not in typed:
            terminal.asked.entered(asked, how.by)
    return written


class _Written(NamedTuple):
    note: str
    """Set when no program read a Ctrl-D."""
    echoed: bool
    """The terminal itself echoed all of it; false too if the host is of an earlier version."""


async def _write(
    terminal: PtyTerminal, pieces: list[bytes], check: str, pause: float, facts: dict[str, Any] | None = None
) -> _Written:
    """One piece after the other, as keys come from a keyboard."""
    written, size, note, echoed = 0, sum(map(len, pieces)), "", True
    fields: dict[str, int] = {"seen": terminal.live.terminal.raw} if check == "secret" else {}
    for number, piece in enumerate(pieces):
        if number:
            await asyncio.sleep(ESCAPE_S if pieces[number - 1].endswith(ESCAPE) else pause)
        for start in range(0, len(piece), PIECE):
            part = piece[start : start + PIECE]
            if part == held_input.END_OF_INPUT:
                fields["timeout_ms"] = round(held_input.HOLD_S * 1000)
            once = _once(written, written + len(part), size, facts)
            answer = await terminal.live.ask("input", data=protocol.encode_data(part), check=check, **fields, **once)
            if answer.get("why") == NO_READER:
                note = f"no program read its input within {held_input.HOLD_S:g} s: Ctrl-D was typed anyway"
            _check_written(answer, len(part), written, size)
            written += len(part)
            echoed = echoed and answer.get("echo", False)
    return _Written(note, echoed)


def _once(at: int, end: int, size: int, facts: dict[str, Any] | None) -> dict[str, Any]:
    """Which part of the running call an input is, so that the host writes it once. Empty if the call has no id."""
    call = calls.current()
    return {"call": {"id": call.call_id, "at": at, "end": end, "size": size, "facts": facts}} if call else {}


def _check_written(answer: dict[str, Any], part: int, before: int, size: int) -> None:
    """Raises if a part of an input was not written; `before` bytes of all `size` were."""
    why = answer.get("why")
    if why == protocol.Code.SECRET_GONE:
        raise secret_gone()
    if why == "ended":
        raise held_input.ended_before_input()
    if answer["written"] < part:
        done = before + answer["written"]
        raise Conflict(
            f"the program does not read its input: {done:,} of {size:,} bytes were written, and the rest was dropped",
            do=[Do("read_screen", "shows the program"), Do("ctrl_c", "interrupts it")],
            facts={"written": done, "size": size},
        )


def _typed_at(terminal: PtyTerminal, cursor: int, note: str = "") -> Cursor:
    terminal.live.position.cursor = cursor
    return Cursor(cursor=cursor, note=note)

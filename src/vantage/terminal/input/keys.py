"""Names of keys → the bytes that a terminal sends for them, for the modes that the program has set.

One encoder for both engines: xterm's codes, application cursor keys, modifyOtherKeys and kitty's keyboard protocol, all
from tables. An unknown name is an error, and then nothing is encoded: a typo must not be typed.
"""

import re
from collections.abc import Iterable

import msgspec

from vantage.errors import Do, InputError, nearest_word
from vantage.terminal.engines.values import Modes

MAX_REPEATS = 1000
ESCAPE = b"\x1b"
SHIFT, ALT, CONTROL = 1, 2, 4
_MODIFIERS = {
    "c": CONTROL, "ctrl": CONTROL, "control": CONTROL, "m": ALT, "alt": ALT, "meta": ALT, "option": ALT, "s": SHIFT,
    "shift": SHIFT,
}  # fmt: skip

# Keys whose code ends in a letter, `CSI A`; of these the first six are `SS3 A` with application cursor keys, the others
# always (without modifiers).
_CURSOR = {"Up": "A", "Down": "B", "Right": "C", "Left": "D", "Home": "H", "End": "F"}
_PF = {"F1": "P", "F2": "Q", "F3": "R", "F4": "S"}
# Keys whose code is a number, `CSI 5 ~`.
_NUMBERED = {
    "Insert": 2, "Delete": 3, "PageUp": 5, "PageDown": 6, "F5": 15, "F6": 17, "F7": 18, "F8": 19, "F9": 20, "F10": 21,
    "F11": 23, "F12": 24,
}  # fmt: skip
_HIGH = {f"F{number}": f"F{number - 12}" for number in range(13, 25)}
"""xterm's description calls Shift-F1 F13, and so on; kitty has numbers of its own for them."""
_KITTY_HIGH = {f"F{number}": 57376 + number - 13 for number in range(13, 25)}
# Keys that are a control character or a blank.
_TYPED = {"Enter": "\r", "Tab": "\t", "Escape": "\x1b", "Backspace": "\x7f", "Space": " "}
_ALIASES = {
    "Return": "Enter", "Esc": "Escape", "BS": "Backspace", "Del": "Delete", "Ins": "Insert", "PgUp": "PageUp",
    "PgDn": "PageDown", "PgDown": "PageDown", "BackTab": "S-Tab", "BTab": "S-Tab", "CR": "Enter", "ArrowUp": "Up",
    "ArrowDown": "Down", "ArrowLeft": "Left", "ArrowRight": "Right", "UpArrow": "Up", "DownArrow": "Down",
    "LeftArrow": "Left", "RightArrow": "Right", "BkSp": "Backspace", "SpaceBar": "Space",
}  # fmt: skip
NAMES = (*_TYPED, *_NUMBERED, *_CURSOR, *_PF, *_HIGH)
_BY_LOWER = {name.lower(): name for name in (*NAMES, *_ALIASES)}

# What Ctrl makes of characters that are not letters; the second column is xterm's.
_CONTROLS = {
    "@": 0, "[": 27, "\\": 28, "]": 29, "^": 30, "_": 31, "?": 127, " ": 0,
    "2": 0, "3": 27, "4": 28, "5": 29, "6": 30, "7": 31, "8": 127, "/": 31,
}  # fmt: skip

_KEY = re.compile(rf"(\^(?=[^*])|(?:(?:{'|'.join(_MODIFIERS)})[-+])*)(.+?)(?:\*([0-9]+))?", re.DOTALL | re.IGNORECASE)
_JOINTS = re.compile(r"(?<=\w)[ _-](?=\w)")
"""Between the words of a key's name: `Page Up`, `page_up`, `page-up`."""
_BRACKETS = re.compile(r"<(.{2,})>", re.DOTALL)
_AS_PEOPLE_WRITE = re.compile(r"\^|(?:ctrl|control)[-+]", re.IGNORECASE)
"""Ctrl, in spellings with a capital that means no Shift: `Ctrl+C`, `^C`."""


class Key(msgspec.Struct, frozen=True):
    name: str
    """One of `NAMES`, or a single character."""
    modifiers: int = 0
    times: int = 1


def parse_key(text: str) -> Key:
    """Reads `C-M-x`, `S-F5`, `Up*3`, `a`, also `Ctrl+C`, `^C` and `<Esc>`; an error suggests what may be meant."""
    brackets = _BRACKETS.fullmatch(text)
    match = _KEY.fullmatch(brackets[1] if brackets else text)
    if not match:
        raise InputError("a key has a name: an empty one was given", hint="name it, like 'Enter' or 'C-c'")
    prefix, name, times = match.groups()
    count = int(times[:9]) if times else 1
    if not 1 <= count <= MAX_REPEATS:
        raise InputError(f"a key is repeated 1 to {MAX_REPEATS} times, not {count} ({text!r})")
    modifiers = 0
    for modifier in re.split("[-+]", prefix.lower())[:-1]:
        modifiers |= _MODIFIERS[modifier]
    if _AS_PEOPLE_WRITE.match(prefix):
        modifiers |= CONTROL
        name = name if len(name) > 1 else _lower(name)
    if len(name) > 1:
        known = _BY_LOWER.get(_JOINTS.sub("", name.lower()))
        if known is None:
            raise _unknown(text, name)
        if known in _ALIASES:
            aliased = parse_key(_ALIASES[known])
            known, modifiers = aliased.name, modifiers | aliased.modifiers
        name = known
    elif not name.isprintable():
        raise InputError(f"{name!r} is no key", hint="control characters have names: 'Enter', 'Tab', 'Escape', 'C-c'")
    elif modifiers & SHIFT:
        name, modifiers = _shifted(text, name, modifiers)
    return Key(name, modifiers, count)


def _unknown(text: str, name: str) -> InputError:
    close = nearest_word(name, _BY_LOWER.values())
    hint = f"did you mean {close!r}? " if close else ""
    return InputError(
        f"there is no key {text!r}",
        hint=f"{hint}keys are {', '.join(_TYPED)}, {', '.join(_CURSOR)}, PageUp, PageDown, Insert, Delete, F1 to F24 "
        "and single characters, with C-, Alt- or S- before and *N after",
        do=[Do("send", "types text")],
    )


def _shifted(text: str, name: str, modifiers: int) -> tuple[str, int]:
    """Shift with a letter is the capital; with anything else it depends on the keyboard."""
    if len(name.upper()) == 1 and name.upper() != name.lower():
        return (_lower(name), modifiers) if modifiers & CONTROL else (name.upper(), modifiers & ~SHIFT)
    if name == " ":
        return "Space", modifiers
    raise InputError(f"what {text!r} types depends on the keyboard", hint="name the character itself, like '!' for S-1")


def _lower(char: str) -> str:
    """The character in lower case, if that is one character: `İ` would be two."""
    return char.lower() if len(char.lower()) == 1 else char


def is_interrupt(text: str) -> bool:
    """Whether this is a name of Ctrl-C."""
    try:
        key = parse_key(text)
    except InputError:
        return False
    return key.name in ("c", "C") and key.modifiers == CONTROL


def encode_keys(keys: Iterable[str], modes: Modes) -> list[bytes]:
    """The bytes of several keys, in pieces that must be written with a pause between them.

    The key after an Escape begins a piece: read at once, the two would be Alt with that key. So does a key with Ctrl or
    Alt: some programs (tmux) take keys that come at once for a paste, in which no key has a meaning. All keys are read
    before the first is encoded, so an error means that nothing is sent.
    """
    pieces = [b""]
    for key in [parse_key(key) for key in keys]:
        code = encode_key(key, modes)
        for _ in range(key.times):
            if pieces[-1].endswith(ESCAPE) or key.modifiers & (CONTROL | ALT):
                pieces.append(b"")
            pieces[-1] += code
    return [piece for piece in pieces if piece]


def encode_key(key: Key, modes: Modes) -> bytes:
    """One press of a key."""
    if modes.kitty_flags & (1 | 8):
        return _kitty(key, modes.kitty_flags).encode()
    name, modifiers = key.name, key.modifiers
    if name in _HIGH:
        name, modifiers = _HIGH[name], modifiers | SHIFT
    if name in _CURSOR or name in _PF:
        letter = _CURSOR.get(name) or _PF[name]
        if modifiers:
            return f"\x1b[1;{1 + modifiers}{letter}".encode()
        return f"\x1b{'O' if name in _PF or modes.application_cursor else '['}{letter}".encode()
    if name in _NUMBERED:
        return f"\x1b[{_NUMBERED[name]}{f';{1 + modifiers}' if modifiers else ''}~".encode()
    return _typed(Key(name, modifiers), modes).encode()


def _typed(key: Key, modes: Modes) -> str:
    """Keys that are characters: Ctrl is a control character, Alt an ESC before it."""
    char = _TYPED.get(key.name, key.name)
    modifiers = key.modifiers
    if modes.modify_other_keys == 2 and (other := _other_key(char, key)):
        return other
    if key.name == "Tab" and modifiers & SHIFT:
        return "\x1b[Z" if modifiers == SHIFT else f"\x1b[1;{1 + modifiers}Z"
    if key.name == "Backspace":
        plain, with_control = ("\x08", "\x7f") if modes.backarrow_sends_backspace else ("\x7f", "\x08")
        char = with_control if modifiers & CONTROL else plain
    elif key.name == "Enter" and modes.newline:
        char = "\r\n"
    elif modifiers & CONTROL and key.name not in {"Enter", "Tab", "Escape"}:
        char = _control(char, key)
    return "\x1b" + char if modifiers & ALT else char


def _other_key(char: str, key: Key) -> str | None:
    """Xterm's modifyOtherKeys 2: every modified key in one form, Shift with letters included."""
    modifiers = key.modifiers
    if char.isalpha():
        modifiers |= SHIFT if char != char.lower() else 0
        char = char.upper() if modifiers & SHIFT and len(char.upper()) == 1 else char
    if not modifiers or (key.name == "Backspace" and modifiers == CONTROL):
        return None
    return f"\x1b[27;{1 + modifiers};{ord(char)}~"


def _control(char: str, key: Key) -> str:
    if char.isascii() and char.isalpha():
        return chr(ord(char.lower()) & 31)
    if char not in _CONTROLS:
        raise InputError(
            f"Ctrl with {key.name!r} has no code in the keyboard mode that the program has set",
            hint="only letters, digits 2 to 8, Space and @ [ \\ ] ^ _ / ? have one",
        )
    return chr(_CONTROLS[char])


def _kitty(key: Key, flags: int) -> str:
    """https://sw.kovidgoyal.net/kitty/keyboard-protocol: flags 1 (disambiguate), 8 (all keys) and 16 (their text)."""
    name, modifiers = key.name, key.modifiers
    modified = f";{1 + modifiers}" if modifiers else ""
    if name in _CURSOR or (name in _PF and name != "F3"):
        return f"\x1b[{'1' + modified if modifiers else ''}{_CURSOR.get(name) or _PF[name]}"
    if name in _NUMBERED or name == "F3":
        return f"\x1b[{_NUMBERED.get(name, 13)}{modified}~"
    if name in _KITTY_HIGH:
        return f"\x1b[{_KITTY_HIGH[name]}{modified}u"
    if name in _TYPED and name != "Space":
        code, text = ord(_TYPED[name]), ""
        if name != "Escape" and not modifiers and not flags & 8:
            return _TYPED[name]
    else:
        char = " " if name == "Space" else name
        if not flags & 8 and not modifiers & (CONTROL | ALT):
            return char
        code = ord(_lower(char))
        if code != ord(char):
            modifiers |= SHIFT
        text = "" if modifiers & (CONTROL | ALT) else char
        modified = f";{1 + modifiers}" if modifiers else ""
    if text and flags & 16:
        return f"\x1b[{code};{1 + modifiers if modifiers else ''};{ord(text)}u"
    return f"\x1b[{code}{modified}u"


# What a paste must not contain: it could end the brackets, or press keys.
_HARMFUL = {code: " " for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\r"}


def paste(text: str, modes: Modes) -> bytes:
    """Text as the terminal pastes it: line ends become Enter, in brackets if the program enabled them, no control
    bytes.
    """
    safe = text.replace("\r\n", "\r").replace("\n", "\r").translate(_HARMFUL)
    return (f"\x1b[200~{safe}\x1b[201~" if modes.bracketed_paste else safe).encode("utf-8", "replace")

"""Ghostty's own key encoder, to hold ours against."""

from pyghostty import ffi, lib

from vantage.terminal.input.keys import ALT, CONTROL, SHIFT, Key

NAMES = {
    "Enter": "ENTER", "Tab": "TAB", "Escape": "ESCAPE", "Backspace": "BACKSPACE", "Space": "SPACE", "Insert": "INSERT",
    "Delete": "DELETE", "PageUp": "PAGE_UP", "PageDown": "PAGE_DOWN", "Up": "ARROW_UP", "Down": "ARROW_DOWN",
    "Left": "ARROW_LEFT", "Right": "ARROW_RIGHT", "Home": "HOME", "End": "END",
    **{f"F{number}": f"F{number}" for number in range(1, 25)},
    **{letter: letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"},
    **{digit: f"DIGIT_{digit}" for digit in "0123456789"},
    "[": "BRACKET_LEFT", "]": "BRACKET_RIGHT", "\\": "BACKSLASH", "/": "SLASH",
}  # fmt: skip
_MODS = {SHIFT: 1, CONTROL: 2, ALT: 4}


def encoded(terminal, key: Key) -> bytes:
    """What ghostty sends for a press of the key in that terminal's modes."""
    encoder, event, size = ffi.new("GhosttyKeyEncoder*"), ffi.new("GhosttyKeyEvent*"), ffi.new("size_t*")
    assert lib.ghostty_key_encoder_new(ffi.NULL, encoder) == 0
    assert lib.ghostty_key_event_new(ffi.NULL, event) == 0
    lib.ghostty_key_encoder_setopt_from_terminal(encoder[0], terminal)
    lib.ghostty_key_event_set_action(event[0], lib.GHOSTTY_KEY_ACTION_PRESS)
    lib.ghostty_key_event_set_key(
        event[0], getattr(lib, f"GHOSTTY_KEY_{NAMES[key.name.lower() if len(key.name) == 1 else key.name]}")
    )
    modifiers = key.modifiers | (SHIFT if key.name.isupper() and len(key.name) == 1 else 0)
    lib.ghostty_key_event_set_mods(event[0], sum(bit for ours, bit in _MODS.items() if modifiers & ours))
    if len(key.name) == 1 or key.name == "Space":
        char = " " if key.name == "Space" else key.name
        text = char.upper() if modifiers & SHIFT else char
        utf8 = ffi.new("char[]", text.encode())
        lib.ghostty_key_event_set_utf8(event[0], utf8, len(text.encode()))
        lib.ghostty_key_event_set_unshifted_codepoint(event[0], ord(char.lower()))
        if modifiers == SHIFT:
            lib.ghostty_key_event_set_consumed_mods(event[0], 1)
    out = ffi.new("char[64]")
    assert lib.ghostty_key_encoder_encode(encoder[0], event[0], out, 64, size) == 0
    found = bytes(ffi.buffer(out, size[0]))
    lib.ghostty_key_event_free(event[0])
    lib.ghostty_key_encoder_free(encoder[0])
    return found

"""The modes that a program has set, as the library tells them."""

from vantage.terminal.engines.ghostty.native import check, ffi, lib
from vantage.terminal.engines.ghostty.terminal import VtTerminal
from vantage.terminal.engines.values import Modes

SYNCHRONIZED = 2026
_FLAGS = {
    "application_cursor": 1, "application_keypad": 66, "backarrow_sends_backspace": 67, "newline": 20 | 1 << 15,
    "bracketed_paste": 2004, "focus_events": 1004, "synchronized": SYNCHRONIZED, "reverse_video": 5,
}  # fmt: skip
_MOUSE = (("any", 1003), ("button", 1002), ("normal", 1000), ("x10", 9))
_MOUSE_ENCODINGS = (("sgr_pixels", 1016), ("sgr", 1006), ("urxvt", 1015), ("utf8", 1005))


def modes_of(vt: VtTerminal) -> Modes:
    return Modes(
        **{name: vt.is_set(number) for name, number in _FLAGS.items()},
        kitty_flags=vt.get(lib.GHOSTTY_TERMINAL_DATA_KITTY_KEYBOARD_FLAGS, ffi.new("uint8_t*")),
        modify_other_keys=2 if _modifies_other_keys(vt) else 0,
        mouse=next((name for name, number in _MOUSE if vt.is_set(number)), "none"),  # type: ignore[misc]
        mouse_encoding=next((name for name, number in _MOUSE_ENCODINGS if vt.is_set(number)), "x10"),  # type: ignore[misc]
    )


def _modifies_other_keys(vt: VtTerminal) -> bool:
    """The library does not report this mode, but its key encoder knows it: Ctrl-Shift-H has its own code with it."""
    encoder, event = ffi.new("GhosttyKeyEncoder*"), ffi.new("GhosttyKeyEvent*")
    check(lib.ghostty_key_encoder_new(ffi.NULL, encoder), "encode keys")
    check(lib.ghostty_key_event_new(ffi.NULL, event), "encode keys")
    try:
        lib.ghostty_key_encoder_setopt_from_terminal(encoder[0], vt.native)
        lib.ghostty_key_encoder_setopt(encoder[0], lib.GHOSTTY_KEY_ENCODER_OPT_KITTY_FLAGS, ffi.new("uint8_t*", 0))
        lib.ghostty_key_event_set_action(event[0], lib.GHOSTTY_KEY_ACTION_PRESS)
        lib.ghostty_key_event_set_key(event[0], lib.GHOSTTY_KEY_H)
        lib.ghostty_key_event_set_mods(event[0], 1 | 2)  # Shift and Ctrl
        lib.ghostty_key_event_set_utf8(event[0], b"H", 1)
        lib.ghostty_key_event_set_unshifted_codepoint(event[0], ord("h"))
        out, size = ffi.new("char[32]"), ffi.new("size_t*")
        result = lib.ghostty_key_encoder_encode(encoder[0], event[0], out, 32, size)
        return bool(result == 0 and ffi.buffer(out, size[0])[:5] == b"\x1b[27;")
    finally:
        lib.ghostty_key_event_free(event[0])
        lib.ghostty_key_encoder_free(encoder[0])

"""Keys, pastes and the mouse: names to bytes for the live modes; and against ghostty's own encoder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghostty_keys import NAMES as GHOSTTY_NAMES
from ghostty_keys import encoded
from vantage.errors import Conflict, InputError
from vantage.terminal.engines.values import Modes
from vantage.terminal.input.keys import ALT, CONTROL, NAMES, SHIFT, Key, encode_key, encode_keys, parse_key, paste
from vantage.terminal.input.mouse import encode_mouse, find_text
from vantage.terminal.screen.screen import Screen

LEGACY = {
    "a": b"a", "A": b"A", "é": "é".encode(), "日": "日".encode(), "*": b"*", "-": b"-", "Enter": b"\r", "Tab": b"\t",
    "Escape": b"\x1b", "Backspace": b"\x7f", "Space": b" ", " ": b" ", "Delete": b"\x1b[3~", "Insert": b"\x1b[2~",
    "Home": b"\x1b[H", "End": b"\x1b[F", "PageUp": b"\x1b[5~", "PageDown": b"\x1b[6~", "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Right": b"\x1b[C", "Left": b"\x1b[D", "F1": b"\x1bOP", "F4": b"\x1bOS", "F5": b"\x1b[15~", "F12": b"\x1b[24~",
    "F13": b"\x1b[1;2P", "F24": b"\x1b[24;2~", "C-c": b"\x03", "C-C": b"\x03", "C-d": b"\x04", "C-Space": b"\0",
    "C-[": b"\x1b", "C-\\": b"\x1c", "C-_": b"\x1f", "C-/": b"\x1f", "Alt-x": b"\x1bx", "M-x": b"\x1bx",
    "M-X": b"\x1bX",
    "C-M-x": b"\x1b\x18", "M-C-x": b"\x1b\x18", "S-F5": b"\x1b[15;2~", "S-Tab": b"\x1b[Z", "BackTab": b"\x1b[Z",
    "S-a": b"A", "S-Up": b"\x1b[1;2A", "C-Right": b"\x1b[1;5C", "C-M-S-End": b"\x1b[1;8F", "C-Delete": b"\x1b[3;5~",
    "M-Enter": b"\x1b\r", "C-Backspace": b"\x08", "M-Backspace": b"\x1b\x7f", "Up*3": b"\x1b[A" * 3, "x*4": b"xxxx",
    "**2": b"**", "enter": b"\r", "PGUP": b"\x1b[5~", "Esc": b"\x1b", "C--": None,
    "Ctrl-c": b"\x03",
    "Shift-F5": b"\x1b[15;2~",
}  # fmt: skip


@pytest.mark.parametrize("name", LEGACY)
def test_names_as_xterm_sends_them(name):
    if LEGACY[name] is None:
        with pytest.raises(InputError, match="has no code"):
            encode_keys([name], Modes())
    else:
        assert encode_keys([name], Modes()) == [LEGACY[name]]


@pytest.mark.parametrize(
    ("modes", "name", "code"),
    [
        (Modes(application_cursor=True), "Up", b"\x1bOA"),
        (Modes(application_cursor=True), "Home", b"\x1bOH"),
        (Modes(application_cursor=True), "C-Up", b"\x1b[1;5A"),
        (Modes(newline=True), "Enter", b"\r\n"),
        (Modes(backarrow_sends_backspace=True), "Backspace", b"\x08"),
        (Modes(modify_other_keys=2), "C-c", b"\x1b[27;5;99~"),
        (Modes(modify_other_keys=2), "C-S-c", b"\x1b[27;6;67~"),
        (Modes(modify_other_keys=2), "C-;", b"\x1b[27;5;59~"),
        (Modes(modify_other_keys=2), "S-Enter", b"\x1b[27;2;13~"),
        (Modes(modify_other_keys=2), "a", b"a"),
        (Modes(kitty_flags=1), "Escape", b"\x1b[27u"),
        (Modes(kitty_flags=1), "C-c", b"\x1b[99;5u"),
        (Modes(kitty_flags=1), "C-S-c", b"\x1b[99;6u"),
        (Modes(kitty_flags=1), "M-A", b"\x1b[97;4u"),
        (Modes(kitty_flags=1), "S-Enter", b"\x1b[13;2u"),
        (Modes(kitty_flags=1), "Enter", b"\r"),
        (Modes(kitty_flags=1), "a", b"a"),
        (Modes(kitty_flags=1, application_cursor=True), "Up", b"\x1b[A"),
        (Modes(kitty_flags=1), "F13", b"\x1b[57376u"),
        (Modes(kitty_flags=9), "a", b"\x1b[97u"),
        (Modes(kitty_flags=25), "A", b"\x1b[97;2;65u"),
    ],
)
def test_the_programs_modes_decide(modes, name, code):
    assert encode_keys([name], modes) == [code]


def test_escape_and_what_follows_come_in_pieces():
    assert encode_keys(["Escape", ":", "q", "Enter"], Modes()) == [b"\x1b", b":q\r"]
    assert encode_keys(["Escape*2", "a"], Modes()) == [b"\x1b", b"\x1b", b"a"]
    assert encode_keys(["a", "Escape"], Modes()) == [b"a\x1b"]
    assert encode_keys(["Escape", "a"], Modes(kitty_flags=1)) == [b"\x1b[27ua"]
    assert encode_keys([], Modes()) == []


def test_keys_that_mean_nothing_in_a_paste_come_in_pieces():
    assert encode_keys(["C-b", "%", "C-b", "d"], Modes()) == [b"\x02%", b"\x02d"]
    assert encode_keys(["a", "Alt-x", "Down*2"], Modes()) == [b"a", b"\x1bx\x1b[B\x1b[B"]
    assert encode_keys(["C-n*2"], Modes()) == [b"\x0e", b"\x0e"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Entr", "did you mean 'Enter'"),
        ("<Entr>", "did you mean 'Enter'"),
        ("Ctrl+Entr", "did you mean 'Enter'"),
        ("pageup2", "did you mean 'PageUp'"),
        ("F25", "no key 'F25'"),
        ("hello world", "send types text"),
        ("C-", "no key 'C-'"),
        ("", "an empty one"),
        ("Up*0", "1 to 1000 times"),
        ("Up*100000", "1 to 1000 times"),
        ("\x1b", "control characters have names"),
        ("S-1", "depends on the keyboard"),
        ("C-é", "has no code"),
    ],
)
def test_an_unknown_name_is_an_error_and_nothing_is_sent(name, words):
    with pytest.raises(InputError, match=words.replace("+", r"\+")):
        encode_keys(["a", name], Modes())


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *[
            (written, "C-c")
            for written in ("Ctrl+C", "Ctrl+c", "ctrl-c", "CTRL-C", "Control+C", "^C", "^c", "c-c", "<C-c>")
        ],
        *[(written, "Alt-x") for written in ("Alt+x", "alt-x", "Meta-x", "M-x", "m-x", "Option+x")],
        *[(written, "S-Tab") for written in ("Shift+Tab", "shift-tab", "BackTab", "<S-Tab>")],
        *[(written, "Escape") for written in ("Esc", "ESC", "<Esc>", "escape")],
        *[(written, "PageUp") for written in ("PgUp", "Page Up", "page_up", "page-up", "<page-up>")],
        *[(written, "Up") for written in ("ArrowUp", "arrow up", "up_arrow", "UpArrow")],
        *[(written, "C-PageDown") for written in ("Ctrl+Page Down", "ctrl-page-down")],
        *[(written, "Backspace") for written in ("BS", "Bksp", "back_space")],
        ("spacebar", "Space"),
        *[(written, "Enter") for written in ("Return", "enter", "<CR>", "<Enter>")],
        ("Ctrl+Shift+Up", "C-S-Up"),
        ("Ctrl+Alt+Del", "C-M-Delete"),
        ("ctrl+down*3", "C-Down*3"),
        ("ArrowLeft", "Left"),
        ("^[", "C-["),
        ("^*2", "^*2"),
        ("Ctrl++", "C-+"),
    ],
)
@pytest.mark.parametrize("flags", [0, 1])
def test_names_as_people_write_them(written, name, flags):
    assert parse_key(written) == parse_key(name)
    if name != "C-+":
        assert encode_keys([written], Modes(kitty_flags=flags)) == encode_keys([name], Modes(kitty_flags=flags))


@pytest.mark.parametrize("char", ["^", "<", ">", "+", "-", "*"])
def test_single_characters_are_themselves(char):
    assert parse_key(char) == Key(char)


@given(st.text(max_size=12))
def test_any_text_is_a_key_or_an_input_error(text):
    try:
        assert encode_keys([text], Modes())
    except InputError as error:
        assert error.hint or "repeated" in error.message or "empty" in error.message


MODES = {
    "plain": b"", "application cursor": b"\x1b[?1h", "modifyOtherKeys": b"\x1b[>4;2m", "kitty 1": b"\x1b[>1u",
    "kitty 9": b"\x1b[>9u", "kitty 25": b"\x1b[>25u",
}  # fmt: skip


def differs_on_purpose(key, modes):
    """Where ghostty leaves xterm's codes, as its own TERM says; the TERM of our shells is xterm-256color."""
    if modes.kitty_flags:
        return False
    if key.name in {f"F{number}" for number in range(13, 25)} or (key.name == "F3" and key.modifiers):
        return True
    if modes.modify_other_keys:
        return False
    return (
        (
            key.name in {"Enter", "Tab", "Escape"}
            and key.modifiers not in {0, ALT}
            and (key.name, key.modifiers) != ("Tab", SHIFT)
        )
        or (key.name == "Backspace" and key.modifiers == SHIFT | ALT | CONTROL)
        or (key.name.isalpha() and key.modifiers & CONTROL and key.modifiers & SHIFT)  # ghostty: CSI 97;6u
        or (key.name in "im[" and key.modifiers & CONTROL)  # ghostty tells them from Tab, Enter and Escape
        or (key.name in "019" and key.modifiers & CONTROL)  # an error here, the plain digit there
    )


@pytest.mark.parametrize("label", MODES)
def test_as_ghostty_encodes_them(label):
    screen = Screen(20, 5, engine="ghostty")
    screen.feed(MODES[label])
    modes = screen.modes
    compared = 0
    for name in GHOSTTY_NAMES:
        for modifiers in range(8):
            prefix = "".join(text for bit, text in ((CONTROL, "C-"), (ALT, "M-"), (SHIFT, "S-")) if modifiers & bit)
            try:
                key = parse_key(prefix + name)
            except InputError:
                assert modifiers & SHIFT, "only what Shift makes of a sign is unknown"
                continue
            if not differs_on_purpose(key, modes):
                assert encode_key(key, modes) == encoded(screen._engine.vt.native, key), (label, prefix + name)
                compared += 1
    assert compared >= (570 if modes.kitty_flags else 360)


def test_every_name_is_held_against_ghostty():
    assert set(NAMES) <= set(GHOSTTY_NAMES)


def test_keys_are_the_same_for_both_engines():
    for sequence in MODES.values():
        screens = [Screen(20, 5, engine=engine) for engine in ("ghostty", "pyte")]
        for screen in screens:
            screen.feed(sequence)
        assert screens[0].modes == screens[1].modes


# Pastes


def test_a_paste_is_bracketed_only_where_the_program_asked():
    assert paste("a\nb\r\nc", Modes()) == b"a\rb\rc"
    assert paste("a\nb", Modes(bracketed_paste=True)) == b"\x1b[200~a\rb\x1b[201~"


@given(st.text(st.sampled_from("ab\x1b[201~\x03\x9b\r\n\t\x00é"), max_size=40), st.booleans())
def test_a_paste_cannot_leave_its_brackets_or_press_keys(text, bracketed):
    pasted = paste(text, Modes(bracketed_paste=bracketed))
    inner = pasted.removeprefix(b"\x1b[200~").removesuffix(b"\x1b[201~") if bracketed else pasted
    assert not set(inner.decode()) & {chr(code) for code in (*range(32), *range(127, 160))} - {"\t", "\r"}
    assert inner.decode().count("é") == text.count("é")


# Mouse

ANY_SGR = Modes(mouse="any", mouse_encoding="sgr")


@pytest.mark.parametrize(
    ("action", "options", "code"),
    [
        ("click", {}, b"\x1b[<0;6;3M\x1b[<0;6;3m"),
        ("click", {"button": "right"}, b"\x1b[<2;6;3M\x1b[<2;6;3m"),
        ("click", {"modifiers": ["ctrl", "shift"]}, b"\x1b[<20;6;3M\x1b[<20;6;3m"),
        ("double_click", {}, b"\x1b[<0;6;3M\x1b[<0;6;3m" * 2),
        ("press", {}, b"\x1b[<0;6;3M"),
        ("release", {}, b"\x1b[<0;6;3m"),
        ("drag", {}, b"\x1b[<32;6;3M"),
        ("move", {}, b"\x1b[<35;6;3M"),
        ("wheel", {}, b"\x1b[<64;6;3M"),
        ("wheel", {"button": "down"}, b"\x1b[<65;6;3M"),
        ("wheel_down", {}, b"\x1b[<65;6;3M"),
    ],
)
def test_mouse_actions(action, options, code):
    assert encode_mouse(action, 2, 5, ANY_SGR, **options) == code


@pytest.mark.parametrize(
    ("encoding", "code"),
    [
        ("x10", b"\x1b[M \x26\x23\x1b[M#\x26\x23"),
        ("utf8", b"\x1b[M \x26\x23\x1b[M#\x26\x23"),
        ("urxvt", b"\x1b[32;6;3M\x1b[35;6;3M"),
        ("sgr", b"\x1b[<0;6;3M\x1b[<0;6;3m"),
        ("sgr_pixels", b"\x1b[<0;45;41M\x1b[<0;45;41m"),
    ],
)
def test_mouse_encodings(encoding, code):
    assert encode_mouse("click", 2, 5, Modes(mouse="normal", mouse_encoding=encoding)) == code


def test_far_cells_in_old_encodings():
    far = Modes(mouse="normal", mouse_encoding="utf8")
    assert encode_mouse("press", 2, 300, far) == b"\x1b[M " + chr(333).encode() + b"\x23"
    with pytest.raises(InputError, match="ends at row and column 222"):
        encode_mouse("press", 2, 300, Modes(mouse="normal"))


@pytest.mark.parametrize(
    ("mouse", "deaf"),
    [
        ("none", ["click", "press", "release", "drag", "move", "wheel"]),
        ("x10", ["release", "drag", "move", "wheel"]),
        ("normal", ["drag", "move"]),
        ("button", ["move"]),
        ("any", []),
    ],
)
def test_what_the_program_does_not_listen_to_is_an_error(mouse, deaf):
    for action in ("click", "press", "release", "drag", "move", "wheel"):
        modes = Modes(mouse=mouse, mouse_encoding="sgr")
        if action in deaf:
            with pytest.raises(Conflict, match="does not listen"):
                encode_mouse(action, 0, 0, modes)
        else:
            assert encode_mouse(action, 0, 0, modes)


def test_mouse_mistakes():
    for call, words in (
        (lambda: encode_mouse("clik", 0, 0, ANY_SGR), "did you mean 'click'"),
        (lambda: encode_mouse("click", 0, 0, ANY_SGR, button="up"), "one of left, middle, right"),
        (lambda: encode_mouse("click", 0, 0, ANY_SGR, modifiers=["meta"]), "one of shift, alt, ctrl"),
    ):
        with pytest.raises(InputError, match=words):
            call()


def test_text_on_the_screen_has_a_place():
    screen = Screen(30, 4)
    screen.feed("日本 [ OK ]\r\n   [ Cancel ] [ OK ]".encode())
    assert find_text(screen, "[ OK ]") == (0, 5)
    assert find_text(screen, "[ OK ]", 1) == (1, 14)
    assert find_text(screen, "Cancel") == (1, 5)
    with pytest.raises(InputError, match="'Quit' is not on the screen"):
        find_text(screen, "Quit")
    with pytest.raises(InputError, match="is seen 2 times"):
        find_text(screen, "[ OK ]", 2)
    with pytest.raises(InputError, match="no text"):
        find_text(screen, " ")


def test_a_key_is_a_value():
    assert parse_key("C-M-x*3") == Key("x", CONTROL | ALT, 3)

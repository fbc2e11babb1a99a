"""Makes foreign text harmless: control bytes become visible escapes, tabs spaces, broken Unicode U+FFFD.

A byte that could move the cursor, recolour the terminal or reverse the reading order is shown as an escape (`\\x1B`,
`\\u202E`) and never acted upon. Only newlines pass.
"""

import re

# C0 but newline, DEL, C1; line and paragraph separators; bidi marks, embeddings, overrides and isolates;
# interlinear annotation; tag characters (unless they follow the black flag, as in Scotland's); lone surrogates.
_REST = (
    "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
    "|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
)
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f" + _REST)
_UNSAFE_IN_OUTPUT = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1f" + _REST)
TAB_WIDTH = 4


def _visible(match: re.Match[str]) -> str:
    out = []
    for char in match[0]:
        code = ord(char)
        if 0xD800 <= code <= 0xDFFF:
            out.append("\ufffd")
        elif code < 0x100:
            out.append(f"\\x{code:02X}")
        elif code < 0x10000:
            out.append(f"\\u{code:04X}")
        else:
            out.append(f"\\U{code:08X}")
    return "".join(out)


def sanitize(text: str, tab_width: int = TAB_WIDTH) -> str:
    """`text` without anything that a terminal would act upon. Line ends become LF."""
    if text.isprintable():  # unsafe characters are not printable; nor is a newline, which is checked below
        return text
    if "\t" in text:
        text = text.replace("\t", " " * tab_width)
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    return text if _UNSAFE.search(text) is None else _UNSAFE.sub(_visible, text)


def sanitize_output(text: str) -> str:
    """A program's output for a terminal: it may go back on its own line, as progress bars do, and no further."""
    return _UNSAFE_IN_OUTPUT.sub(_visible, text)


def sanitize_cells(text: str) -> str:
    """A row of a terminal's screen: every cell keeps its place, so an unsafe character is U+FFFD, or dropped if it has
    no cell.

    Of the unsafe characters, a terminal gives a cell to interlinear annotation alone; the others mark the cell before
    them.
    """
    if text.isprintable() or _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(lambda match: "\ufffd" if "\ufff9" <= match[0] <= "\ufffb" else "", text)


def one_line(text: str, tab_width: int = TAB_WIDTH) -> str:
    """`text` sanitised, on a single line without spaces around it."""
    text = sanitize(text, tab_width)
    return " ".join(text.split()) if "\n" in text else text.strip()


def decode(data: bytes) -> str:
    """Bytes as text; what is not UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")

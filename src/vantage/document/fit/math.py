"""Formulas in Unicode: `\\frac{a}{b}` → `a/b`, `x_1^2` → `x₁²`, `\\sum` → `∑`.

An approximation for quick reading; no command is lost, an unknown one keeps its name. There is no capability flag for
formulas: every display with Unicode gets this, the others keep the TeX, which is ASCII already. Converting twice gives
the same as converting once.
"""

import re

import msgspec

from vantage.document.fit import tex
from vantage.document.fit.walk import convert_inlines, rewrite
from vantage.document.nodes import MATH, Block, Inline, MathBlock, Text
from vantage.presentation import PresentationContext

_TOKEN = re.compile(r"\\([A-Za-z]+)\*?|\\(.?)|([{}^_&~'%])|([^\\{}^_&~'%]+)", re.DOTALL)
_DIRECT = re.compile(r"[+-]?√?[\w.,′⁰-₟°ᵃ-ᶿⁱⁿ²³¹]+|\([^()]*\)|.?")
_SIMPLE_BELOW = re.compile(r"\d+|\w[⁰-₟²³¹ᵃ-ᶿᵢ-ᵪ′]*|\([^()]*\)|.?")
_DEEPEST, _LONGEST = 30, 10_000
"""Characters. Longer formulas stay as they are."""


class _TooDeepError(Exception):
    pass


def math(blocks: list[Block], context: PresentationContext, notes: list[str]) -> list[Block]:  # noqa: ARG001 - nothing is given up
    return rewrite(blocks, _replace, context.content_width) if context.supports_unicode else blocks


def _replace(block: Block, _width: int) -> list[Block] | None:
    if isinstance(block, MathBlock):
        text = approximate(block.text, line_end="\n")
        return None if text == block.text else [MathBlock(text)]
    new = convert_inlines(block, _inlines)
    return None if new is block else [new]


def _inlines(content: list[Inline]) -> list[Inline]:
    if not any(isinstance(part, Text) and part.marks & MATH for part in content):
        return content
    out = [
        msgspec.structs.replace(part, text=approximate(part.text))
        if isinstance(part, Text) and part.marks & MATH
        else part
        for part in content
    ]
    return content if out == content else out


def approximate(text: str, line_end: str = "; ") -> str:
    """A formula in Unicode; `line_end` stands for TeX's `\\\\`."""
    if len(text) > _LONGEST:
        return text
    for _ in range(4):  # an unescaped character may be TeX again: repeat until nothing changes
        try:
            new = _Formula(text, line_end).read() or text
        except _TooDeepError:
            break
        if new == text:
            break
        text = new
    return text


class _Formula:
    """One pass over a formula. Braces and `&` only group if there is a command; otherwise they are literal."""

    def __init__(self, text: str, line_end: str) -> None:
        self.tokens = list(_TOKEN.finditer(text))
        self.at = 0
        self.line_end = line_end
        self.is_tex = "\\" in text
        self.pushed = ""
        """The rest of a token of which one character was taken."""
        self.named = False
        """Whether the last piece is a name such as `sin`, which needs a space to its neighbours."""
        self.closing = ""
        """The brace that ended the last group, if one did."""

    def read(self) -> str:
        lines = self.sequence(0).split("\n")
        return "\n".join([" ".join(line.split()) if self.is_tex else line.strip() for line in lines]).strip()

    def sequence(self, depth: int) -> str:
        """Up to the closing brace of this group, or the end."""
        if depth > _DEEPEST:
            raise _TooDeepError
        out = ""
        fraction = False
        while self.pushed or self.at < len(self.tokens):
            if not self.pushed and self.tokens[self.at][3] == "}" and depth:
                self.at += 1
                self.closing = "}"
                return out
            piece, was_fraction = self.piece(depth)
            out = _joined(out, piece, fraction, was_fraction, named=self.named)
            fraction = was_fraction
        self.closing = ""
        return out

    def piece(self, depth: int) -> tuple[str, bool]:
        """The converted next token with its arguments, and whether that is a bare fraction."""
        self.named = False
        if self.pushed:
            text, self.pushed = self.pushed, ""
            return text, False
        token = self.tokens[self.at]
        self.at += 1
        if token[1]:
            return self.command(token[1], depth)
        if token[4]:
            return token[4], False
        mark = token[3]
        if mark is None:
            return tex.ESCAPED.get(token[2], self.line_end if token[2] == "\\" else token[2]), False
        if mark == "{":
            inner = self.sequence(depth + 1)
            return inner if self.is_tex or inner == "," else f"{{{inner}{self.closing}", False
        if mark in "^_":
            return self.script(mark, depth), False
        if mark == "'":
            return "′", False
        return {"&": " ", "~": " ", "}": ""}.get(mark, mark) if self.is_tex else mark, False

    def argument(self, depth: int, *, keep_spaces: bool = False) -> str:
        """A group, a command, or one character."""
        if not self.pushed:
            while self.at < len(self.tokens) and (self.tokens[self.at][4] or "x").isspace():
                self.at += 1
            if self.at >= len(self.tokens):
                return ""
            token = self.tokens[self.at]
            if token[3] == "{":
                self.at += 1
                inner = self.sequence(depth + 1)
                return inner if keep_spaces else inner.strip()
            if token[3] == "}":
                return ""
            if not token[4]:
                if depth > _DEEPEST:
                    raise _TooDeepError
                return self.piece(depth + 1)[0].strip()
            self.at += 1
            self.pushed = token[4].lstrip()
        text, self.pushed = self.pushed[0], self.pushed[1:]
        return text

    def option(self) -> str:
        """`[3]` of `\\sqrt[3]{x}`."""
        text = "" if self.at >= len(self.tokens) else self.tokens[self.at][4] or ""
        if self.pushed or not text.startswith("[") or "]" not in text:
            return ""
        option, _, self.pushed = text[1:].partition("]")
        self.at += 1
        return option

    def command(self, name: str, depth: int) -> tuple[str, bool]:
        if name in tex.SYMBOLS:
            return tex.SYMBOLS[name], False
        if name in tex.SILENT:
            return self.delimiter() if name in {"left", "right", "middle"} else "", False
        if name in tex.SPACES:
            return tex.SPACES[name], False
        if name in tex.FONTS:
            self.named = name == "operatorname"
            return self.argument(depth, keep_spaces=True), False
        if name in tex.FRACTIONS:
            above, below = self.argument(depth), self.argument(depth)
            return f"{_grouped(above, _DIRECT)}/{_grouped(below, _SIMPLE_BELOW)}", True
        if name in tex.BINOMIALS:
            return f"({self.argument(depth)} choose {self.argument(depth)})", False
        if name == "sqrt":
            degree = self.option()
            root = _script(degree, tex.RAISED, "^") if degree else ""
            return f"{root.removeprefix('^')}√{_grouped(self.argument(depth), _SIMPLE_BELOW)}", False
        if name == "mathbb":
            return "".join([tex.DOUBLE_STRUCK.get(char, char) for char in self.argument(depth)]), False
        if name in tex.ACCENTS:
            return _accented(name, self.argument(depth)), False
        if name == "not":
            what = self.argument(depth)
            return tex.NEGATED.get(what, f"not {what}"), False
        if name in {"begin", "end"}:
            return self.environment(name, self.argument(depth)), False
        if name in {"overset", "stackrel", "underset"}:
            mark, base = self.argument(depth), self.argument(depth)
            table, sign = (tex.LOWERED, "_") if name == "underset" else (tex.RAISED, "^")
            return base + _script(mark, table, sign), False
        if name in {"pmod", "tag"}:
            return f"({'mod ' if name == 'pmod' else ''}{self.argument(depth)})", False
        if name in {"bmod", "mod"}:
            name = "mod"
        self.named = True
        return name, False

    def delimiter(self) -> str:
        """A dot after `\\left` or `\\right` means that there is no delimiter."""
        text = self.tokens[self.at][4] if self.at < len(self.tokens) else None
        if not self.pushed and text and text.startswith("."):
            self.at += 1
            self.pushed = text[1:]
        return ""

    def environment(self, name: str, what: str) -> str:
        if name == "begin" and what.startswith("array"):
            self.argument(0)  # the columns' alignment
        bracket = {"pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "cases": "{ "}.get(what, "  ")
        return bracket[name == "end"]

    def script(self, mark: str, depth: int) -> str:
        table = tex.RAISED if mark == "^" else tex.LOWERED
        text = "" if self.at >= len(self.tokens) else self.tokens[self.at][4] or ""
        if self.pushed or not text.startswith("("):
            return _script(self.argument(depth), table, mark)
        # `x^(n)` comes from an earlier pass, or from the author: the parentheses belong to it
        inside, closed, after = text.partition(")")
        self.at += 1
        if not closed or "(" in inside[1:]:
            self.pushed = text
            return mark
        self.pushed = after
        raised = _script(inside + closed, table, "")
        return raised if raised != f"({inside}{closed})" else f"{mark}{inside}{closed}"


def _script(text: str, table: dict[str, str], mark: str) -> str:
    """A power or an index, raised or lowered when every character can be; `x^(Q+1)` when not."""
    if not text:
        return mark
    compact = text.replace(" ", "").replace("−", "-")
    if all(char in table for char in compact):
        return "".join([table[char] for char in compact])
    if all(char in "*†‡°′⊤" for char in compact) and mark == "^":
        return compact
    return f"{mark}{text}" if len(text) == 1 else f"{mark}({text})"


def _grouped(text: str, alone: re.Pattern[str]) -> str:
    return text if alone.fullmatch(text) else f"({text})"


def _accented(name: str, text: str) -> str:
    if name in {"overline", "bar"} or len(text) == 1:
        return "".join([char + tex.ACCENTS[name] for char in text])
    return f"{name}({text})"


def _joined(before: str, piece: str, after_fraction: bool, is_fraction: bool, *, named: bool) -> str:
    """Joins two pieces: a space separates names from letters, and fractions from factors."""
    if not piece or not before:
        return before + piece
    if is_fraction and before[-1].isalnum():
        return f"{before}({piece})"
    if after_fraction and (piece[0].isalnum() or piece[0] in "(√"):
        start = before.rfind(" ") + 1
        return f"{before[:start]}({before[start:]}){piece}"
    if (named and before[-1].isalpha()) or (_ends_in_name(before) and piece[0].isalpha()):
        return f"{before} {piece}"
    return before + piece


def _ends_in_name(text: str) -> bool:
    """Whether a text ends in a word, such as `sin`, rather than in a variable."""
    return len(text) > 1 and text[-2:].isascii() and text[-2:].isalpha()

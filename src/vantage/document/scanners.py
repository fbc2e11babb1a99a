r"""Scanners for the languages that agents write most: one regular expression each, and a table of words.

They recognise what a reader looks for (keywords, strings, comments, numbers, definitions) at the speed of one
expression, without loading Pygments, which knows all other languages. An unfinished string or comment extends to its
latest possible end, so half a block is highlighted as the whole will be. Every pattern is linear in its input.
"""

import re
from functools import lru_cache

import msgspec

_DOUBLE = r'"(?:[^"\\\n]|\\.)*"?'
_SINGLE = r"'(?:[^'\\\n]|\\.)*'?"
_SLASHES = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
_NUMBER = r"\d(?:[\w.]*\d)?\w*"
_WORD = r"[^\W\d]\w*"


class Language(msgspec.Struct, frozen=True):
    patterns: dict[str, str]
    """Token class → its pattern; the first that matches counts. `word` is looked up in the tables below."""
    words: dict[str, str] = {}
    """Token class → words of it."""
    defines: dict[str, str] = {}
    """Word → the class of the name after it."""
    capitals: str = "plain"
    """The class of words that begin with a capital."""
    any_case: bool = False


_PYTHON = Language(
    {
        "string": rf"(?:[rbfuRBFU]|[rR][bBfF]|[bBfF][rR])?"
        rf"(?:\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|{_DOUBLE}|{_SINGLE})",
        "comment": r"#[^\n]*",
        "attribute": r"^[ \t]*@[\w.]+",
        "word": _WORD,
        "number": _NUMBER,
    },
    {
        "keyword": "and as assert async await break case class continue def del elif else except finally for from "
        "global if import in is lambda match nonlocal not or pass raise return try while with yield",
        "constant": "True False None NotImplemented Ellipsis self cls",
        "function": "abs all any bool bytes callable chr dict dir enumerate filter float format frozenset getattr "
        "hasattr hash help hex id input int isinstance issubclass iter len list map max min next object open ord pow "
        "print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars "
        "zip",
    },
    {"def": "function", "class": "type"},
)

_JAVASCRIPT = Language(
    {
        "comment": _SLASHES,
        "string": rf"{_DOUBLE}|{_SINGLE}|`(?:[^`\\]|\\[\s\S])*`?",
        "attribute": r"@\w+",
        "word": r"[^\W\d][\w$]*",
        "number": _NUMBER,
    },
    {
        "keyword": "abstract as async await break case catch class const continue debugger declare default delete do "
        "else enum export extends finally for from function get if implements import in infer instanceof interface "
        "keyof let namespace new of private protected public readonly return satisfies set static switch throw try "
        "type typeof var void while with yield",
        "constant": "true false null undefined NaN Infinity this super",
        "type": "any bigint boolean never number object string symbol unknown",
    },
    {"function": "function"},
    capitals="type",
)

_GO = Language(
    {"comment": _SLASHES, "string": rf"{_DOUBLE}|`[^`]*`?|{_SINGLE}", "word": _WORD, "number": _NUMBER},
    {
        "keyword": "break case chan const continue default defer else fallthrough for func go goto if import interface "
        "map package range return select struct switch type var",
        "constant": "true false nil iota",
        "function": "append cap clear close copy delete len make max min new panic print println recover",
        "type": "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune "
        "string uint uint8 uint16 uint32 uint64 uintptr",
    },
    {"func": "function"},
)

_RUST = Language(
    {
        "comment": _SLASHES,
        "string": r'b?r#"[\s\S]*?(?:"#|\Z)|b?"(?:[^"\\]|\\[\s\S])*"?|b?\'(?:[^\'\\\n]|\\[^\n]{1,9}?)\'',
        "attribute": r"#!?\[[^\]\n]*\]?|'[a-z_]\w*",
        "function": r"\b[a-z_]\w*!(?!=)",
        "word": _WORD,
        "number": _NUMBER,
    },
    {
        "keyword": "as async await break const continue crate dyn else enum extern fn for if impl in let loop match "
        "mod move mut pub ref return static struct super trait type unsafe use where while",
        "constant": "true false self Self None Some Ok Err",
        "type": "bool char str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64",
    },
    {"fn": "function"},
    capitals="type",
)

_C = Language(
    {
        "comment": _SLASHES,
        "attribute": r"^[ \t]*#[ \t]*\w+[^\n]*",
        "string": rf"{_DOUBLE}|{_SINGLE}",
        "word": _WORD,
        "number": _NUMBER,
    },
    {
        "keyword": "abstract alignas alignof asm assert async await base break case catch class companion concept "
        "const constexpr continue data default delete do else enum explicit export extends extern final finally for "
        "foreach friend fun goto if implements import in inline instanceof interface internal is lock mutable "
        "namespace native new noexcept object operator out override package params private protected public readonly "
        "record ref register requires restrict return sealed sizeof static static_cast struct super suspend switch "
        "synchronized template throw throws transient try typedef typename union using val var virtual void volatile "
        "when while yield",
        "constant": "true false NULL nullptr null this",
        "type": "auto bool boolean byte char decimal double float int long short signed size_t string unsigned int8_t "
        "int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
    },
    {"fun": "function"},
    capitals="type",
)

_BASH = Language(
    {
        "comment": r"(?<![^\s;])#[^\n]*",
        "string": r"\$?'[^']*'?|\"(?:[^\"\\]|\\[\s\S])*\"?",
        "name": r"\$(?:\w+|\{[^}\n]*\}?|[@#?*!$-])",
        "attribute": r"(?<=\s)--?[A-Za-z][\w-]*",
        "word": r"[^\W\d][\w./-]*",
        "number": _NUMBER,
    },
    {
        "keyword": "if then else elif fi for while until do done case esac in function return select time",
        "function": "alias cd command declare echo eval exec exit export local printf pwd read readonly set shift "
        "source sudo test trap type ulimit umask unset wait",
    },
    {"function": "function"},
)

_SQL = Language(
    {
        "comment": r"--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)",
        "string": r"'(?:[^']|'')*'?",
        "name": r'"[^"\n]*"?|`[^`\n]*`?',
        "word": _WORD,
        "number": _NUMBER,
    },
    {
        "keyword": "add all alter and any as asc begin between by cascade case check column commit conflict constraint "
        "create cross database delete desc distinct do drop else end exists explain foreign from full grant group "
        "having if ilike in index inner insert into is join key lateral left like limit not nothing offset on or order "
        "outer over partition primary recursive references returning right rollback row rows schema select set table "
        "then to transaction trigger truncate union unique update using values view when where window with",
        "constant": "null true false default current_timestamp",
        "type": "bigint bigserial boolean bytea char date decimal double float int integer interval json jsonb numeric "
        "real serial smallint text time timestamp timestamptz uuid varchar",
        "function": "avg cast coalesce concat count extract lower max min now nullif row_number sum upper",
    },
    any_case=True,
)

_JSON = Language(
    {
        "attribute": r'"(?:[^"\\\n]|\\.)*"(?=\s*:)',
        "string": _DOUBLE,
        "comment": _SLASHES,
        "word": _WORD,
        "number": r"-?\d[\d.]*(?:[eE][+-]?\d+)?",
    },
    {"constant": "true false null"},
)

_SCALAR_END = r"(?=[ \t]*(?:$|[,}\]#]))"
_YAML = Language(
    {
        "comment": r"(?<![^\s])#[^\n]*",
        "keyword": r"^(?:---|\.\.\.)[ \t]*$",
        "attribute": r"(?<![^\s])[^\s#:'\"\[\]{},&*!|>-][^\n#:'\"\[\]{}]*(?=:(?:\s|\Z))",
        "string": r'"(?:[^"\\]|\\[\s\S])*"?|(?<!\w)\'(?:[^\']|\'\')*\'?',
        "name": r"(?<![^\s\[{,])[&*][\w-]+",
        "type": r"(?<!\S)!\S*",
        "constant": rf"\b(?:true|false|null|yes|no|on|off)\b{_SCALAR_END}",
        "number": rf"(?<![^\s\[{{,:])-?\d+(?:\.\d+)?{_SCALAR_END}",
        "word": _WORD,
    },
)

_TOML = Language(
    {
        "comment": r"#[^\n]*",
        "heading": r"^[ \t]*\[[^\n]*\][ \t]*$",
        "attribute": r"^[ \t]*[\w.\"'-]+(?=[ \t]*=)",
        "string": rf'"""[\s\S]*?(?:"""|\Z)|{_DOUBLE}|{_SINGLE}',
        "word": _WORD,
        "number": r"[-+]?\d[\d_.:TZ-]*",
    },
    {"constant": "true false"},
)

_HTML = Language(
    {
        "comment": r"<!--[\s\S]*?(?:-->|\Z)",
        "keyword": r"<[!?][^>\n]*>?",
        "tag": r"</?[A-Za-z][\w:.-]*|/?>",
        "attribute": r"[\w:@.-]+(?==[\"'])",
        "string": r"(?<==)(?:\"[^\"]*\"?|'[^']*'?)",
        "constant": r"&[#\w]+;",
        "word": _WORD,
    },
)

_CSS = Language(
    {
        "comment": r"/\*[\s\S]*?(?:\*/|\Z)",
        "string": rf"{_DOUBLE}|{_SINGLE}",
        "keyword": r"@[\w-]+|!important\b",
        "number": r"#[\da-fA-F]{3,8}\b|-?\d[\d.]*(?:[a-z]+|%)?",
        "attribute": r"(?<![^\s;{])[a-z-]+(?=[ \t]*:[ \t])",
        "tag": r"[.#][\w-]+",
        "word": r"[^\W\d][\w-]*",
    },
)

_DIFF = Language(
    {
        "heading": r"^(?:diff |index |--- |\+\+\+ |@@)[^\n]*",
        "inserted": r"^\+[^\n]*",
        "deleted": r"^-[^\n]*",
    },
)

# what people write behind the fence, in lower case
_LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("python", "py", "python3", "pyi"), _PYTHON),
    **dict.fromkeys(("javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx"), _JAVASCRIPT),
    **dict.fromkeys(("go", "golang"), _GO),
    **dict.fromkeys(("rust", "rs"), _RUST),
    **dict.fromkeys(("c", "h", "cpp", "c++", "cc", "hpp", "java", "csharp", "cs", "c#", "kotlin", "kt"), _C),
    **dict.fromkeys(("bash", "sh", "shell", "zsh"), _BASH),
    **dict.fromkeys(("sql", "postgresql", "postgres", "mysql", "sqlite"), _SQL),
    **dict.fromkeys(("json", "jsonc", "json5", "jsonl"), _JSON),
    **dict.fromkeys(("yaml", "yml"), _YAML),
    "toml": _TOML,
    **dict.fromkeys(("html", "xml", "svg"), _HTML),
    "css": _CSS,
    **dict.fromkeys(("diff", "patch"), _DIFF),
}

Line = list[tuple[str, str]]


class _Scanner(msgspec.Struct, frozen=True):
    pattern: re.Pattern[str]
    words: dict[str, str]
    language: Language


@lru_cache(maxsize=64)
def _scanner(name: str) -> _Scanner:
    language = _LANGUAGES[name]
    pattern = "|".join(f"(?P<{kind}>{expression})" for kind, expression in language.patterns.items())
    words = {word: kind for kind, listed in language.words.items() for word in listed.split()}
    if language.any_case:
        words |= {word.upper(): kind for word, kind in words.items()}
    return _Scanner(re.compile(pattern, re.MULTILINE), words, language)


def knows(language: str) -> bool:
    return language in _LANGUAGES


def scan(text: str, language: str) -> list[Line]:
    """The lines of a text, as pieces with their token classes; the rest is `plain`."""
    scanner = _scanner(language)
    words, capitals, defines = scanner.words, scanner.language.capitals, scanner.language.defines
    lines: list[Line] = []
    line: Line = []
    position = 0
    expected, expected_at = "", -1
    for match in scanner.pattern.finditer(text):
        kind = match.lastgroup
        if kind == "word":
            word = match[0]
            kind = words.get(word)
            if kind is None:
                named = expected and match.start() == expected_at
                kind = expected if named else capitals if word[0].isupper() else "plain"
                expected = ""
            elif word in defines:
                expected, expected_at = defines[word], match.end() + 1
            if kind == "plain":
                continue
        start, end = match.span()
        if kind is None or start == end:
            continue
        if start > position:
            line = _add(lines, line, "plain", text[position:start])
        line = _add(lines, line, kind, text[start:end])
        position = end
    if position < len(text):
        line = _add(lines, line, "plain", text[position:])
    lines.append(line)
    return lines


def _add(lines: list[Line], line: Line, kind: str, text: str) -> Line:
    """The piece on its line, or on several; returns the line that is now open."""
    if "\n" not in text:
        line.append((kind, text))
        return line
    head, *others = text.split("\n")
    if head:
        line.append((kind, head))
    for other in others:
        lines.append(line)
        line = [(kind, other)] if other else []
    return line

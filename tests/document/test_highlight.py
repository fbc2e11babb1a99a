"""Highlighting names the parts of code and changes none of its characters."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import cases
from vantage.document import highlight as module
from vantage.document.highlight import COLORS, MAX_CHARACTERS, highlight, plain_lines

PYTHON = 'def f(x: int) -> str:\n    return "a" + str(x)  # why\n'


def classes(line):
    return [token for token, _ in line]


def joined(lines):
    return "\n".join("".join(text for _, text in line) for line in lines)


def drawn(lines):
    """`[keyword]def[/] f`: the classes beside their text."""
    return "\n".join(
        "".join(text if token == "plain" else f"[{token}]{text}[/]" for token, text in line) for line in lines
    )


def test_parts_of_code_are_named():
    assert drawn(highlight(PYTHON, "python")) == (
        "[keyword]def[/] [function]f[/](x: [function]int[/]) -> [function]str[/]:\n"
        '    [keyword]return[/] [string]"a"[/] + [function]str[/](x)  [comment]# why[/]\n'
    )


def test_a_diff_says_what_came_and_went():
    assert drawn(highlight("@@ -1 +1 @@\n-old\n+new\n same", "diff")) == (
        "[heading]@@ -1 +1 @@[/]\n[deleted]-old[/]\n[inserted]+new[/]\n same"
    )


@pytest.mark.parametrize("text", ["", "\n", "\n\n  x\n\n", "x", "x\n", "\tx\n\n\n", "  ", "a\x00b", "é\u2028x"])
@pytest.mark.parametrize("language", ["python", "html", "json", "diff", "console", "go", "yaml", "markdown", ""])
def test_newlines_and_spaces_at_the_ends_stay(text, language):
    assert joined(highlight(text, language)) == text


@settings(deadline=None, max_examples=150)
@given(
    text=st.text(alphabet=st.characters(), max_size=80) | st.text(alphabet="<>'\"{}()#/*-+ \n\tab1\\$`", max_size=80),
    language=st.sampled_from(["python", "javascript", "html", "bash", "json", "yaml", "diff", "rust", "sql", "toml"]),
)
def test_no_text_is_ever_changed(text, language):
    lines = highlight(text, language)
    assert joined(lines) == text
    assert all(token == "plain" or token in COLORS for line in lines for token, _ in line)
    assert all(text and "\n" not in text for line in lines for _, text in line)


@pytest.mark.parametrize("language", ["", "no such language", "x" * 5000, "../../etc", "python\x00", "🐍"])
def test_an_unknown_language_is_plain(language):
    assert highlight(PYTHON, language) == plain_lines(PYTHON)


def test_code_that_is_too_long_is_not_highlighted():
    long = "x = 1\n" * (MAX_CHARACTERS // 6 + 1)
    assert {token for line in highlight(long, "python") for token, _ in line} == {"plain"}


def test_a_lexer_that_fails_gives_plain_lines(monkeypatch):
    class Broken:
        def get_tokens(self, text):
            raise RuntimeError(text)

    monkeypatch.setattr(module, "_lexer", lambda language: Broken())
    assert highlight("never seen before", "broken") == plain_lines("never seen before")


def test_the_cache_is_bounded_by_what_it_holds(monkeypatch):
    monkeypatch.setattr(module, "CACHE_CHARACTERS", 100)
    for n in range(50):
        highlight(f"value = {n:04} # {'x' * 20}", "python")
    assert sum(len(text) for _, text in module._cache) <= 100
    assert highlight("value = 0049", "python") is highlight("value = 0049", "python")


def test_importing_does_not_load_pygments():
    code = "import vantage.document.highlight, sys; sys.exit('pygments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_class_has_a_colour_for_dark_and_light():
    assert set(module._CLASSES.values()) - {"plain"} == set(COLORS)
    assert all(16 <= number <= 255 for pair in COLORS.values() for number in pair)


@pytest.mark.parametrize("case", cases("highlight"), ids=str)
def test_languages(case):
    code = next(fence for fence in case.fences if fence.kind == "code")
    assert drawn(highlight(code.text.removesuffix("\n"), code.option)) == case.first("drawn").removesuffix("\n")


def test_common_languages_do_not_load_pygments():
    code = "from vantage.document import highlight as h; h.highlight('x = 1', 'python'); import sys; "
    code += "sys.exit('pygments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""What one can wait for: found where it is, whatever way the output comes, and looked at once."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from moment import Now
from term_strategies import cut, every_way
from vantage.errors import InputError
from vantage.terminal.output.match import (
    MAX_CONDITIONS,
    MAX_PATTERN,
    WINDOW,
    AllOf,
    AnyOf,
    Found,
    PromptSearch,
    RegexSearch,
    TextSearch,
    condition,
)
from vantage.terminal.output.spool import PROMPT

P = PROMPT.decode()


class Reader:
    """A waiter: it sees the spool as it grows, and counts the bytes that the search gets."""

    def __init__(self, search):
        self.search = search
        self.spool = b""
        self.handed = 0

    def grow(self, data):
        self.spool += data
        return self.look()

    def look(self):
        while self.search.at < (end := len(self.spool)):
            upto = min(self.search.at + self.search.window, end)
            data = self.spool[self.search.at : upto]
            self.handed += len(data)
            found = self.search.scan(data, last=upto == end)
            if found is not None or upto == end:
                return found
        return None

    def give_up(self):
        self.search.rewind()
        return self.look()


def find(search, pieces):
    reader = Reader(search)
    for piece in pieces:
        if (found := reader.grow(piece)) is not None:
            return found
    return reader.give_up()


# Texts


@pytest.mark.parametrize(
    ("spool", "text", "at", "start", "end"),
    [
        ("login: ", "login:", 0, 0, 6),
        ("é login: ", "login:", 0, 3, 9),  # bytes, not characters
        ("漢字👩‍🚀x", "x", 0, 17, 18),
        ("aXbX", "X", 0, 1, 2),
        ("aXbX", "X", 1, 1, 2),
        ("aXbX", "X", 2, 3, 4),
        ("ab\ncd", "b\nc", 0, 1, 4),
        (f"ab{P}cd", "bc", 0, 1, 4),  # stepped over, as if it were not there
        (f"{P}{P}ab{P}", "ab", 0, 2, 4),
        (f"ab{P}cd", "cd", 0, 3, 5),
        (f"a{P}{P}b", "ab", 0, 0, 4),
    ],
)
def test_a_text_and_where_it_is(spool, text, at, start, end):
    data = spool.encode()
    for pieces in every_way(data[at:]):
        reader_pieces = [data[:at], *pieces]
        found = find(TextSearch(text, at), reader_pieces)
        assert found == Found(start, end, text)
        assert data[found.start : found.end].replace(PROMPT, b"").decode() == text


ALPHABET = st.text(alphabet=f"ab\né{P}", max_size=30)


@given(st.data(), ALPHABET, st.text(alphabet="ab\né", min_size=1, max_size=4), st.integers(0, 8))
def test_the_first_place_at_or_behind_the_cursor(data, spool, text, cursor):
    """However it is cut: the text without prompts is what is searched."""
    spool = spool.encode()
    cursor = min(cursor, len(spool))
    found = find(TextSearch(text, cursor), [spool[:cursor], *data.draw(cut(spool[cursor:]))])
    place = spool[cursor:].replace(PROMPT, b"").find(text.encode())
    if place < 0:
        assert found is None
    else:
        assert spool[cursor : found.start].replace(PROMPT, b"") == spool[cursor:].replace(PROMPT, b"")[:place]
        assert spool[found.start : found.end].replace(PROMPT, b"") == text.encode()
        assert spool[found.start : found.start + 1] != PROMPT != spool[found.end - 1 : found.end]


def test_a_text_in_windows():
    """A wait that begins far in the past goes through it a window at a time, and misses nothing at the seams."""
    for place in (WINDOW - 3, WINDOW - 1, WINDOW, 2 * WINDOW - 2):
        spool = b"." * place + b"needle" + b"." * WINDOW
        assert find(TextSearch("needle", 0), [spool]) == Found(place, place + 6, "needle")


# Prompts


def test_the_first_prompt_at_or_behind_the_cursor():
    spool = f"$ {P}ls\n$ {P}".encode()
    assert find(PromptSearch(0), [spool]) == Found(2, 3, "")
    assert find(PromptSearch(2), [spool]) == Found(2, 3, "")
    assert find(PromptSearch(3), [spool]) == Found(8, 9, "")
    assert find(PromptSearch(9), [spool]) is None
    for pieces in every_way(spool[3:]):
        assert find(PromptSearch(3), [spool[:3], *pieces]) == Found(8, 9, "")


# Expressions


@pytest.mark.parametrize(
    ("spool", "pattern", "text", "start", "end"),
    [
        ("é 42%", r"[0-9]+%", "42%", 3, 6),
        ("a\nerror: x\n", r"^error: .", "error: x", 2, 10),
        ("no error\nerror\n", r"^error$", "error", 9, 14),
        ("a\nb\n", r"a\nb", "a\nb", 0, 3),
        ("a \n\t b", r"a\s+b", "a \n\t b", 0, 6),
        ("a\nx\nb", r"(?s)a.*b", "a\nx\nb", 0, 5),
        ("x\ny", r"x[^y]y", "x\ny", 0, 3),
        (f"ab{P}cd", r"b.", "bc", 1, 4),
        (f"{P}$ ", r"^\$ ", "$ ", 1, 3),
        ("Ä", r"(?i)ä", "Ä", 0, 2),
        ("é", r"^.$", "é", 0, 2),
        ("foobar bar", r"\bbar\b", "bar", 7, 10),
    ],
)
def test_an_expression_and_where_it_matches(spool, pattern, text, start, end):
    data = spool.encode()
    assert find(RegexSearch(pattern, 0), [data]) == Found(start, end, text)
    if not pattern.endswith(("$", r"\b", "+")):
        for pieces in every_way(data):
            assert find(RegexSearch(pattern, 0), pieces) == Found(start, end, text)


FIXED = st.sampled_from(
    ["ab", "a.", "^b", "^ab", "a\\nb", "b[^b]", "é", "(?s)a..b", "^a|b\\n", "\\bab", "\\Bb", "[[:space:]]b", "x"]
)
"""Expressions whose matches do not depend on what follows them."""


@given(st.data(), ALPHABET, FIXED, st.integers(0, 8))
@example(None, "a\nab", "^ab", 0)
@example(None, "aab", "\\Bb", 0)
def test_an_expression_finds_what_it_would_find_in_the_whole(data, spool, pattern, cursor):
    spool = spool.encode()
    cursor = min(cursor, len(spool))
    while cursor < len(spool) and spool[cursor] & 0xC0 == 0x80:
        cursor += 1
    text = spool[cursor:].replace(PROMPT, b"").decode()
    expected = re.compile(pattern.replace("[[:space:]]", "\\s"), re.MULTILINE | re.ASCII).search(text)
    ways = [data.draw(cut(spool[cursor:]))] if data is not None else every_way(spool[cursor:])
    for pieces in ways:
        found = find(RegexSearch(pattern, cursor), [spool[:cursor], *pieces])
        assert (found and found.text) == (expected and expected.group())
        if found is not None:
            assert spool[found.start : found.end].replace(PROMPT, b"").decode() == expected.group()
            assert len(spool[cursor : found.start].replace(PROMPT, b"").decode()) == expected.start()


FAR = 200_000


@pytest.mark.parametrize("pattern", [r"^\d+$", r"^\d+\s", r"\A\d", r"\b7\d*\s", r"^7"])
@pytest.mark.parametrize("step", [1000, 4096, 70_000])
def test_going_on_in_the_middle_is_no_beginning(pattern, step):
    """`^` and `\\b` hold at lines and words, not where a search happens to go on."""
    spool = (b"x" + b"7" * 20 + b"\n") * (FAR // 22)
    pieces = [spool[place : place + step] for place in range(0, len(spool), step)]
    assert find(RegexSearch(pattern, 0), pieces) is None
    one_line = spool.replace(b"\n", b"")
    assert (
        find(RegexSearch(pattern.replace("$", "x"), 0), [one_line[p : p + step] for p in range(0, len(one_line), step)])
        is None
    )


@pytest.mark.parametrize("pattern", [r"begin(?s).*end", r"begin.*end", r"begin[^!]*end"])
def test_a_long_match_is_found_in_the_end(pattern):
    spool = b"begin" + b"." * FAR + b"end"
    pieces = [spool[place : place + 4096] for place in range(0, len(spool), 4096)]
    found = find(RegexSearch(pattern, 0), pieces)
    assert (found.start, found.end) == (0, len(spool))


@pytest.mark.parametrize("pattern", [r"needle [0-9]", r"needle\s[0-9]"])
def test_an_expression_in_windows(pattern):
    for place in (WINDOW - 3, WINDOW, 16 * WINDOW - 4):
        spool = b"line\n" * (place // 5) + b"." * (place % 5) + b"needle 1" + b"\nline" * 500_000
        assert find(RegexSearch(pattern, 0), [spool]) == Found(place, place + 8, "needle 1")


# The cost


LINES, NO_LINES = b"a line of output\n" * 240, b"a line of output\r" * 240


@pytest.mark.parametrize("piece", [LINES, NO_LINES], ids=["lines", "one line"])
@pytest.mark.parametrize(
    ("make", "overhead"),
    [
        (lambda: PromptSearch(0), 0),
        (lambda: TextSearch("needle", 0), 100),
        (lambda: RegexSearch("needle", 0), 66_000),
        (lambda: RegexSearch(r"needle\s", 0), 66_000),
    ],
    ids=["prompt", "text", "regex", "regex over lines"],
)
def test_the_cost_is_linear(make, overhead, piece):
    """Bytes that are looked at: all of them a few times, and a bounded look back for every piece that comes."""
    reader = Reader(make())
    reader.spool, pieces = b"", 1000
    grown = bytearray()
    for _ in range(pieces):
        grown += piece
        reader.spool = grown
        assert reader.look() is None
    assert reader.handed <= 3 * len(grown) + pieces * overhead


def test_lines_are_looked_at_once():
    reader = Reader(RegexSearch("needle", 0))
    for _ in range(100):
        assert reader.grow(LINES) is None
    assert reader.handed == len(reader.spool)


# Conditions


def waited(match, spool, now=None, *, at=0, regex=False):
    """What fires when all of the spool is there: its kind, and what was found."""
    wanted = condition(match, at, regex=regex)
    return fired(wanted, spool, now or Now(), at)


def fired(wanted, spool, now, at=0):
    for stream in wanted.searches():
        stream.look(spool[stream.search.at - at :], last=True)
    part = wanted.fired(now)
    return None if part is None else (part.kind, part.found)


@pytest.mark.parametrize(
    ("match", "kind"),
    [
        ("ready", "text"),
        ("PROMPT", "prompt"),
        ({"text": "PROMPT"}, None),  # the text, not the token
        ("EOF", None),
        ({"text": "ready"}, "text"),
        ({"regex": "r..dy"}, "regex"),
        ({"prompt": True}, "prompt"),
        ({"any": ["nothing", "ready"]}, "text"),
        ({"any": ["PROMPT", {"text": "never"}]}, "prompt"),
        ({"all": ["PROMPT", "ready"]}, "all"),
        ({"all": ["PROMPT", "never"]}, None),
    ],
)
def test_what_fires_in_the_stream(match, kind):
    answer = waited(match, f"ready\n$ {P}".encode())
    assert (answer and answer[0]) == kind


def test_an_expression_named_like_a_token_is_an_expression():
    assert waited("EOF", b"cat <<EOF", regex=True) == ("regex", Found(6, 9, "EOF"))


@pytest.mark.parametrize(
    ("match", "before", "then"),
    [
        ("EOF", Now(), Now(over=True)),
        ({"eof": True}, Now(), Now(over=True)),
        ({"screen": "INSERT"}, Now(screen="NORMAL"), Now(screen="-- INSERT --")),
        ({"screen_gone": "Loading"}, Now(screen="Loading…"), Now(screen="done")),
        ({"title": "vim"}, Now(title="bash"), Now(title="vim a.c")),
        ({"quiet_ms": 300}, Now(quiet=299), Now(quiet=300)),
        ("PROMPT", Now(), Now(at_prompt=True)),
        ({"secret_prompt": True}, Now(), Now(awaiting_secret=True)),
        ({"foreground": "vim"}, Now(foreground="vi"), Now(foreground="vim")),
    ],
)
def test_states_hold_or_do_not(match, before, then):
    assert waited(match, b"", before) is None
    assert waited(match, b"", then)[1] is None


def test_any_names_the_part_that_came_first_in_the_output():
    """Whatever the order it is asked in, and however the output came."""
    assert waited({"any": ["late", "early"]}, b"early, late") == ("text", Found(0, 5, "early"))
    assert waited({"any": ["abcd", {"regex": "bc"}]}, b"abcd") == ("regex", Found(1, 3, "bc"))
    assert waited({"any": [{"screen": "x"}, "early"]}, b"early", Now(screen="x"))[0] == "text"
    assert waited({"any": [{"screen": "x"}, "never"]}, b"early", Now(screen="x")) == ("screen", None)


def test_all_ends_where_its_last_part_ends():
    assert waited({"all": ["late", "early"]}, b"early, late.") == ("all", Found(7, 11, "late"))


def test_nested_conditions_know_what_was_found():
    inner = {"any": ["yes", "no"]}
    assert waited({"all": [inner, {"quiet_ms": 1}]}, b"it says no.", Now(quiet=2)) == ("all", Found(8, 10, "no"))
    assert waited({"any": [{"all": ["yes", "no"]}, {"screen": "x"}]}, b"yes", Now(screen="x")) == ("screen", None)
    assert waited({"all": [{"any": [{"all": ["yes", "late"]}, {"screen": "x"}]}]}, b"yes", Now(screen="x")) == (
        "all",
        None,
    )


def test_in_all_the_stream_latches_and_states_must_hold_together():
    wanted = condition({"all": ["done", {"screen": "ok"}, {"title": "t"}]}, 0)
    assert fired(wanted, b"done", Now(screen="ok")) is None
    assert fired(wanted, b"", Now(title="t")) is None  # the screen was ok, and is no more
    assert fired(wanted, b"", Now(screen="ok", title="t")) == ("all", Found(0, 4, "done"))


@pytest.mark.parametrize(
    ("match", "says"),
    [
        ("", "empty"),
        ({}, "one key"),
        ({"text": "a", "regex": "b"}, "one key"),
        (None, "one key"),
        (5, "one key"),
        (["a"], "one key"),
        ({"txt": "a"}, "did you mean 'text'?"),
        ({"zzzzzz": "a"}, "use one of text, regex, screen"),
        ({1: "a"}, "no condition 1"),
        ({"text": ""}, '{"text": "login:"}'),
        ({"text": 5}, "takes a text, not 5"),
        ({"text": True}, "takes a text"),
        ({"regex": ""}, "takes a text"),
        ({"prompt": False}, "takes true"),
        ({"prompt": 1}, "takes true"),
        ({"quiet_ms": 0}, '{"quiet_ms": 300}'),
        ({"quiet_ms": -1}, "milliseconds"),
        ({"quiet_ms": True}, "milliseconds"),
        ({"quiet_ms": "300"}, "milliseconds"),
        ({"quiet_ms": 10**400}, "milliseconds"),
        ({"any": []}, "list of conditions"),
        ({"any": "text"}, "list of conditions"),
        ({"any": [{"text": "a"}, {"tetx": "b"}]}, "did you mean 'text'?"),
        ({"any": [""]}, "empty"),
        ({"regex": "("}, "no regular expression"),
        ({"regex": r"(a)\1"}, "no backreferences"),
        ({"regex": "(?=a)"}, "no look-around"),
        ({"regex": "a" * (MAX_PATTERN + 1)}, str(MAX_PATTERN)),
        ({"text": "a" * (MAX_PATTERN + 1)}, str(MAX_PATTERN)),
        ({"text": "\ud800"}, "U+D800"),
        ({"regex": "\udfff"}, "U+DFFF"),
        ({"any": ["a"] * (MAX_CONDITIONS + 1)}, f"more than {MAX_CONDITIONS}"),
        ({"text": ["x" * 500]}, "…"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_cannot_be_waited_for_is_said_with_the_way_out(match, says):
    with pytest.raises(InputError) as error:
        condition(match, 0)
    assert says in str(error.value)
    assert error.value.hint
    assert len(str(error.value)) < 400 or len(str(match)) > 400


def test_an_empty_expression_is_refused_too():
    with pytest.raises(InputError):
        condition("", 0, regex=True)


def test_nesting_is_bounded():
    match = {"text": "a"}
    for _ in range(5000):
        match = {"any": [match]}
    with pytest.raises(InputError):
        condition(match, 0)


LEAF = st.sampled_from([{"text": "a"}, {"text": "zz"}, {"screen": "s"}, {"screen": "no"}, {"prompt": True}])
BRANCH = st.sampled_from(["any", "all"])
TREE = st.recursive(
    LEAF,
    lambda inner: st.builds(lambda kind, parts: {kind: parts}, BRANCH, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=6,
)


@given(TREE, st.sampled_from([b"", b"xxa", f"a{P}".encode()]))
def test_any_and_all_are_what_the_words_say(match, spool):
    """Against the parts alone."""
    now = Now(screen="s")

    def holds(part):
        ((kind, value),) = part.items()
        if kind in ("any", "all"):
            return {"any": any, "all": all}[kind](map(holds, value))
        return {"text": b"a" in spool and value == "a", "screen": value == "s", "prompt": PROMPT in spool}[kind]

    assume(str(match).count("{") <= MAX_CONDITIONS)
    assert (waited(match, spool, now) is not None) == holds(match)


def test_branches_know_their_leaves():
    wanted = condition({"any": ["a", {"all": ["PROMPT", {"screen": "s"}]}]}, 0)
    assert isinstance(wanted, AnyOf)
    assert isinstance(wanted.parts[1], AllOf)
    assert [leaf.kind for leaf in wanted.leaves()] == ["text", "prompt", "screen"]
    assert [stream.kind for stream in wanted.searches()] == ["text", "prompt"]

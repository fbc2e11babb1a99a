"""Display contexts: what comes in, what several displays share, and what the model is told."""

import dataclasses
import json
from dataclasses import replace
from itertools import permutations
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import FIXTURES
from vantage.errors import InputError
from vantage.own_terminal import TRUE_COLOR, OwnTerminal, describe
from vantage.presentation import (
    COLOR_DEPTHS,
    PROFILES,
    PresentationContext,
    TableMode,
    profile,
    system_instructions,
    terminal_context,
    warnings_about,
)

FIELDS = [field.name for field in dataclasses.fields(PresentationContext)]
FLAGS = [name for name in FIELDS if name.startswith("supports_")]
LIMITS = ["content_height", "max_table_columns", "max_message_units"]
WIDE = OwnTerminal(columns=126, color_depth=256)

# field → a value that makes the instruction say something else
SPEAKING = {
    "content_width": 45,
    "content_height": 24,
    "supports_markdown": False,
    "supports_tables": False,
    "supports_code_blocks": False,
    "supports_images": True,
    "supports_rich_text": False,
    "supports_unicode": False,
    "supports_mermaid": True,
    "max_table_columns": 3,
}
# field → (another value, why the model need not know)
SILENT = {
    "client_type": ("web", "a name: what the client can do is said by its capabilities"),
    "table_mode": ("records", "how we refit a table that the model has written all the same"),
    "wrap_mode": ("soft", "who breaks paragraphs: surface or client, in no case the model"),
    "color_depth": (0, "colours are ours, the model sends none"),
    "background": ("light", "colours are ours, the model sends none"),
    "max_message_units": (4096, "the surface splits long messages and loses nothing"),
}

sizes = st.integers(1, 65_535)
contexts = st.builds(
    PresentationContext,
    content_width=sizes,
    content_height=st.none() | sizes,
    client_type=st.sampled_from(["terminal", "web", "telegram", "slack", "api"]),
    max_table_columns=st.none() | st.integers(1, 30),
    table_mode=st.sampled_from(get_args(TableMode)),
    wrap_mode=st.sampled_from(["hard", "soft"]),
    color_depth=st.sampled_from(COLOR_DEPTHS),
    background=st.sampled_from(["dark", "light"]),
    max_message_units=st.none() | sizes,
    **{flag: st.booleans() for flag in FLAGS},
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def tokens(text: str) -> int:
    """The usual estimate: four characters each, rounded up."""
    return -(-len(text) // 4)


def no_more(one, other):
    """`None` is no limit at all."""
    return other is None or (one is not None and one <= other)


class TestInstruction:
    def test_the_five_profiles_stand_in_the_fixture(self):
        displays = {"terminal, 126 columns": terminal_context(WIDE), **{name: profile(name) for name in PROFILES[1:]}}
        written = [
            f"# {name}: {tokens(text)} tokens\n\n{text}\n"
            for name, text in ((name, display.to_system_instruction()) for name, display in displays.items())
        ]
        fixture = FIXTURES / "presentation/instructions.md"
        assert "\n".join(written) == fixture.read_text("utf-8")

    @pytest.mark.parametrize(
        ("display", "budget"),
        [
            (terminal_context(WIDE), 30),
            (terminal_context(msgspec.structs.replace(WIDE, sixel=True)), 30),
            (profile("telegram"), 90),
            (profile("telegram", max_table_columns=3, content_height=20), 90),
            (profile("api"), 75),
        ],
        ids=["wide terminal", "wide terminal with graphics", "mobile", "mobile with limits", "api"],
    )
    def test_budgets(self, display, budget):
        assert tokens(display.to_system_instruction()) <= budget

    @pytest.mark.parametrize(
        ("display", "budget"),
        [(terminal_context(WIDE), 30), (profile("telegram"), 90), (profile("api"), 75)],
        ids=["wide terminal", "mobile", "api"],
    )
    def test_budgets_after_a_table_that_was_too_wide(self, display, budget):
        text = system_instructions({}, None, display, wide_table=True)
        assert text.startswith(display.to_system_instruction())
        assert "too wide" in text.splitlines()[-1]
        assert tokens(text) <= budget

    def test_every_line_in_its_order(self):
        display = PresentationContext(
            content_width=59,
            content_height=24,
            supports_markdown=False,
            supports_tables=False,
            supports_code_blocks=False,
            supports_images=True,
            supports_rich_text=False,
            supports_unicode=False,
            supports_mermaid=True,
        )
        assert display.to_system_instruction().splitlines() == [
            "## Display Context",
            "Output width: 59 characters.",
            (
                "This is a NARROW display. Avoid markdown tables — use vertical key: value lists instead. "
                "Keep lines under 59 characters."
            ),
            "Markdown tables are NOT supported. Use lists or indented text.",
            "Fenced code blocks are NOT supported. Indent code with 4 spaces.",
            "Inline images are supported (the client can render them).",
            "Markdown is NOT supported. Use plain text only.",
            "Mermaid diagrams are supported (the client can render them).",
            "Unicode is NOT supported. Use ASCII characters only.",
            "Rich text is NOT supported. Do not use bold, italics or links.",
            "Output height: 24 lines. Be brief.",
        ]

    @pytest.mark.parametrize(
        ("width", "advice"),
        [(1, "NARROW"), (59, "NARROW"), (60, "compact"), (99, "compact"), (100, None), (400, None)],
    )
    def test_advice_for_the_width(self, width, advice):
        lines = PresentationContext(content_width=width).to_system_instruction().splitlines()
        assert lines[1] == f"Output width: {width} characters."
        assert len(lines) == (2 if advice is None else 3)
        assert advice is None or advice in lines[2]

    def test_a_column_limit_is_said_when_it_was_given(self):
        assert "columns" not in PresentationContext(content_width=120).to_system_instruction()
        given_limit = PresentationContext(content_width=120, max_table_columns=3)
        assert given_limit.to_system_instruction().endswith("\nMaximum table columns: 3.")
        without_tables = replace(given_limit, supports_tables=False).to_system_instruction()
        assert "columns" not in without_tables, "a limit for tables that are not supported would contradict itself"

    @pytest.mark.parametrize("field", FIELDS)
    def test_every_field_speaks_or_is_silent_for_a_reason(self, field):
        assert (field in SPEAKING) != (field in SILENT), f"{field}: a line in the instruction, or a reason"
        default = PresentationContext()
        value = SPEAKING[field] if field in SPEAKING else SILENT[field][0]
        changed = replace(default, **{field: value})
        assert changed != default
        says_otherwise = changed.to_system_instruction() != default.to_system_instruction()
        assert says_otherwise == (field in SPEAKING)


class TestColumns:
    @pytest.mark.parametrize(("width", "columns"), [(1, 1), (30, 2), (45, 3), (60, 3), (80, 4), (99, 4), (120, 6)])
    def test_derived_from_the_width(self, width, columns):
        assert PresentationContext(content_width=width).table_columns == columns

    def test_more_width_never_means_fewer(self):
        derived = [PresentationContext(content_width=width).table_columns for width in range(1, 300)]
        assert derived == sorted(derived)

    def test_given_wins(self):
        assert PresentationContext(content_width=45, max_table_columns=9).table_columns == 9


class TestFromDict:
    def test_an_empty_object_gives_the_default_context(self):
        assert PresentationContext.from_dict({}) == PresentationContext()

    def test_an_older_client_sends_its_width_only(self):
        assert PresentationContext.from_dict({"terminal_width": 52}) == PresentationContext(content_width=52)
        assert PresentationContext.from_dict({"terminal_width": None}) == PresentationContext()

    def test_content_width_wins(self):
        assert PresentationContext.from_dict({"terminal_width": 52, "content_width": 46}).content_width == 46

    def test_a_known_client_type_starts_from_its_profile(self):
        for name in ("telegram", "web", "slack", "api"):
            assert PresentationContext.from_dict({"client_type": name}) == profile(name)
            stated = PresentationContext.from_dict({"client_type": name, "content_width": 61, "supports_tables": True})
            assert stated == profile(name, content_width=61, supports_tables=True)
        assert PresentationContext.from_dict({"client_type": "telegram", "terminal_width": 33}).content_width == 33
        assert PresentationContext.from_dict({"client_type": "terminal"}) == PresentationContext()
        assert PresentationContext.from_dict({"client_type": "editor"}) == PresentationContext(client_type="editor")

    def test_both_spellings_of_a_key(self):
        stated = {"clientType": "api", "contentWidth": 70, "supportsTables": True, "maxTableColumns": 2}
        assert PresentationContext.from_dict(stated) == profile(
            "api", content_width=70, supports_tables=True, max_table_columns=2
        )
        assert warnings_about(stated) == []

    def test_unknown_fields_and_profiles_are_named_with_a_suggestion(self):
        said = warnings_about({"content_widht": 45, "colour": "blue", "client_type": "telegramm", "terminal_width": 45})
        assert [*map(str, said)] == [
            "presentation has no field 'content_widht', it was ignored: did you mean 'content_width'?",
            *[line for line in said if "'colour'" in line],
            "client_type 'telegramm' is no profile: did you mean 'telegram'?",
        ]
        assert warnings_about(profile("web").to_dict()) == []
        assert warnings_about({"client_type": "my-editor"}) == []

    def test_unknown_keys_are_ignored(self):
        assert PresentationContext.from_dict({"supports_smell": True, "content-width": 9}) == PresentationContext()

    @pytest.mark.parametrize(
        ("field", "value", "message"),
        [
            ("content_width", 0, "content_width must be a whole number from 1 to 65535, not 0"),
            ("content_width", -5, "not -5"),
            ("content_width", 70_000, "not 70000"),
            ("content_width", True, "content_width must be a whole number from 1 to 65535, not True"),
            ("content_width", 80.0, "not 80.0"),
            ("content_width", "80", "not '80'"),
            ("content_width", None, "not None: leave it out for the default, 80"),
            ("terminal_width", 0, "terminal_width must be a whole number"),
            ("content_height", -1, "content_height must be a whole number from 1 to 65535 or null, not -1"),
            ("content_height", 0, "not 0: leave it out for the default, null"),
            ("supports_tables", 1, "supports_tables must be true or false, not 1: leave it out for the default, true"),
            ("supports_tables", "no", "not 'no'"),
            ("client_type", "", "client_type must be a name of 1 to 64 printable characters, not ''"),
            ("client_type", "a\nb", r"not 'a\nb'"),
            ("client_type", "\ud800", "printable"),
            ("table_mode", "grid", "one of auto, wrap, truncate, transpose, records, off, not 'grid'"),
            ("table_mode", ["auto"], "not ['auto']"),
            ("wrap_mode", "none", "wrap_mode must be one of hard, soft, not 'none'"),
            ("color_depth", 24, "color_depth must be 0, 16, 256 or 16777216, not 24"),
            ("color_depth", False, "not False"),
            ("background", "beige", "background must be one of dark, light, not 'beige'"),
            ("max_table_columns", 0, "max_table_columns must be a whole number"),
            ("max_message_units", 2**70, "max_message_units must be a whole number"),
            pytest.param("max_message_units", 10**5000, "not a very long int", id="more digits than Python prints"),
        ],
    )
    def test_refused_with_the_field_the_expectation_and_the_value(self, field, value, message):
        with pytest.raises(InputError) as caught:
            PresentationContext.from_dict({field: value})
        assert str(caught.value).startswith(field)
        assert message in str(caught.value)

    @pytest.mark.parametrize("value", [None, [], "web", 80, [["content_width", 80]]])
    def test_not_an_object(self, value):
        with pytest.raises(InputError, match="presentation must be an object, not "):
            PresentationContext.from_dict(value)

    def test_a_value_of_any_depth_is_refused_briefly(self):
        deep = []
        for _ in range(50_000):
            deep = [deep]
        with pytest.raises(InputError) as caught:
            PresentationContext.from_dict({"content_width": deep, "supports_tables": deep})
        assert len(str(caught.value)) < 200

    @given(st.dictionaries(st.sampled_from([*FIELDS, "terminal_width", "other"]), json_values) | json_values)
    def test_a_context_or_an_input_error(self, value):
        try:
            display = PresentationContext.from_dict(value)
        except InputError:
            return
        assert display.content_width >= 1
        assert display.to_system_instruction()

    @given(contexts)
    def test_round_trip_through_json(self, display):
        assert PresentationContext.from_dict(display.to_dict()) == display
        assert PresentationContext.from_dict(json.loads(json.dumps(display.to_dict()))) == display
        assert msgspec.convert(display.to_dict(), PresentationContext) == display

    def test_every_field_can_be_sent(self):
        assert set(PresentationContext().to_dict()) == set(FIELDS)
        for field in FIELDS:
            with pytest.raises(InputError, match=f"^{field} must be"):
                PresentationContext.from_dict({field: {"not": "this"}})


class TestDataclass:
    """The context is a dataclass: clients send `asdict(context)`."""

    def test_as_a_dict(self):
        assert dataclasses.asdict(PresentationContext(content_width=44)) == {
            **PresentationContext().to_dict(),
            "content_width": 44,
        }

    @given(contexts)
    def test_a_context_survives_a_round_trip_through_json(self, display):
        assert PresentationContext.from_dict(json.loads(json.dumps(dataclasses.asdict(display)))) == display

    def test_replaced_and_compared(self):
        wide = dataclasses.replace(profile("web"), content_width=200)
        assert wide == profile("web", content_width=200)
        assert len({wide, profile("web", content_width=200), profile("web")}) == 2


class TestMerge:
    def test_a_merge_has_what_all_displays_can_show(self):
        assert profile("telegram").merge(profile("web")) == PresentationContext(
            content_width=45,
            supports_tables=False,
            supports_images=True,
            client_type="mixed",
            wrap_mode="soft",
            color_depth=0,
            max_message_units=4096,
        )

    def test_differences_in_kind(self):
        one = PresentationContext(table_mode="wrap", wrap_mode="soft", background="light", client_type="web")
        other = PresentationContext(table_mode="records", wrap_mode="hard", background="dark", client_type="tui")
        both = one.merge(other)
        assert (both.table_mode, both.wrap_mode, both.background, both.client_type) == ("auto", "hard", "dark", "mixed")

    def test_a_stated_column_limit_does_not_widen_another_display(self):
        generous = PresentationContext(content_width=45, max_table_columns=10)
        assert generous.merge(PresentationContext(content_width=120)).table_columns == 6
        assert PresentationContext().merge(PresentationContext(content_width=45)).max_table_columns is None

    @given(contexts)
    def test_with_itself_or_nothing_changes_nothing(self, display):
        assert display.merge() == display
        assert display.merge(display, display) == display

    @given(contexts, contexts, contexts)
    def test_in_any_order_and_any_grouping(self, one, two, three):
        merged = {tuple(a.merge(b, c).to_dict().values()) for a, b, c in permutations([one, two, three])}
        merged.add(tuple(one.merge(two).merge(three).to_dict().values()))
        assert len(merged) == 1

    @given(st.lists(contexts, min_size=1, max_size=4))
    def test_never_more_than_any_part(self, displays):
        merged = displays[0].merge(*displays[1:])
        for display in displays:
            assert merged.content_width <= display.content_width
            assert merged.color_depth <= display.color_depth
            assert merged.table_columns <= display.table_columns
            for limit in LIMITS:
                assert no_more(getattr(merged, limit), getattr(display, limit))
            for flag in FLAGS:
                assert getattr(merged, flag) <= getattr(display, flag)
            assert (merged.wrap_mode == "soft") <= (display.wrap_mode == "soft")

    @given(contexts, contexts)
    def test_the_result_is_a_context_that_can_be_sent(self, one, other):
        merged = one.merge(other)
        assert PresentationContext.from_dict(merged.to_dict()) == merged

    @pytest.mark.parametrize("field", FIELDS)
    def test_every_field_is_merged(self, field):
        value = {**SPEAKING, **{name: pair[0] for name, pair in SILENT.items()}}[field]
        other = replace(PresentationContext(), **{field: value})
        assert other.merge(other) == other, f"{field} is lost in a merge"


class TestProfiles:
    @pytest.mark.parametrize(
        ("name", "width", "abilities"),
        [
            ("telegram", 45, {"markdown", "code_blocks", "images", "rich_text", "unicode"}),
            ("web", 100, {"markdown", "tables", "code_blocks", "images", "rich_text", "unicode", "mermaid"}),
            ("slack", 80, {"markdown", "code_blocks", "images", "rich_text", "unicode"}),
            ("api", 120, {"rich_text", "unicode"}),
        ],
    )
    def test_values(self, name, width, abilities):
        display = profile(name)
        assert display.content_width == width
        assert display.client_type == name
        assert {flag.removeprefix("supports_") for flag in FLAGS if getattr(display, flag)} == abilities

    def test_message_limits(self):
        assert [profile(name).max_message_units for name in ("telegram", "slack", "web", "api")] == [
            4096, 12_000, None, None,
        ]  # fmt: skip

    def test_each_could_have_been_sent(self):
        for name in PROFILES:
            assert PresentationContext.from_dict(profile(name).to_dict()) == profile(name)

    def test_overrides(self):
        assert profile("web", content_width=60, supports_mermaid=False).content_width == 60
        with pytest.raises(InputError, match="content_width must be a whole number"):
            profile("web", content_width=0)
        with pytest.raises(InputError, match="has no field 'content_widht': did you mean 'content_width'"):
            profile("web", content_widht=60)

    def test_unknown(self):
        with pytest.raises(InputError, match=r"no profile is called 'telegran': did you mean 'telegram'\?"):
            profile("telegran")
        with pytest.raises(InputError, match="'Web': did you mean 'web'"):
            profile("Web")
        with pytest.raises(InputError, match="'fax': use one of terminal, telegram, web, slack, api"):
            profile("fax")

    def test_the_terminal_is_the_live_one(self, monkeypatch):
        for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "TMUX", "TERM_PROGRAM"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"COLUMNS": "126", "LANG": "C.UTF-8", "TERM": "xterm-256color", "NO_COLOR": "1"}.items():
            monkeypatch.setenv(name, value)
        display = profile("terminal", background="light")
        assert display == PresentationContext(content_width=120, color_depth=0, background="light")

    @pytest.mark.parametrize(("columns", "width"), [(126, 120), (30, 24), (26, 20), (12, 20), (1, 20)])
    def test_a_terminal_keeps_a_margin_and_a_least_width(self, columns, width):
        assert terminal_context(OwnTerminal(columns=columns)).content_width == width

    def test_a_terminal_with_graphics_draws_mermaid(self):
        display = terminal_context(OwnTerminal(sixel=True, unicode=False, color_depth=16, background="light"))
        assert display.supports_mermaid
        assert not display.supports_images
        assert not display.supports_unicode
        assert (display.color_depth, display.background) == (16, "light")


class TestLiveTerminal:
    @pytest.mark.parametrize(
        ("environment", "size", "columns"),
        [
            ({}, 120, 120),
            ({}, None, 80),
            ({}, 0, 80),
            ({"COLUMNS": "46"}, 120, 46),
            ({"COLUMNS": "46"}, None, 46),
            ({"COLUMNS": "0"}, 120, 120),
            ({"COLUMNS": "wide"}, 120, 120),
            ({"COLUMNS": "-3"}, None, 80),
            ({"COLUMNS": "²"}, None, 80),
            ({"COLUMNS": "9" * 5000}, None, 80),
        ],
    )
    def test_columns(self, environment, size, columns):
        assert describe(environment, columns=size, is_terminal=True).columns == columns

    @pytest.mark.parametrize(
        ("environment", "depth"),
        [
            ("TERM=xterm-256color", 256),
            ("TERM=xterm", 16),
            ("TERM=xterm COLORTERM=truecolor", TRUE_COLOR),
            ("TERM=xterm-direct", TRUE_COLOR),
            ("TERM=xterm-kitty", TRUE_COLOR),
            ("TERM=xterm-256color TERM_PROGRAM=WezTerm", TRUE_COLOR),
            ("TERM=screen-256color TERM_PROGRAM=WezTerm", 256),
            ("TERM=dumb", 0),
            ("", 0),
            ("TERM=xterm-256color NO_COLOR=1", 0),
            ("TERM=xterm-256color NO_COLOR=", 256),
            ("TERM=xterm-256color NO_COLOR=1 FORCE_COLOR=1", 256),
            ("TERM=xterm FORCE_COLOR=3", TRUE_COLOR),
            ("TERM=dumb FORCE_COLOR=1", 16),
            ("TERM=dumb FORCE_COLOR=", 0),
            ("TERM=xterm-256color CLICOLOR=0", 0),
            ("TERM=xterm-256color CLICOLOR=0 CLICOLOR_FORCE=1", 256),
            ("TERM=xterm-256color NO_COLOR=1 CLICOLOR_FORCE=1", 0),
            ("TERM=dumb CLICOLOR_FORCE=0", 0),
        ],
    )
    def test_color_depth(self, environment, depth):
        assert describe(variables(environment), columns=80, is_terminal=True).color_depth == depth

    @pytest.mark.parametrize(
        ("environment", "depth"),
        [("TERM=xterm-256color", 0), ("TERM=xterm-256color FORCE_COLOR=1", 256), ("CLICOLOR_FORCE=1", 16)],
    )
    def test_no_terminal_no_colour_unless_forced(self, environment, depth):
        assert describe(variables(environment), columns=None, is_terminal=False).color_depth == depth

    @pytest.mark.parametrize(
        ("environment", "unicode"),
        [
            ("", True),
            ("LANG=en_GB.UTF-8", True),
            ("LANG=de_DE.utf8@euro", True),
            ("LANG=en_GB.UTF-8 LC_ALL=C", False),
            ("LANG=C LC_CTYPE=C.UTF-8", True),
            ("LANG=C LC_ALL=", False),
            ("LANG=de_DE.ISO-8859-1", False),
            ("LANG=en_GB.UTF-8 TERM=linux", False),
        ],
    )
    def test_unicode(self, environment, unicode):
        assert describe(variables(environment), columns=80, is_terminal=True).unicode is unicode

    @pytest.mark.parametrize(
        ("environment", "sixel"),
        [
            ("TERM=xterm-256color", False),
            ("TERM=foot", True),
            ("TERM=mlterm-256color", True),
            ("TERM=xterm-256color TERM_PROGRAM=iTerm.app", True),
            ("TERM=xterm-256color TERM_PROGRAM=Apple_Terminal", False),
            ("TERM=xterm-256color TERM_PROGRAM=WezTerm TMUX=/tmp/tmux-1000/default,1,0", False),
            ("TERM=screen-256color TERM_PROGRAM=WezTerm", False),
        ],
    )
    def test_sixel(self, environment, sixel):
        assert describe(variables(environment), columns=80, is_terminal=True).sixel is sixel
        assert not describe(variables(environment), columns=80, is_terminal=False).sixel

    @pytest.mark.parametrize(
        ("value", "background"), [("15;0", "dark"), ("0;15", "light"), ("0;default;7", "light"), ("", "dark")]
    )
    def test_background(self, value, background):
        assert describe({"COLORFGBG": value}, columns=80, is_terminal=True).background == background


def variables(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())


class TestSystemInstructions:
    DISPLAY = PresentationContext(content_width=120)
    BLOCK = "## Display Context\nOutput width: 120 characters."

    @pytest.mark.parametrize(
        ("names", "order"),
        [
            ("base session plugins formatting task_completion", "base session + plugins formatting # task_completion"),
            ("base plugins task_completion", "base + plugins # task_completion"),
            ("base formatting", "base + formatting #"),
            ("base formatting notes task_completion", "base + formatting # notes task_completion"),
            ("plugins formatting", "+ plugins formatting #"),
            ("task_completion", "+ # task_completion"),
            ("rules", "rules + #"),
            ("", "+ #"),
            ("Base Plugin-advice Formatter completion-advice", "Base + Plugin-advice Formatter # completion-advice"),
        ],
    )
    def test_the_blocks_find_their_place(self, names, order):
        """`+` is the additional text, `#` the display; every section's text is its name."""
        parts = [(name, name) for name in names.split()]
        expected = order.replace("#", self.BLOCK.replace(" ", "~")).split(" ")
        assert system_instructions(parts, "+", self.DISPLAY) == "\n\n".join(expected).replace("~", " ")
        assert system_instructions(dict(parts), "+", self.DISPLAY) == system_instructions(parts, "+", self.DISPLAY)

    def test_empty_sections_leave_no_gap(self):
        parts = {"base": "Be kind.\n", "session": None, "plugins": " \n", "task_completion": "Finish."}
        assert system_instructions(parts) == "Be kind.\n\nFinish."
        assert system_instructions(parts, "", self.DISPLAY) == f"Be kind.\n\n{self.BLOCK}\n\nFinish."
        assert system_instructions({}) == ""

    def test_a_name_that_only_contains_one_of_ours_is_another_section(self):
        parts = [("task_completion", "Finish."), ("information", "News.")]
        assert system_instructions(parts, None, self.DISPLAY) == f"{self.BLOCK}\n\nFinish.\n\nNews."

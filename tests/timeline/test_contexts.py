"""The displays of a conversation: which of them count, and from when."""

import pytest

from vantage.errors import InputError
from vantage.presentation import PresentationContext, profile
from vantage.timeline.contexts import Contexts

PHONE = profile("telegram")
PAGE = profile("web")
FILE = PresentationContext(content_width=200, client_type="file")


def width_told(contexts: Contexts, agent_id: str | None = None) -> int:
    line = contexts.instruction(agent_id).splitlines()[1]
    return int(line.removeprefix("Output width: ").removesuffix(" characters."))


class TestClients:
    def test_no_display_is_attached(self):
        assert Contexts().for_agent() == PresentationContext()

    def test_an_older_client_sends_its_width_only(self):
        assert Contexts().apply("a", terminal_width=52).for_agent() == PresentationContext(content_width=52)

    def test_presentation_comes_as_an_object(self):
        display = Contexts().apply("a", presentation={"content_width": 45, "supports_tables": False}).for_agent()
        assert display == PresentationContext(content_width=45, supports_tables=False)

    def test_presentation_without_a_width_takes_the_terminals(self):
        contexts = Contexts().apply("a", terminal_width=52, presentation={"client_type": "tui"})
        assert contexts.for_agent() == PresentationContext(content_width=52, client_type="tui")
        contexts = Contexts().apply("a", terminal_width=52, presentation={"content_width": 46})
        assert contexts.for_agent().content_width == 46

    def test_a_resize_keeps_what_the_client_can_do(self):
        contexts = Contexts().apply("a", presentation=PHONE).apply("a", terminal_width=70)
        assert contexts.for_agent() == profile("telegram", content_width=70)

    def test_a_new_presentation_replaces_the_old_one(self):
        contexts = Contexts().apply("a", presentation=PHONE).apply("a", presentation={"content_width": 70})
        assert contexts.for_agent() == PresentationContext(content_width=70)

    def test_a_client_that_says_nothing_of_its_display(self):
        assert Contexts().apply("a").clients == {"a": PresentationContext()}
        assert Contexts().apply("a", presentation=PHONE).apply("a", primary=True).for_agent() == PHONE

    def test_several_get_what_all_can_show(self):
        contexts = Contexts().apply("phone", presentation=PHONE).apply("page", presentation=PAGE)
        assert contexts.for_agent() == PHONE.merge(PAGE)
        assert contexts.without("phone").for_agent() == PAGE
        assert contexts.without("phone").without("page").for_agent() == PresentationContext()

    def test_the_primary_alone_counts(self):
        contexts = Contexts().apply("phone", presentation=PHONE).apply("page", presentation=PAGE, primary=True)
        assert contexts.for_agent() == PAGE
        assert contexts.apply("page", terminal_width=90).for_agent() == profile("web", content_width=90)
        assert contexts.apply("phone", primary=True).for_agent() == PHONE
        assert contexts.apply("page", primary=False).for_agent() == PHONE.merge(PAGE)
        assert contexts.apply("phone", primary=False).for_agent() == PAGE, "it was not the phone's to give up"

    def test_a_primary_that_left_comes_back_as_one_of_many(self):
        contexts = Contexts().apply("phone", presentation=PHONE).apply("page", presentation=PAGE, primary=True)
        back = contexts.without("page").apply("page", presentation=PAGE)
        assert back.for_agent() == PHONE.merge(PAGE)

    def test_leaving_twice_is_no_error(self):
        assert Contexts().without("a") == Contexts()


class TestRefused:
    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"presentation": {"content_width": 0}}, "content_width must be"),
            ({"presentation": ["wide"]}, "presentation must be an object"),
            ({"presentation": "wide", "terminal_width": 80}, "presentation must be an object"),
            ({"terminal_width": "80"}, "terminal_width must be"),
            ({"terminal_width": 0, "presentation": {"content_width": 80}}, "terminal_width must be"),
            ({"primary": "yes"}, "primary must be true or false"),
        ],
    )
    @pytest.mark.parametrize("client_id", ["a", "b"])
    def test_and_nothing_changes(self, client_id, values, message):
        contexts = Contexts().apply("a", presentation=PHONE)
        with pytest.raises(InputError, match=message):
            contexts.apply(client_id, **values)
        assert contexts == Contexts().apply("a", presentation=PHONE)

    @pytest.mark.parametrize("name", ["", None, 7])
    def test_ids_are_names(self, name):
        with pytest.raises(InputError, match="client_id must be a non-empty string"):
            Contexts().apply(name, terminal_width=80)
        with pytest.raises(InputError, match="agent_id must be a non-empty string"):
            Contexts().with_agent(name, FILE)

    def test_a_change_makes_a_new_value(self):
        before = Contexts()
        before.apply("a", terminal_width=40).with_agent("sub", FILE).begin_turn()
        assert before == Contexts()
        assert Contexts().clients == {}


class TestAgents:
    def test_an_agent_may_write_for_another_display(self):
        contexts = Contexts().apply("phone", presentation=PHONE, primary=True).with_agent("sub", FILE)
        assert contexts.for_agent("sub") == FILE
        assert contexts.for_agent() == contexts.for_agent("main") == PHONE
        assert contexts.with_agent("sub", None).for_agent("sub") == PHONE

    def test_a_width_alone(self):
        contexts = Contexts().with_agent("sub", {"client_type": "api"}).with_agent("sub", None, terminal_width=70)
        assert contexts.for_agent("sub") == profile("api", content_width=70)

    def test_its_presentation_may_come_as_an_object(self):
        assert Contexts().with_agent("sub", {"content_width": 200}).for_agent("sub").content_width == 200
        with pytest.raises(InputError, match="table_mode"):
            Contexts().with_agent("sub", {"table_mode": "grid"})


class TestTurns:
    def test_before_the_first_turn_the_present_counts(self):
        assert width_told(Contexts().apply("a", terminal_width=50)) == 50

    def test_a_change_counts_from_the_next_turn(self):
        turn = Contexts().apply("a", terminal_width=120).begin_turn()
        resized = turn.apply("a", terminal_width=45)
        assert width_told(resized) == 120
        assert resized.for_agent().content_width == 45, "what is drawn follows at once"
        assert width_told(resized.begin_turn()) == 45

    def test_so_does_a_client_that_comes_or_goes(self):
        turn = Contexts().apply("page", presentation=PAGE).begin_turn()
        assert width_told(turn.apply("phone", presentation=PHONE)) == 100
        assert width_told(turn.without("page")) == 100
        assert width_told(turn.without("page").begin_turn()) == 80

    def test_and_an_agents_own_display(self):
        turn = Contexts().with_agent("sub", FILE).begin_turn()
        assert width_told(turn.with_agent("sub", PHONE), "sub") == 200
        first = turn.with_agent("other", PHONE)
        assert width_told(first, "other") == 45, "its own turn begins with it: a sub-agent comes within a turn"
        assert width_told(first.with_agent("other", FILE), "other") == 45
        assert width_told(first) == 80
        assert width_told(turn.with_agent("sub", None).begin_turn(), "sub") == 80

    def test_a_sub_agents_turn_begins_within_the_conversations(self):
        turn = Contexts().apply("a", terminal_width=120).begin_turn()
        started = turn.apply("a", terminal_width=45).begin_turn("sub")
        assert width_told(started, "sub") == 45
        assert width_told(started) == width_told(started, "other") == 120
        assert width_told(started.apply("a", terminal_width=60), "sub") == 45

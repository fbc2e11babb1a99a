"""What was played, counted: calls, and tokens as characters / 4."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.run.answers import Several
from bench.turns.tasks import TASKS, Task, lay_out

AT_A_TIME = 2
"""Tasks that are played beside each other: most of a task's time is waiting."""


class Call(NamedTuple):
    tool: str
    asked: str
    """The arguments, as JSON."""
    shown: str
    """What the model is shown of the answer."""
    text: str = ""
    """Our tools' other form of the same answer: the text beside the fields."""


class Played(NamedTuple):
    """A task from its first call to its last."""

    task: str
    calls: Sequence[Call]

    @property
    def tokens(self) -> int:
        return round(sum(len(call.asked) + len(call.shown) for call in self.calls) / 4)

    @property
    def text_tokens(self) -> int:
        """The same for a client that shows a model the text and not the fields."""
        return round(sum(len(call.asked) + len(call.text) for call in self.calls) / 4)


class Sheet(NamedTuple):
    """All tasks of one player, and what its list of tools costs once."""

    played: Sequence[Played]
    tools: int

    @property
    def calls(self) -> int:
        return sum(len(one.calls) for one in self.played)

    @property
    def tokens(self) -> int:
        return self.tools + sum(one.tokens for one in self.played)

    @property
    def text_tokens(self) -> int:
        return self.tools + sum(one.text_tokens for one in self.played)

    @property
    def sums(self) -> Several:
        return Several((self.calls, self.tokens))


def compact(value: Any) -> str:
    """JSON as it is sent: without blanks."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def list_tokens(tools: Sequence[dict[str, Any]]) -> int:
    """Of tools, each as a dictionary of its name, description and parameters."""
    return round(sum(len(compact(tool)) for tool in tools) / 4)


class Wrong(Exception):
    """An answer did not show what the player needs to go on."""

    def __init__(self, task: str, call: Call, shows: Sequence[str]) -> None:
        super().__init__(f"{task}: {call.tool} {call.asked}: expected {list(shows)}, got {call.shown}")


def play_all(play: Callable[[Task, Path], Played], tasks: Sequence[Task] = TASKS) -> list[Played]:
    """Each task in a home of its own: a folder that is the player's HOME and holds `project`."""

    def one(task: Task) -> Played:
        with TemporaryDirectory(prefix="vantage-turns-") as home:
            project = Path(home, "project")
            lay_out(project)
            return play(task, Path(home))

    with ThreadPoolExecutor(AT_A_TIME) as threads:
        return list(threads.map(one, tasks))

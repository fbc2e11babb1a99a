"""The tools that are known without any extension, family by family."""

from vantage.events import Json
from vantage.timeline.calls import normal_name
from vantage.timeline.tools import Presenter, api, edits, files, knowledge, plan, shell, terminal

PRESENTERS: dict[str, Presenter] = {
    normal_name(name): presenter.function
    for family in (shell, terminal, files, edits, plan, api, knowledge)
    for presenter in family.PRESENTERS
    for name in presenter.names
}
SPECS: dict[str, Json] = knowledge.SPECS

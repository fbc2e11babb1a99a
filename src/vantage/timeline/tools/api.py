"""Tools that read and change a package's public interface."""

import re

from vantage.events import text_of_value
from vantage.text.spans import Span
from vantage.text.style import ACCENT
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import IN, Block, TextBlock, head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter

_SHOWN_PATHS = 3
_RESULT = re.compile(r"^\d+:", re.MULTILINE)


def _note(text: str) -> list[Block]:
    return [TextBlock(text.strip(), "accent")] if text.strip() else []


@presenter("get_public_api")
def get_public_api(call: ToolCall) -> Presentation | None:
    if not fits(call, {"import_path": str}, identifiers=(list, str)):
        return None
    names = call.args.get("identifiers") or []
    listed = ", ".join(text_of_value(name) for name in names) if isinstance(names, list) else names
    return Presentation(head("Read Public API", call.text("import_path")), error_blocks(call) or _note(listed))


@presenter("clarify_public_api")
def clarify_public_api(call: ToolCall) -> Presentation | None:
    if not fits(call, {"identifier": str, "path": str}, question=str):
        return None
    path = call.text("path")
    title = head(
        call.verb("Clarify", "Clarifying", "Clarified"), call.text("identifier"), *((IN, path) if path else ())
    )
    return Presentation(title, error_blocks(call) or _note(call.output if call.done else call.text("question")))


@presenter("update_usage")
def update_usage(call: ToolCall) -> Presentation | None:
    if not fits(call, {"paths": (list, str)}, instructions=str):
        return None
    given = call.args.get("paths") or []
    paths = [text_of_value(path) for path in given] if isinstance(given, list) else [given]
    title = head(call.verb("Update Usage", "Updating Usage", "Updated Usage"))
    if paths:
        more = len(paths) - _SHOWN_PATHS
        title += [Span(" "), IN, Span(" "), Span(", ".join(paths[:_SHOWN_PATHS]))]
        title += [Span(" "), Span(f"({more} more)", ACCENT)] if more > 0 else []
    return Presentation(title, error_blocks(call) or ([] if call.done else _note(call.text("instructions"))))


@presenter("change_api")
def change_api(call: ToolCall) -> Presentation | None:
    if not fits(call, {"import_path": str}, instructions=str):
        return None
    path = call.text("import_path")
    title = head(call.verb("Change API", "Changing API", "Changed API"), *((IN, path) if path else ()))
    return Presentation(title, error_blocks(call) or ([] if call.done else _note(call.text("instructions"))))


@presenter("get_usage")
def get_usage(call: ToolCall) -> Presentation | None:
    if not fits(call, {"defining_package": str, "package": str, "import_path": str, "identifier": str}):
        return None
    title = head("Read Usage", call.text("defining_package", "package", "import_path"), call.text("identifier"))
    found = len(_RESULT.findall(call.output))
    said = f"Found {found} result{'' if found == 1 else 's'}." if call.done else ""
    return Presentation(title, error_blocks(call) or _note(said))


@presenter("module_info")
def module_info(call: ToolCall) -> Presentation | None:
    if not fits(call, {}, package_search=str, include_dependency_packages=bool):
        return None
    search = call.text("package_search")
    options = [f"Search: {search}"] if search else []
    options += ["Deps: true"] if call.args.get("include_dependency_packages") else []
    return Presentation(head("Read Module Info"), error_blocks(call) or _note("; ".join(options)))


PRESENTERS = (get_public_api, clarify_public_api, update_usage, change_api, get_usage, module_info)

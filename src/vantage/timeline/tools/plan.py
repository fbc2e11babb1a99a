"""Plans and to-do lists, plans that a person is asked to agree to, and the topic of the work."""

from typing import Literal

from vantage.events import Json, text_of_value
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import Block, ChecklistBlock, ChecklistItem, MarkdownBlock, TextBlock, head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter

_STATUS: dict[str, Literal["pending", "in_progress", "completed"]] = {
    "completed": "completed", "complete": "completed", "done": "completed",
    "in_progress": "in_progress", "in-progress": "in_progress", "active": "in_progress",
    "cancelled": "completed", "canceled": "completed",
}  # fmt: skip


def _item(value: Json) -> ChecklistItem:
    if not isinstance(value, dict):
        return ChecklistItem(text_of_value(value))
    text = next(
        (text_of_value(value[key]) for key in ("step", "content", "text", "title", "description") if value.get(key)), ""
    )
    status = text_of_value(value.get("status")).lower()
    if value.get("completed") is True or value.get("done") is True:
        status = "completed"
    if status in ("cancelled", "canceled"):
        text += " (canceled)"
    return ChecklistItem(text, _STATUS.get(status, "pending"))


@presenter("update_plan", "todo", "todowrite", "todo_write", "write_todos")
def update_plan(call: ToolCall) -> Presentation | None:
    if not fits(call, {"plan": list, "todos": list, "items": list, "explanation": str}):
        return None
    steps: list[Json] = next((call.args[key] for key in ("plan", "todos", "items") if call.args.get(key)), [])
    overview = call.text("explanation").strip()
    plan = ChecklistBlock([_item(step) for step in steps], overview)
    return Presentation(
        head("Update Plan"),
        error_blocks(call) or ([plan] if plan.items or plan.overview else []),
    )


@presenter("exit_plan_mode", "exitplanmode")
def proposed_plan(call: ToolCall) -> Presentation | None:
    """A plan in words. An error is shown when the person did not agree to it."""
    if not fits(call, {"plan": str}):
        return None
    plan = call.text("plan").strip()
    blocks: list[Block] = [MarkdownBlock(plan)] if plan else []
    return Presentation(head(call.verb("Plan", "Proposing a plan", "Proposed a plan")), [*blocks, *error_blocks(call)])


@presenter("update_topic")
def topic(call: ToolCall) -> Presentation | None:
    if not fits(call, {"title": str, "summary": str, "strategic_intent": str}):
        return None
    about = call.text("summary", "strategic_intent").strip()
    blocks: list[Block] = [TextBlock(about)] if about else []
    return Presentation(head("Topic", call.text("title")), error_blocks(call) or blocks)


PRESENTERS = (update_plan, proposed_plan, topic)

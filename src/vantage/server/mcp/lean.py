"""The part of a verb's result that a model gets: facts that are new to it and that it can use.

Over HTTP a result has all its fields. Here a field is left out when it is null, false or empty, when it repeats the
call, or when no tool takes it and no next step depends on it. A screen is one text. `lean` filters a result, and
`shown` the schema of such results, by the same tables: every field that can come is described. Fields that the tables
do not name pass both.
"""

from collections.abc import Callable
from typing import Any

from vantage.terminal.output.reading import without_filler

Fields = dict[str, Any]
Schema = dict[str, Any]

_NEVER = frozenset({"ok", "notes", "warnings", "match_span"})
"""Left out of every result. Slips and warnings are worded in `note`."""
_STARTED = frozenset({"seq", "ts_begin", "cwd", "duration_ms", "omitted", "truncated"})
_NOT_SHOWN: dict[str, frozenset[str]] = {
    "exec_block": _STARTED,
    "exec_interactive": _STARTED,
    "status": frozenset({"shell_id", "pid", "engine"}),
    "read_screen": frozenset({"rows", "cols", "rows_count", "ts", "raw_offset"}),
    "read_block": frozenset({"omitted", "truncated"}),
}
"""Fields of a verb's result that no model needs."""
_NOT_RECORDED = frozenset(
    {"seq", "origin", "ts_begin", "ts_end", "duration_ms", "spool", "raw", "shell_id", "exec_id", "marks"}
)
"""The same for a command's record."""
_STAYS = frozenset({"matched", "complete", "cursor", "text"})
"""Fields that are informative even if they are false, empty, or equal to the call's."""
_USUAL = {"done_because": "mark", "keyboard": "agent", "omitted_bytes": 0}
"""Values without information."""


def lean(verb: str, asked: Fields, result: Fields) -> Fields:
    """A result without fields that say nothing new; `asked` is what the verb was called with."""
    hidden = _NEVER | _NOT_SHOWN.get(verb, frozenset())
    fields = {name: value for name, value in result.items() if name not in hidden}
    if fields.get("matched"):
        _drop_what_matched(_wait(asked), fields)
    if verb in _SPECIAL:
        _SPECIAL[verb](asked, fields)
    return {name: value for name, value in fields.items() if _is_news(name, value, asked)}


def _is_news(name: str, value: Any, asked: Fields) -> bool:
    if name in _STAYS:
        return value is not None
    return value not in (None, "") and value is not False and value != _USUAL.get(name) and value != asked.get(name)


def _wait(asked: Fields) -> Any:
    """The condition of a call: a text, or an object with one key."""
    wait = asked.get("wait_for", asked.get("match"))
    return wait["match"] if isinstance(wait, dict) and "match" in wait else wait


def _drop_what_matched(wait: Any, fields: Fields) -> None:
    """Drops fields that the condition implies: the reason of a single condition, and the match of a literal text."""
    kinds = wait.keys() if isinstance(wait, dict) else ()
    if "any" not in kinds and "all" not in kinds:
        fields.pop("reason", None)
    if fields.get("match_text") == (wait["text"] if "text" in kinds else wait):
        del fields["match_text"]


# the verbs whose answers have another form


def _screen(asked: Fields, fields: Fields) -> None:
    """`cursor` as row and column, where it is not drawn into the text and not simply at its end."""
    cursor = fields.pop("cursor")
    text = fields.get("text")
    at_end = text is not None and not fields.get("alt_screen") and cursor["row"] >= text.count("\n")
    if cursor["visible"] and not at_end and not asked.get("cursor"):
        fields["cursor"] = {"row": cursor["row"], "col": cursor["col"]}
    if text is not None and "region" not in asked:
        fields["text"] = without_filler(text)
    runs = fields.get("runs") or []
    while runs and not runs[-1]:
        runs.pop()


def _record(asked: Fields, record: Fields) -> Fields:
    """A command's record. `running` is added, because an empty `done_because` is left out."""
    shown = {name: value for name, value in record.items() if name not in _NOT_RECORDED}
    shown["running"] = record["done_because"] is None
    return {name: value for name, value in shown.items() if _is_news(name, value, asked)}


def _read_block(asked: Fields, fields: Fields) -> None:
    fields["block"] = _record(asked, fields["block"])


def _blocks(_: Fields, fields: Fields) -> None:
    fields["blocks"] = [_record({}, each) for each in fields["blocks"]]


def _read_raw(_: Fields, fields: Fields) -> None:
    """The bytes as base64, only if the text has lost some of them."""
    if "\ufffd" not in fields["data_utf8_lossy"]:
        del fields["data_b64"]


_SPECIAL: dict[str, Callable[[Fields, Fields], None]] = {
    "read_screen": _screen,
    "read_block": _read_block,
    "blocks": _blocks,
    "read_raw": _read_raw,
}


# the schema


_CURSOR = {"type": "object", "properties": {"row": {"type": "integer"}, "col": {"type": "integer"}}}


def shown(verb: str, schema: Schema) -> Schema:
    """The schema of a result that `lean` has filtered: without fields that are never shown, and with no field
    required.
    """
    properties = _without(schema["properties"], _NEVER | _NOT_SHOWN.get(verb, frozenset()))
    for name in ("block", "blocks"):
        if name in properties:
            record = properties[name].get("items", properties[name])
            record["properties"] = {**_without(record["properties"], _NOT_RECORDED), "running": {"type": "boolean"}}
            del record["required"]
    if verb == "read_screen":
        properties["cursor"] = _CURSOR
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _without(properties: Schema, hidden: frozenset[str]) -> Schema:
    return {name: each for name, each in properties.items() if name not in hidden}

"""A render spec and a call → a presentation: templates filled in, conditions decided, unknown blocks replaced.

An unknown block is replaced by its own `fallback`, else by that of the block around it, else the whole spec is skipped
and the next link of the chain is used.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from vantage.events import Json
from vantage.text.spans import Line, Span
from vantage.timeline import row as rows
from vantage.timeline.calls import ToolCall
from vantage.timeline.patch import parse_patch
from vantage.timeline.specs import model
from vantage.timeline.specs.filters import is_empty, text_value
from vantage.timeline.specs.scope import MAX_ITEMS, Resolver, Scope, UnsupportedError
from vantage.timeline.tools import Presentation, error_blocks

_CUTS: dict[str, str] = {"truncateTail": "tail", "truncateMiddle": "middle"}


def resolve(spec: model.RenderSpec, call: ToolCall) -> tuple[Presentation, list[str]]:
    """The call as its spec describes it, and notes on missing or cut parts. Raises `UnsupportedError`."""
    scope = Scope.of_call(call)
    resolver = Resolver(scope)
    collapsed = spec.collapsed
    title: Line = [Span(_one_line(resolver.text(collapsed.title)) or call.tool)]
    trailing = _one_line(resolver.text(collapsed.trailing))
    blocks: list[rows.Block] = []
    if spec.expanded is not None:
        scope.source = spec.expanded.source
        blocks = _blocks(spec.expanded.blocks, resolver, None)
    shown = Presentation(
        title,
        [*blocks, *error_blocks(call)],
        icon=collapsed.icon or "dot",
        icon_color=collapsed.icon_color or "",
        trailing=trailing,
        cut_title=_CUTS[collapsed.title_line_break],
    )
    return shown, resolver.notes


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "\n" in text else text.strip()


_Fallback = model.BlockSpec | str | None


def _blocks(specs: list[model.BlockSpec], resolver: Resolver, around: _Fallback) -> list[rows.Block]:
    out: list[rows.Block] = []
    for spec in specs:
        out += _block(spec, resolver, around)
    return out


def _block(spec: model.BlockSpec, resolver: Resolver, around: _Fallback) -> list[rows.Block]:
    """A block, or its fallback; nothing when its condition does not hold."""
    fallback = spec.fallback if spec.fallback is not None else around
    try:
        if not _holds(spec.when, resolver):
            return []
        drawn = _DRAW[type(spec)](spec, resolver, fallback)
    except UnsupportedError as error:
        if fallback is None:
            raise
        resolver.note(f"{error}: its fallback is shown")
        return [] if isinstance(fallback, str) else _block(fallback, resolver, None)
    return _dressed(drawn, spec, resolver)


def _dressed(drawn: list[rows.Block], spec: model.BlockSpec, resolver: Resolver) -> list[rows.Block]:
    """The drawn blocks with label, actions and requirements; `+N more` goes where the list goes."""
    if not drawn or not (spec.accessibility or spec.actions or spec.requires):
        return drawn
    block = drawn[0] if len(drawn) == 1 else rows.SectionBlock("", drawn)
    instead: rows.Block | None = None
    if spec.requires and isinstance(spec.fallback, msgspec.Struct):
        found = _block(spec.fallback, resolver, None)
        instead = found[0] if len(found) == 1 else rows.SectionBlock("", found) if found else None
    dressed = msgspec.structs.replace(
        block,
        spoken=resolver.text(spec.accessibility.label) if spec.accessibility else "",
        actions=[
            rows.Action(action.type, resolver.text(action.value), resolver.text(action.label))
            for action in spec.actions
        ],
        requires=list(spec.requires),
        fallback=instead,
    )
    return [dressed]


def _holds(when: str | model.When | None, resolver: Resolver) -> bool:
    if when is None:
        return True
    with resolver.unnoted():  # that something is not there is what conditions are for
        value = resolver.value(when if isinstance(when, str) else f"{{{{{when.path}}}}}")
    if isinstance(when, str):
        return _truth(value)
    if when.eq is not msgspec.UNSET:
        return bool(value == when.eq)
    if when.ne is not msgspec.UNSET:
        return bool(value != when.ne)
    return _truth(value)


def _truth(value: Json) -> bool:
    """Null, false, zero, and empty values are false; so are the words for them, as text."""
    return not is_empty(value) and value not in (False, 0, "false", "0", "null")


Drawn = list[rows.Block]


def _text(spec: model.TextSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    content = resolver.text(spec.content)
    return [rows.TextBlock(content, spec.style)] if content.strip() else []


def _markdown(spec: model.MarkdownSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    content = resolver.text(spec.content)
    return [rows.MarkdownBlock(content)] if content.strip() else []


def _code(spec: model.CodeSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    content = resolver.text(spec.content).rstrip("\n")
    start = spec.start_line if not isinstance(spec.start_line, str) else _whole(resolver.value(spec.start_line))
    return [rows.CodeBlock(content, resolver.text(spec.language), start)] if content.strip() else []


def _whole(value: Json) -> int | None:
    text = text_value(value)
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _key_value(spec: model.KeyValueSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    pairs = [(resolver.text(pair.key), resolver.text(pair.value)) for pair in spec.pairs]
    shown = [(key, value) for key, value in pairs if value.strip()]
    return [rows.KeyValueBlock(shown)] if shown else []


def _badges(spec: model.BadgesSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    value = resolver.value(spec.items)
    items = value if isinstance(value, list) else text_value(value).split(",")
    shown = [resolver.cut(text) for item in resolver.take(items, MAX_ITEMS) if (text := text_value(item).strip())]
    if not shown:
        return []
    return [rows.BadgesBlock(shown, spec.color), *_more(len(items) - MAX_ITEMS)]


def _more(count: int) -> Drawn:
    return [rows.TextBlock(f"+{count} more", "dim")] if count > 0 else []


def _items(template: str, resolver: Resolver) -> list[Json]:
    value = resolver.value(template)
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def _field(item: Json, name: str | None) -> str:
    if not name:
        return ""
    return text_value(item.get(name)) if isinstance(item, dict) else ""


def _list(spec: model.ListSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    items = _items(spec.items, resolver)
    limit = min(spec.max_items if spec.max_items is not None else MAX_ITEMS, MAX_ITEMS)
    shown = [
        rows.ListItem(
            resolver.cut(_field(item, spec.title_field) if isinstance(item, dict) else text_value(item)),
            resolver.cut(_field(item, spec.status_field)),
            resolver.cut(_field(item, spec.subtitle_field)),
        )
        for item in resolver.take(items, limit)
    ]
    return [*([rows.ListBlock(shown)] if shown else []), *_more(len(items) - limit)]


def _ansi(spec: model.AnsiSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    content = resolver.text(spec.content)
    return [rows.AnsiBlock(content)] if content.strip() else []


def _diff(spec: model.DiffSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    content = resolver.text(spec.content)
    files = parse_patch(content) if content.strip() else None
    if files is None:
        return [rows.OutputBlock(content, None)] if content.strip() else []
    return [rows.DiffBlock(files)]


def _table(spec: model.TableSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    items = _items(spec.items, resolver)
    first = next((item for item in items if isinstance(item, dict)), {})
    columns = spec.columns or [model.Column(field=str(name)) for name in list(first)[:64]]
    table = [
        [resolver.cut(_field(item, column.field)) for column in columns]
        if isinstance(item, dict)
        else [resolver.cut(text_value(cell)) for cell in (item if isinstance(item, list) else [item])][:64]
        for item in resolver.take(items, MAX_ITEMS)
    ]
    if not table:
        return []
    header = [column.title if column.title is not None else column.field for column in columns]
    return [rows.TableBlock(header, table), *_more(len(items) - MAX_ITEMS)]


def _progress(spec: model.ProgressSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    value = _number(resolver.value(spec.value))
    if value is None:
        return []
    total = _number(resolver.value(spec.total)) if spec.total else None
    share = value / total if total else value
    return [rows.ProgressBlock(min(max(share, 0.0), 1.0), resolver.text(spec.label))]


def _number(value: Json) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and abs(number) < 1e300 else None


def _image(spec: model.ImageSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    source = resolver.text(spec.source).strip()
    return [rows.ImageBlock(source, resolver.text(spec.alt))] if source else []


def _terminal(spec: model.TerminalSpec, resolver: Resolver, _around: _Fallback) -> Drawn:
    block_id = resolver.text(spec.block_id).strip()
    return [rows.TerminalBlock(block_id)] if block_id else []


def _section(spec: model.SectionSpec, resolver: Resolver, around: _Fallback) -> Drawn:
    inner = _blocks(spec.blocks, resolver, around)
    return [rows.SectionBlock(_one_line(resolver.text(spec.title)), inner)] if inner else []


def _unknown(spec: model.UnknownSpec, _resolver: Resolver, _around: _Fallback) -> Drawn:
    raise UnsupportedError(f"there is no block type {spec.name!r}")


_DRAW: dict[type, Callable[[Any, Resolver, _Fallback], Drawn]] = {
    model.TextSpec: _text,
    model.MarkdownSpec: _markdown,
    model.CodeSpec: _code,
    model.KeyValueSpec: _key_value,
    model.BadgesSpec: _badges,
    model.ListSpec: _list,
    model.AnsiSpec: _ansi,
    model.DiffSpec: _diff,
    model.TableSpec: _table,
    model.ProgressSpec: _progress,
    model.ImageSpec: _image,
    model.TerminalSpec: _terminal,
    model.SectionSpec: _section,
    model.UnknownSpec: _unknown,
}

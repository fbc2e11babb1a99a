"""Vantage: the terminal and the display of an AI agent.

The public names. Each is loaded when it is first used, so importing one of them loads only what that one needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vantage.client.async_server import AsyncConversation, AsyncServer, connect_async
    from vantage.client.server import Conversation, Server, connect
    from vantage.client.terminal import open_terminal
    from vantage.events import decode_event, encode_event
    from vantage.formatter import MIN_TERMINAL_WIDTH, Formatter, FormatterConfig
    from vantage.presentation import PresentationContext, profile
    from vantage.surfaces import render
    from vantage.terminal.screen.screen import Screen
    from vantage.timeline.fold import Timeline
    from vantage.timeline.specs.model import RenderSpec
    from vantage.timeline.specs.scope import resolve_template
    from vantage.timeline.tools.registry import ToolRegistry

__version__ = "0.1.0"

_PLACES = {
    "AsyncConversation": "vantage.client.async_server",
    "AsyncServer": "vantage.client.async_server",
    "Conversation": "vantage.client.server",
    "Formatter": "vantage.formatter",
    "FormatterConfig": "vantage.formatter",
    "MIN_TERMINAL_WIDTH": "vantage.formatter",
    "PresentationContext": "vantage.presentation",
    "RenderSpec": "vantage.timeline.specs.model",
    "Screen": "vantage.terminal.screen.screen",
    "Server": "vantage.client.server",
    "Timeline": "vantage.timeline.fold",
    "ToolRegistry": "vantage.timeline.tools.registry",
    "connect": "vantage.client.server",
    "connect_async": "vantage.client.async_server",
    "decode_event": "vantage.events",
    "encode_event": "vantage.events",
    "open_terminal": "vantage.client.terminal",
    "profile": "vantage.presentation",
    "render": "vantage.surfaces",
    "resolve_template": "vantage.timeline.specs.scope",
}

__all__ = [
    "MIN_TERMINAL_WIDTH",
    "AsyncConversation",
    "AsyncServer",
    "Conversation",
    "Formatter",
    "FormatterConfig",
    "PresentationContext",
    "RenderSpec",
    "Screen",
    "Server",
    "Timeline",
    "ToolRegistry",
    "connect",
    "connect_async",
    "decode_event",
    "encode_event",
    "open_terminal",
    "profile",
    "render",
    "resolve_template",
]


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'vantage' has no attribute {name!r}")
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})

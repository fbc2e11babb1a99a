"""The tools that a model sees: names, descriptions and schemas, made from the table of verbs, without the SDK.

A description tells a model that has never seen these tools what the tool does, when to use which, and what to call
next. The core list has a budget of tokens.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from vantage.conversation.verbs.conversation.displays import Instructions, Text
from vantage.conversation.verbs.conversation.events import Append, Appended
from vantage.conversation.verbs.table import TERMINAL_VERBS
from vantage.conversation.verbs.terminal.params import DEFAULT_TIMEOUT_MS
from vantage.conversation.verbs.verb import Result
from vantage.server.mcp.asking import REQUEST as ASK
from vantage.server.mcp.asking import Asked, AskPerson
from vantage.server.mcp.lean import shown

WAIT_S = 45.0
"""The longest wait of one call, also when `timeout_ms` is longer: clients give up after a minute."""

Set = Literal["core", "all"]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    request: str
    """The verb that the conversation's owner is asked for."""
    title: str
    description: str
    takes: dict[str, Any]
    returns: dict[str, Any]
    reads: bool
    """Allowed with a read-only token."""
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool
    """It can do what a shell can do."""


CORE = (
    "pty_exec_block",
    "pty_exec_interactive",
    "pty_send",
    "pty_keys",
    "pty_wait_for",
    "pty_read_screen",
    "pty_status",
    "pty_end_session",
    "pty_read_block",
    "ask_person",
)

INSTRUCTIONS = """\
A real terminal that keeps its state (cwd, variables, jobs) between calls, and that people can watch.
- Commands that end by themselves: pty_exec_block. Output and exit code come back; when running is true, it goes on.
- Programs to talk to (REPL, debugger, installer, ssh, vim): pty_exec_interactive, then pty_send or pty_keys, each \
with wait_for, the text you expect next: one turn is one call, and the answer has what was printed.
- Never sleep or poll: a wait returns the moment a text, the shell's PROMPT, silence or a screen is there. When \
it times out nothing is lost: pty_wait_for goes on from the cursor it returned.
- Answers leave out what is false, null, empty or what you said. A note comes only with something to react to.
- Not sure what is going on: pty_read_screen (what a person would see) and pty_status.
- Both return early with awaiting (secret, line, key) when the program waits for your input.
- Passwords: pty_send with secret=true, only while awaiting_secret is true.
Errors say which tool to call instead."""


class _Words(NamedTuple):
    title: str
    description: str


_WORDS: dict[str, _Words] = {
    "exec_block": _Words(
        "Run a command",
        "Run a shell command in a persistent terminal (cd, exports and jobs stay) and return its output and exit_code. "
        "For commands that end by themselves; programs that want input: pty_exec_interactive. If it has not ended when "
        "the wait is over, or asks something (awaiting), running is true and output is what it printed so far: answer "
        'with pty_send, go on with pty_wait_for "PROMPT", or stop it with pty_end_session. A server: wait_for what it '
        "prints once it is up.",
    ),
    "exec_interactive": _Words(
        "Start an interactive program",
        "Start a program to talk to: REPL, debugger, editor, TUI, installer, ssh. Give wait_for its first prompt; then "
        "each turn is one call: pty_send or pty_keys with wait_for. Over when the program quits, or by "
        "pty_end_session.",
    ),
    "send": _Words(
        "Type text",
        "Type text into what runs, and give wait_for: the answer has the reaction. Enter is not added: end data with "
        "\\n to press it. Answers a password prompt only with secret=true. For arrows, Ctrl, Escape: pty_keys.",
    ),
    "keys": _Words(
        "Press keys",
        'Press keys by name, in order: ["Escape", ":", "w", "q", "Enter"], ["Down*3", "Enter"], ["C-c"] to interrupt; '
        "wait_for as in pty_send. For text use pty_send. A wrong name is an error and nothing is pressed.",
    ),
    "ctrl_c": _Words(
        "Interrupt", "Press Ctrl-C so that it gets through, at a password prompt and past unread input too."
    ),
    "ctrl_d": _Words("End of input", "Press Ctrl-D: ends the input of a program that reads, leaves a shell or a REPL."),
    "enter": _Words("Press Enter", "Press Enter in what runs. pty_wait_for has the reaction; pty_send does both."),
    "mouse": _Words(
        "Click",
        "Click, scroll or move the mouse in a program that asked for it (htop, mc, a Textual app): on a visible text, "
        "or at row and col.",
    ),
    "wait_for": _Words(
        "Wait for output",
        "Wait until something happens, instead of sleeping. match is a text that will be printed, "
        '"PROMPT" (the command is over, the shell is ready), "EOF" (the interactive program has ended) or a condition: '
        '{"regex": "[0-9]+ passed"}, {"screen": "Save?"} (visible now), {"screen_gone": "Loading"}, {"quiet_ms": 500} '
        '(silence, when you do not know what will come), {"secret_prompt": true}, {"title": "..."}, {"foreground": '
        '"vim"}, {"any": [...]}, {"all": [...]}. Looks from where the last call ended, so nothing is missed. tail has '
        "what is new, or screen in a full-screen program. Also returns when the program waits for input: awaiting says "
        f"for what, prompt has the question. One call waits {WAIT_S:.0f} s at most; if matched is false, call again "
        "with from_cursor=cursor.",
    ),
    "status": _Words(
        "Terminal status",
        "What the terminal does: mode (idle: ready for pty_exec_*; block_running; interactive; exited), foreground "
        "program, cwd, awaiting (it waits for a secret, line or key), awaiting_secret, keyboard (agent: you; else a "
        "person types). When unsure, call this.",
    ),
    "end_session": _Words(
        "End what runs",
        "End what runs, a command too: politely, then harder; how says which way it took. Never answers a question. "
        "Works when C-c does not.",
    ),
    "reset": _Words(
        "Reset the terminal",
        "Last resort: kill everything in the terminal and start a fresh shell. What was printed stays readable.",
    ),
    "resize": _Words("Resize the terminal", "Give the terminal another size; programs draw themselves anew."),
    "read_raw": _Words(
        "Read raw output",
        "The terminal's output byte by byte, escape sequences and all. next_offset goes on. For text, pty_read_spool.",
    ),
    "read_spool": _Words(
        "Read output text",
        "The output as plain text from a cursor on: prompts, echo and everything. The returned cursor goes on.",
    ),
    "read_screen": _Words(
        "Read the screen",
        "What is on the screen now, as a person would see it, as one text. For full-screen programs (vim, htop, "
        "menus), or to see what a program waits for.",
    ),
    "read_screen_deltas": _Words(
        "Read screen changes",
        "How the screen changed, record by record, behind a number of records; the returned cursor goes on.",
    ),
    "screen_status": _Words(
        "Screen status",
        "The screen's size, title and number of changes (cursor, for pty_read_screen_deltas and since).",
    ),
    "read_scrollback": _Words(
        "Read scrollback",
        "Lines that have scrolled off the screen, by number; the last ones when from_line is left out.",
    ),
    "blocks": _Words(
        "List commands", "Commands that ran in this terminal, oldest first: block_id, exit_code and more."
    ),
    "read_block": _Words(
        "Read a command's output",
        "Record and output of a command by its block_id: the rest of a truncated output (part, max_output), only the "
        "lines with a text (search), or what a running one printed so far.",
    ),
    "search": _Words(
        "Search the output", "Lines of all that this terminal printed that have a text, or match a regex."
    ),
}

# verb → field → its description for a model, where the table of verbs says too little or too much
_FIELDS: dict[str, dict[str, str]] = {
    "exec_block": {
        "timeout_ms": f"Wait so long for its end: default {DEFAULT_TIMEOUT_MS}, at most {WAIT_S * 1000:.0f}; "
        "0 returns at once"
    },
    "wait_for": {
        "match": "Text, PROMPT, EOF or a condition",
        "timeout_ms": f"Default {DEFAULT_TIMEOUT_MS}, at most {WAIT_S * 1000:.0f}",
        "from_cursor": "Where to look from: cursor of an earlier result. Default: where the last call ended",
        "max_bytes": "Give up after so much output",
        "regex": "match is a regular expression (RE2)",
    },
    "send": {"data_b64": "Instead of data: bytes in base64"},
    "read_screen": {"at_offset": "Time travel: the screen when raw output had this many bytes"},
    "read_block": {"block_id": "As returned by pty_exec_block or pty_exec_interactive"},
    "blocks": {"after": "Only those after this number: 7 for b7"},
    "append": {
        "events": "Objects with a type: user_message {text}, assistant_text {text}, assistant_reasoning {text}, "
        "tool_start {tool, toolCallId, args}, tool_end {toolCallId, output, isError?}, warning {message}, "
        "error {message}, turn_complete {}"
    },
    "instructions": {
        "additional": "Instructions of your own to put before it",
        "agent": "Id of a sub-agent",
        "explain": "Say which display decided what",
    },
}

_WAIT_FOR = {
    "anyOf": [{"type": "string"}, {"type": "object"}],
    "description": "What should come of it: match of pty_wait_for, or {match, timeout_ms, ...}",
}
_MAX_OUTPUT = "Most characters to return"
_SESSION_ID = "From pty_exec_interactive: refuse if that program no longer runs"
_IDEMPOTENT = frozenset({"end_session", "resize"})
_CLOSED_WORLD = frozenset({"wait_for", "resize", "append"})
_CONVERSATION = {
    "type": "string",
    "description": "Another id is another terminal. Default: your own",
}


def listed(tools: Set, *, reading: bool) -> list[Tool]:
    """The tools of a set; `reading`: only those that a read-only token may call."""
    names: Iterable[str] = CORE if tools == "core" else (*CORE, *(name for name in TOOLS if name not in CORE))
    return [TOOLS[name] for name in names if TOOLS[name].reads or not reading]


def _plain(schema: Any, definitions: dict[str, Any], *, words: bool) -> Any:
    """A schema without references, titles and defaults; without descriptions too unless `words`.

    With `words` it is for input: a field that may be left out need not say that it may be null.
    """
    if isinstance(schema, list):
        return [_plain(each, definitions, words=words) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        said = {"description": schema["description"]} if "description" in schema else {}
        return _plain({**target, **said}, definitions, words=words)
    if words and (members := [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]):
        outer = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**members[0], **outer} if len(members) == 1 else {**outer, "anyOf": members}
    if "prefixItems" in schema:  # a span
        count = len(schema["prefixItems"])
        return {"type": "array", "items": {"type": "integer"}, "minItems": count, "maxItems": count}
    out: dict[str, Any] = {"type": "string"} if "enum" in schema else {}
    for key, value in schema.items():
        if key in ("title", "default") or (key == "required" and not value):
            continue
        if key == "description":
            if words:
                out[key] = value
        elif key == "properties":
            out[key] = {name: _plain(each, definitions, words=words) for name, each in value.items()}
        else:
            out[key] = _plain(value, definitions, words=words)
    return out


def _schema(struct: type[msgspec.Struct], *, words: bool) -> dict[str, Any]:
    whole = msgspec.json.schema(struct)
    definitions = whole["$defs"]
    found: dict[str, Any] = _plain(definitions[whole["$ref"].rpartition("/")[2]], definitions, words=words)
    return found


def _input(request: str, struct: type[msgspec.Struct]) -> dict[str, Any]:
    schema = _schema(struct, words=True)
    schema.pop("description", None)
    properties = schema["properties"]
    if "session_id" in properties:
        properties["session_id"]["description"] = _SESSION_ID
    if "wait_for" in properties:
        properties["wait_for"] = dict(_WAIT_FOR)
        if request != "exec_block":
            del properties["timeout_ms"]  # accepted too; the wait's own stands in `wait_for`
    if "max_output" in properties:
        properties["max_output"]["description"] = _MAX_OUTPUT
    for each in properties.values():
        if each.get("minimum") in (0, 1):
            del each["minimum"]  # that a number is not negative goes without saying
    for name, said in _FIELDS.get(request, {}).items():
        properties[name]["description"] = said
    if request == "keys":
        names = properties["keys"]  # one key as a text is accepted too
        properties["keys"] = {**names["anyOf"][0], "description": names["description"]}
    if request == "end_session":
        properties["session_id"]["description"] = "Only this one"
    if request == "read_screen":
        properties["region"] = {
            "type": "object",
            "description": "Only this part, all four optional: {row, col, rows, cols}",
        }
    properties["conversation_id"] = dict(_CONVERSATION)
    return schema


_AFTER_A_WAIT: dict[str, dict[str, Any]] = {
    "awaiting_secret": {"type": "boolean"},
    "last_exit_code": {"type": "integer"},
}
"""What is added to the answer of a call that waited."""


def _output(request: str, struct: type[Result]) -> dict[str, Any]:
    schema = shown(request, _schema(struct, words=False))
    properties = schema["properties"]
    properties |= _AFTER_A_WAIT if "matched" in properties else {}
    properties |= {
        "conversation_id": {"type": "string", "description": "Said once, unless the call named it"},
        "note": {"type": "string", "description": "A slip, a question, a failure, and what to call then"},
        "watch": {"type": "string", "description": "Where people can watch this conversation"},
    }
    return schema


def _pty_tool(verb: str) -> Tool:
    known = TERMINAL_VERBS[verb]
    title, description = _WORDS.get(verb, _Words(verb.replace("_", " ").capitalize(), known.summary))
    looks = known.reads or verb == "wait_for"
    return Tool(
        name=f"pty_{verb}",
        request=verb,
        title=title,
        description=description,
        takes=_input(verb, known.params),
        returns=_output(verb, known.result),
        reads=known.reads,
        read_only=looks,
        destructive=not looks and verb != "resize",
        idempotent=looks or verb in _IDEMPOTENT,
        open_world=not looks and verb not in _CLOSED_WORLD,
    )


TOOLS: dict[str, Tool] = {
    **{f"pty_{verb}": _pty_tool(verb) for verb in TERMINAL_VERBS},
    "ask_person": Tool(
        name="ask_person",
        request=ASK,
        title="Ask a person",
        description="Ask your user, also when they are away: a decision, or a fact only they have. pending: no answer "
        "yet; call again with request_id, or go on. No answer is never a yes.",
        takes=_input(ASK, AskPerson),
        returns=_output(ASK, Asked),
        reads=False,
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=False,
    ),
    "timeline_emit": Tool(
        name="timeline_emit",
        request="append",
        title="Tell the people who watch",
        description="Show something in the timeline that people watch: a message, a tool call of yours, a warning. "
        "What happens in the terminal is shown already.",
        takes=_input("append", Append),
        returns=_output("append", Appended),
        reads=False,
        read_only=False,
        destructive=False,
        idempotent=False,
        open_world=False,
    ),
    "display_context": Tool(
        name="display_context",
        request="instructions",
        title="How people read you",
        description="How to format answers for the displays that people read this conversation on: width, tables, "
        "code, images. Call it before a long answer; follow what text says.",
        takes=_input("instructions", Instructions),
        returns=_output("instructions", Text),
        reads=True,
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
    ),
}

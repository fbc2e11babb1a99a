"""A model that says what it is told to: an HTTP endpoint on loopback in the four dialects that agents speak.

It is stateless: what has been said is counted in the request. A conversation is found by a word in its first user
message, so that a sub-agent has a script of its own; every other request (a title, a summary) gets a word.
A script is a list of steps, or a program that makes one call a step and is told what came of it.
"""

import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import NamedTuple, Self


class Say(NamedTuple):
    text: str


class Think(NamedTuple):
    text: str


class Call(NamedTuple):
    tool: str
    args: dict | str
    """A text is the input of a freeform tool."""


class Refuse(NamedTuple):
    """The request fails, with this status."""

    status: int
    message: str


Step = list[Say | Think | Call | Refuse]
Program = Callable[[], Generator[Step, str, Step]]
"""Yields steps and gets the results of their calls, as the agent told them; returns the last step. It is run from its
start for every request, so it must always say the same to the same results."""
Scripts = dict[str, list[Step] | Program]
"""A word in the first user message → the steps of that conversation."""


class Asked(NamedTuple):
    """What a request says of the conversation so far."""

    said: str
    """The first user message of the conversation; empty for an aside."""
    number: int
    """Steps that were taken."""
    results: list[str]
    """Results of the calls, as the model is told them."""


_ASIDE: Step = [Say("Prices")]


def pieces(text: str) -> list[str]:
    """A text as it streams: in a few pieces."""
    size = max(len(text) // 3, 1)
    return [text[start : start + size] for start in range(0, len(text), size)]


def _sse(events: Iterator[dict], named: bool) -> str:
    lines = []
    for event in events:
        lines += [f"event: {event['type']}"] if named else []
        lines += [f"data: {json.dumps(event)}", ""]
    return "\n".join([*lines, ""])


# Messages: Claude Code, pi


def _messages(step: Step, name: str) -> Iterator[dict]:
    usage = {"input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 0}
    message = {"id": f"msg_{name}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "usage": {**usage, "output_tokens": 1}}}
    for index, part in enumerate(step):
        match part:
            case Say(text):
                block, deltas = (
                    {"type": "text", "text": ""},
                    [{"type": "text_delta", "text": one} for one in pieces(text)],
                )
            case Think(text):
                block = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": one} for one in pieces(text)]
                deltas.append({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})
            case Call(tool, args):
                block = {"type": "tool_use", "id": f"toolu_{name}_{index}", "name": tool, "input": {}}
                deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces(json.dumps(args))]
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if any(isinstance(part, Call) for part in step) else "end_turn"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    yield {"type": "message_stop"}


def _text(content) -> str:
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def _in_messages(body: dict) -> Asked:
    said = body["messages"]
    first = next((_text(one["content"]) for one in said if one["role"] == "user"), "")
    parts = [part for one in said if isinstance(one["content"], list) for part in one["content"]]
    results = [_text(part.get("content")) for part in parts if part.get("type") == "tool_result"]
    results += [_text(one["content"]) for one in said if one["role"] == "tool"]
    return Asked(first if body.get("tools") else "", sum(one["role"] == "assistant" for one in said), results)


# Responses: Codex


def _responses(step: Step, name: str) -> Iterator[dict]:
    response = {"id": f"resp_{name}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    for index, part in enumerate(step):
        part_id = f"{name}_{index}"
        match part:
            case Say(text):
                item = {"type": "message", "role": "assistant", "id": f"msg_{part_id}"}
                item["content"] = [{"type": "output_text", "text": text, "annotations": []}]
            case Think(text):
                item = {"type": "reasoning", "id": f"rs_{part_id}", "summary": [{"type": "summary_text", "text": text}]}
            case Call("web_search", dict(args)):
                item = {"type": "web_search_call", "id": f"ws_{part_id}", "status": "completed", "action": args}
            case Call(tool, str(text)):
                item = {"type": "custom_tool_call", "id": f"ctc_{part_id}", "call_id": f"call_{part_id}", "name": tool}
                item["input"] = text
            case Call(tool, args):
                namespace, _, bare = tool.rpartition("/")
                item = {"type": "function_call", "id": f"fc_{part_id}", "call_id": f"call_{part_id}", "name": bare}
                item |= {"namespace": namespace} if namespace else {}
                item["arguments"] = json.dumps(args)
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        if isinstance(part, Say):
            for one in pieces(part.text):
                yield {"type": "response.output_text.delta", "item_id": item["id"], "output_index": index, "delta": one}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage = {"input_tokens": 1100, "input_tokens_details": {"cached_tokens": 1000}, "output_tokens": 20}
    usage |= {"output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 1120}
    yield {"type": "response.completed", "response": {**response, "status": "completed", "usage": usage}}


def _in_responses(body: dict) -> Asked:
    """A step is what the model said between two things that it was told."""
    said = [_text(one.get("content")) for one in body["input"] if one.get("role") == "user"]
    results = [_text(one["output"]) for one in body["input"] if str(one.get("type")).endswith("_output")]
    own = [_is_the_models(one) for one in body["input"]]
    return Asked(" ".join(said), sum(now and not before for before, now in pairwise([False, *own])), results)


def _is_the_models(item: dict) -> bool:
    kind = str(item.get("type"))
    return item.get("role") == "assistant" or kind == "reasoning" or kind.endswith("_call")


# generateContent: Gemini CLI


def _gemini(step: Step, name: str) -> Iterator[dict]:
    parts: list[dict] = []
    for part in step:
        match part:
            case Say(text):
                parts += [{"text": one} for one in pieces(text)]
            case Think(text):
                parts.append({"text": text, "thought": True})
            case Call(tool, args):
                parts.append({"functionCall": {"name": tool, "args": args, "id": f"call_{name}_{len(parts)}"}})
    usage = {"promptTokenCount": 1100, "candidatesTokenCount": 20, "cachedContentTokenCount": 1000}
    usage["totalTokenCount"] = 1120
    for index, part in enumerate(parts):
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        if index == len(parts) - 1:
            candidate["finishReason"] = "STOP"
        yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


def _in_gemini(body: dict) -> Asked:
    said = [_text(one["parts"]) for one in body["contents"] if one.get("role") == "user"]
    parts = [part for one in body["contents"] for part in one["parts"] if "functionResponse" in part]
    results = [json.dumps(part["functionResponse"]["response"]) for part in parts]
    number = sum(one.get("role") == "model" for one in body["contents"])
    return Asked(" ".join(said) if body.get("tools") else "", number, results)


# Chat Completions: opencode, pi


def _chat(step: Step, name: str) -> Iterator[dict]:
    chunk = {"id": f"chat_{name}", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    calls = 0
    for part in step:
        match part:
            case Say(text):
                deltas = [{"content": one} for one in pieces(text)]
            case Think(text):
                deltas = [{"reasoning_content": one} for one in pieces(text)]
            case Call(tool, args):
                function = {"name": tool, "arguments": json.dumps(args)}
                call = {"index": calls, "id": f"call_{name}_{calls}", "type": "function", "function": function}
                deltas, calls = [{"tool_calls": [call]}], calls + 1
        for delta in deltas:
            yield {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}]}
    reason = "tool_calls" if calls else "stop"
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"prompt_tokens": 1100, "completion_tokens": 20, "total_tokens": 1120}
    yield {**chunk, "choices": [], "usage": {**usage, "prompt_tokens_details": {"cached_tokens": 1000}}}


_DIALECTS = (
    ("/messages", _in_messages, _messages, True),
    ("/responses", _in_responses, _responses, True),
    (":streamGenerateContent", _in_gemini, _gemini, False),
    ("/chat/completions", _in_messages, _chat, False),
)
"""How a path ends or begins its query, how its requests are read and its answers written, whether events have names."""


def _step(scripts: Scripts, asked: Asked) -> tuple[str, Step]:
    """What comes next in the conversation, and a name for it that nothing else has."""
    for index, (word, script) in enumerate(scripts.items()):
        if word in asked.said:
            steps = script if isinstance(script, list) else _played(script, asked.results)
            return f"{index}{asked.number:02}", steps[min(asked.number, len(steps) - 1)]
    return "aside", _ASIDE


def _played(program: Program, results: list[str]) -> list[Step]:
    """The steps that a program takes as far as its calls were answered."""
    running = program()
    steps = [next(running)]
    for result in results:
        try:
            steps.append(running.send(result))
        except StopIteration as end:
            return [*steps, end.value]
    return steps


class ScriptedModel:
    """The endpoint, while the context lasts: `url` is where it is, `requests` what it was asked."""

    def __init__(self, scripts: Scripts, listener: socket.socket | None = None) -> None:
        self.requests: list[tuple[str, dict]] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                path = self.path.partition("?")[0]
                requests.append((path, body))
                for ending, read, write, named in _DIALECTS:
                    if path.endswith(ending):
                        try:
                            name, step = _step(scripts, read(body))
                        except AssertionError as error:  # a script that expected something else; there is no retry
                            name, step = "lost", [Refuse(400, f"the script is lost: {error}")]
                        if isinstance(step[0], Refuse):
                            error = {"type": "invalid_request_error", "message": step[0].message}
                            return self._answer("application/json", json.dumps({"error": error}), step[0].status)
                        return self._answer("text/event-stream", _sse(write(step, name), named))
                if path.endswith(":generateContent"):
                    return self._answer("application/json", json.dumps(next(_gemini(_ASIDE, "aside"))))
                return self._answer("application/json", '{"input_tokens": 100}')

            def do_GET(self) -> None:
                self._answer("application/json", '{"data": [], "models": []}')

            def _answer(self, kind: str, text: str, status: int = 200) -> None:
                data = text.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self._server.socket.close()
        self._server.socket = listener or socket.create_server(("127.0.0.1", 0))
        self._server.server_address = self._server.socket.getsockname()
        self._server.server_port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

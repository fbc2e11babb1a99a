"""Commands: `Running go test .`, `Ran go test .` with the first lines of what it printed."""

import re
import shlex
from collections.abc import Sequence

from vantage.events import Json
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import Block, OutputBlock, head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter

_SHELLS = frozenset({"bash", "sh", "zsh", "fish", "dash"})
_RUN = frozenset({"-c", "-lc", "-ic", "-lic", "-cl"})
_KEY_LINE = re.compile(r"[A-Z][\w /-]{0,40}:(?: .*)?|Process .*")
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code|Process State: exit status)\s+(-?\d+)\s*$", re.MULTILINE)


def command_line(argv: Sequence[str]) -> str:
    """An argument list in the form in which a person would type it; `bash -lc 'x y'` is `x y`."""
    if len(argv) == 3 and argv[0].rsplit("/", 1)[-1] in _SHELLS and argv[1] in _RUN:
        return argv[2]
    return shlex.join(argv)


def command_of(command: Json) -> str:
    if isinstance(command, list):
        return command_line([part if isinstance(part, str) else str(part) for part in command])
    if not isinstance(command, str):
        return ""
    start = command.split(" ", 2)
    if len(start) == 3 and start[0].rsplit("/", 1)[-1] in _SHELLS and start[1] in _RUN:
        try:
            return command_line(shlex.split(command))
        except ValueError:
            return command
    return command


def split_preamble(output: str) -> tuple[str, str]:
    """A tool's report on a run, up to a line `Output:`, and the command's own output."""
    if not output.startswith("Output:") and "\nOutput:" not in output[:8192]:
        return "", output
    lines = output.split("\n")
    for index, line in enumerate(lines[:100]):
        if line.rstrip() == "Output:":
            says = lines[:index]
            if not says or (_KEY_LINE.fullmatch(says[0].rstrip()) and _KEY_LINE.fullmatch(says[-1].rstrip())):
                return "\n".join(says), "\n".join(lines[index + 1 :])
            break
    return "", output


def _exit_code(call: ToolCall, preamble: str) -> int | None:
    for place in (call.details, call.data):
        if isinstance(place, dict):
            inner = place.get("metadata")
            for spot in (place, inner if isinstance(inner, dict) else {}):
                for key in ("exit_code", "exitCode", "exit"):
                    if isinstance(spot.get(key), int):
                        return int(spot[key])
    match = _EXIT.search(preamble)
    return int(match[1]) if match else None


def _printed(call: ToolCall) -> str:
    """The command's own output, from the field in which the tool has it."""
    if isinstance(call.data, dict) and not call.unpacked:
        if isinstance(call.data.get("output"), str):
            return str(call.data["output"])
        streams = [call.data.get("stdout"), call.data.get("stderr")]
        if any(isinstance(stream, str) for stream in streams):
            return "\n".join(stream.rstrip("\n") for stream in streams if isinstance(stream, str) and stream)
    return call.output


@presenter(
    "shell",
    "bash",
    "exec",
    "exec_command",
    "run_shell_command",
    "execute_bash",
    "local_shell",
    "run_command",
    "shell_command",
    "container.exec",
    "execute_command",
    "run_terminal_cmd",
    "run_in_terminal",
    "powershell",
    "terminal",
)
def shell(call: ToolCall) -> Presentation | None:
    if not fits(call, {"command": (str, list), "cmd": (str, list)}):
        return None
    command = command_of(call.args.get("command", call.args.get("cmd")))
    preamble, output = split_preamble(_printed(call))
    code = _exit_code(call, preamble)
    blocks: list[Block] = error_blocks(call) or ([OutputBlock(output)] if output.strip() else [])
    return Presentation(
        head(call.verb("Run", "Running", "Ran"), command),
        blocks,
        status="error" if call.done and code else None,
    )


_TAG = re.compile(r"\A\s*<([\w-]+)((?:\s[^<>]*)?)>\n?(.*?)\n?(?:</\1>)?\s*\Z", re.DOTALL)
_BAD_TAG = re.compile(
    r"""\b(?:ok|success|passed)\s*=\s*["']?(?:false|0)\b|\b(?:status|result)\s*=\s*["']?(?:fail|error)"""
)
_FAILED = re.compile(r"^(?:FAIL\b|--- FAIL|not ok\b|=+ .*\b[1-9]\d* failed|\d+ failed)", re.MULTILINE)


@presenter("run_tests")
def run_tests(call: ToolCall) -> Presentation | None:
    """Tests: the bullet takes its colour from their outcome, and the tag around the output is removed."""
    if not fits(call, {"path": str}, test_name=str, verbose=bool):
        return None
    flags = ("-v" if call.args.get("verbose") else "", f"-run {name}" if (name := call.text("test_name")) else "")
    output, bad = call.output, False
    if match := _TAG.match(output):
        output, bad = match[3], _BAD_TAG.search(match[2]) is not None
    bad = bad or bool(_exit_code(call, "")) or _FAILED.search(output) is not None
    return Presentation(
        head(call.verb("Run Tests", "Running Tests", "Ran Tests"), call.text("path"), *flags),
        error_blocks(call) or ([OutputBlock(output)] if output.strip() else []),
        status="error" if call.done and bad else None,
    )


PRESENTERS = (shell, run_tests)

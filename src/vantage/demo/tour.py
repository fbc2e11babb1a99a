"""The tour: every part of Vantage once, in an order that tells a story. Real files, a real shell, real programs."""

import difflib
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from vantage.conversation.bus import Bus
from vantage.demo.agent import ScriptedAgent
from vantage.errors import SecretPrompt

ASKED = "Show me around: how are the services, fix the greeting, and play a round of the guessing game."

SERVICES = """\
Here is how things stand. The table is wide: it is folded to fit wherever you read it.

| Service | Region | Version | Uptime | p50 | p99 | Owner | Note |
|---|---|---|--:|--:|--:|---|---|
| gateway | eu-north-1 | 4.12.0 | 41 d | 3 ms | 21 ms | Ada | canary at 10 % |
| billing | eu-west-2 | 2.7.3 | 12 d | 18 ms | 140 ms | Grace | **slow** since the migration |
| search | us-east-1 | 1.0.0-rc4 | 6 h | 9 ms | 55 ms | Edsger | index being rebuilt |
| mailer | eu-north-1 | 3.3.1 | 97 d | 2 ms | 8 ms | Barbara | – |

`billing` needs a look. First the greeting.
"""

GREETING = '''\
"""Says hello."""


def greeting(name: str) -> str:
    return "Helo, " + name


if __name__ == "__main__":
    print(greeting("world"))
'''
WRONG, RIGHT = '    return "Helo, " + name\n', '    return f"Hello, {name}!"\n'

GAME = """\
#!/usr/bin/env bash
answer=$((RANDOM % 100 + 1))
echo 'I think of a number from 1 to 100.'
while read -r -p 'Your guess: ' guess; do
    if ((guess == answer)); then
        printf '\\e[1;32mCorrect!\\e[0m It was %d.\\n' "$answer"
        exit 0
    elif ((guess < answer)); then
        printf '\\e[33mToo low.\\e[0m\\n'
    else
        printf '\\e[35mToo high.\\e[0m\\n'
    fi
done
exit 1
"""

VAULT = "read -r -s -p 'Vault password: ' word; echo; echo \"unlocked with ${#word} characters\""
PASSWORD = "correct horse"  # noqa: S105 -- of a vault that is not there

DEPLOYMENT = {
    "specVersion": 1,
    "collapsed": {
        "icon": "rocket",
        "iconColor": "purple",
        "title": "Deploy {{args.service}}",
        "trailing": "{{output.state}}",
    },
    "expanded": {
        "blocks": [
            {"type": "progress", "value": "{{output.done}}", "label": "{{output.step}}"},
            {
                "type": "kv",
                "pairs": [
                    {"key": "Version", "value": "{{args.version}}"},
                    {"key": "Region", "value": "{{args.region}}"},
                ],
            },
            {"type": "badges", "items": "{{output.checks}}", "color": "green"},
        ]
    },
}

CLOSING = """\
That was the tour:

- the greeting says `Hello, world!`
- the number was found by halving: never more than **seven** guesses
- what you typed at the password prompt went to the program and nowhere else

Everything is in the log: scroll back, search with `/`, or pull the scrubber under the terminal. Next, your own agent:

```sh
vantage connect claude --write
```
"""


async def play(bus: Bus, conversation_id: str, folder: Path, pace: float = 1.0) -> None:
    """Goes through it. `folder` is where the terminal is; `pace` stretches every pause, 0 leaves them out."""
    agent = ScriptedAgent(bus, conversation_id, pace)
    _prepare(folder)
    await agent.emit("user_message", text=ASKED)
    await agent.pause(0.6)
    await agent.think("**Looking around**")
    await agent.say(SERVICES)
    steps = list(_STEPS)
    for number, (_, step) in enumerate(_STEPS.items()):
        await _plan(agent, steps, number)
        await step(agent, folder)
    await _plan(agent, steps, len(steps))
    await agent.say(CLOSING)
    await agent.emit("turn_complete", finish="stop", usage={"input_tokens": 0, "output_tokens": 0})


def _prepare(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "greeting.py").write_text(GREETING, encoding="utf-8")
    game = folder / "guess"
    game.write_text(GAME, encoding="utf-8")
    game.chmod(0o700)


async def _plan(agent: ScriptedAgent, steps: list[str], done: int) -> None:
    states = [
        "completed" if place < done else "in_progress" if place == done else "pending" for place in range(len(steps))
    ]
    plan = [{"step": step, "status": state} for step, state in zip(steps, states, strict=True)]
    await agent.call("update_plan", {"plan": plan}, takes=0.1, output="")


async def _fix_greeting(agent: ScriptedAgent, folder: Path) -> None:
    await agent.run("cat greeting.py && python3 greeting.py")
    file = folder / "greeting.py"
    file.write_text(GREETING.replace(WRONG, RIGHT), encoding="utf-8")
    edit = {"file_path": "greeting.py", "old_string": WRONG, "new_string": RIGHT}
    await agent.call("Edit", edit, output="The file greeting.py has been updated.", details=_difference())
    await agent.run("python3 greeting.py")


def _difference() -> dict[str, str]:
    """With line numbers, which the edit itself does not know."""
    before, after = GREETING, GREETING.replace(WRONG, RIGHT)
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), "a/greeting.py", "b/greeting.py"
    )
    return {"diff": "".join(lines)}


async def _play_game(agent: ScriptedAgent, _: Path) -> None:
    await agent.say("Now the game. It talks to a terminal, so it gets one.")
    game = await agent.pty("exec_interactive", command="./guess")
    low, high, cursor = 1, 100, game["cursor"]
    while low <= high:
        asked = await agent.pty("wait_for", match="Your guess:", from_cursor=cursor)
        guess = (low + high) // 2
        await agent.pause(0.5)
        await agent.pty("send", data=f"{guess}\r", session_id=game["session_id"])
        said = await agent.pty("wait_for", match="Too low|Too high|Correct!", regex=True, from_cursor=asked["cursor"])
        cursor = said["cursor"]
        if said.get("match_text") == "Correct!" or not said["matched"]:
            break
        low, high = (guess + 1, high) if said["match_text"] == "Too low" else (low, guess - 1)
    await agent.pty("wait_for", match="PROMPT", from_cursor=cursor)


NOTES = """The number is found by halving:
  1 to 100 takes seven guesses at most.
Written by an agent, in a real editor."""


async def _edit_in_vim(agent: ScriptedAgent, _: Path) -> None:
    editor = next((name for name in ("vim", "vi", "nano") if shutil.which(name)), None)
    if editor is None:
        await agent.emit("warning", message="no editor is installed here: this part is left out")
        return
    await agent.say(f"A note, in `{editor}`: full-screen programs are seen as a person sees them.")
    if editor == "nano":
        session = await agent.pty("exec_interactive", command="nano notes.txt")
        await agent.pty("wait_for", match={"screen": "^X"})
        await agent.type_slowly(NOTES)
        await agent.pty("keys", keys=["C-o", "Enter", "C-x"])
    else:
        session = await agent.pty("exec_interactive", command=f"{editor} -u NONE -N notes.txt")
        await agent.pty("wait_for", match={"screen": "[New"})
        await agent.pause(0.5)
        await agent.pty("keys", keys=["i"])
        await agent.type_slowly(NOTES.replace("\n", "\r"))
        await agent.pty("wait_for", match={"screen": "in a real editor."})
        await agent.pause(0.8)
        await agent.pty("keys", keys=["Escape"])
        await agent.pty("send", data=":wq\r")
    waited = await agent.pty("wait_for", match="EOF", session_id=session["session_id"], timeout_ms=5000)
    if not waited["matched"]:
        await agent.pty("end_session", session_id=session["session_id"])
    await agent.run("cat notes.txt")


async def _ask_for_secret(agent: ScriptedAgent, _: Path) -> None:
    session = await agent.pty("exec_interactive", command=VAULT)
    await agent.pty("wait_for", match={"secret_prompt": True})
    try:
        await agent.pty("send", data="a guess\r")
    except SecretPrompt as refused:
        await agent.emit("warning", message=f"{refused.message}. An agent does not type there by accident.")
    await agent.say("A program asks for a password. Type one into the field, or wait: I have one for this vault.")
    wait = max(agent.patience(6), 1)
    # Silence is waited for too: a wait for the text alone would return at once, since the program waits for input.
    person_answers = {"any": [{"text": "unlocked"}, {"quiet_ms": wait}]}
    answered = await agent.pty("wait_for", match=person_answers, timeout_ms=wait)
    if answered["reason"] != "text":
        await agent.pty("send", data=f"{PASSWORD}\r", secret=True, session_id=session["session_id"])
        await agent.pty("wait_for", match="unlocked")
    await agent.pty("wait_for", match="EOF", session_id=session["session_id"])
    await agent.pause(0.6)


async def _deploy(agent: ScriptedAgent, _: Path) -> None:
    states = [
        {"state": "uploading", "done": 0.2, "step": "uploading the image", "checks": []},
        {"state": "starting", "done": 0.5, "step": "starting three instances", "checks": ["image signed"]},
        {"state": "checking", "done": 0.8, "step": "asking for their health", "checks": ["image signed", "started"]},
    ]
    done = {"state": "live", "done": 1, "step": "done", "checks": ["image signed", "started", "healthy"]}
    args = {"service": "billing", "version": "2.7.4", "region": "eu-west-2"}
    await agent.call("deploy", args, takes=3.0, spec=DEPLOYMENT, partial=states, output=done)


async def _review(agent: ScriptedAgent, folder: Path) -> None:
    await agent.emit(
        "tool_start", tool="task", toolCallId="review", args={"description": "Review greeting.py", "agent": "reviewer"}
    )
    with agent.sub_agent("reviewer"):
        await agent.say("One function, one line. I look for the old spelling.")
        text = (folder / "greeting.py").read_text(encoding="utf-8")
        await agent.call("read_file", {"path": "greeting.py"}, output=text)
        verdict = "is still there." if "Helo" in text else "is gone. Approved."
        await agent.say(f"The old spelling {verdict}")
    await agent.emit("tool_end", toolCallId="review", output=f"The old spelling {verdict}")
    await agent.pause(0.5)


_STEPS: dict[str, Callable[[ScriptedAgent, Path], Awaitable[None]]] = {
    "Fix the greeting": _fix_greeting,
    "Play the guessing game": _play_game,
    "Write it down in an editor": _edit_in_vim,
    "Open the vault": _ask_for_secret,
    "Deploy": _deploy,
    "Have it reviewed": _review,
}

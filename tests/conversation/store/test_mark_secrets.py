"""The secret in a shell's marks: no way out of the home shows it, so that no reader of a terminal can forge prompts."""

import json
import shutil
from base64 import b64decode

import pytest

from mcp_clients import over_http, read_only
from socket_client import open_socket
from vantage.conversation.store.conversation_folder import ConversationFolder

FORMATS = ("html", "markdown", "text", "asciicast", "player")
SHELLS = [shell for shell in ("bash", "zsh", "fish", "sh") if shutil.which(shell)]


def secrets_of(server, conversation):
    folder = ConversationFolder(server.home / "conversations" / conversation)
    records = [json.loads(line) for line in folder.journal.read_text().splitlines()]
    return [record["secret"] for record in records if record["t"] == "shell"]


def raw(server, conversation, token, **span):
    answer = server.post(f"/v1/conversations/{conversation}/pty/read_raw", span, token=token)
    assert answer.status == 200, answer.body
    return answer.json


def ways_out(server, conversation, token):
    """Everything that a read-only token may read of a conversation."""
    base = f"/v1/conversations/{conversation}"
    found = {"raw": json.dumps(raw(server, conversation, token))}
    found["bytes"] = b64decode(raw(server, conversation, token)["data_b64"]).decode("utf-8", "replace")
    for format in FORMATS:
        found[format] = server.get(f"{base}/export?format={format}", token=token).body.decode()
    for path in ("", "/events", "/rows?surface=html", "/rows?surface=plain&width=500", "/tools", "/instructions"):
        found[path] = server.get(base + path, token=token).body.decode()
    for verb in ("status", "read_screen", "read_spool", "read_scrollback", "read_screen_deltas", "blocks"):
        fields = {"cursor": 0} if verb == "read_screen_deltas" else {}
        found[verb] = server.post(f"{base}/pty/{verb}", fields, token=token).body.decode()
    for block in json.loads(found["blocks"])["blocks"]:
        fields = {"block_id": block["block_id"], "max_output": 1_000_000}
        found[block["block_id"]] = server.post(f"{base}/pty/read_block", fields, token=token).body.decode()
    for query in ("vantage_aid", "aid"):
        found[f"search {query}"] = server.post(f"{base}/pty/search", {"query": query}, token=token).body.decode()
        found[f"search all {query}"] = server.get(f"/v1/search?q={query}", token=token).body.decode()
    return found


def shown(secret, text):
    """Whether enough of the secret is there to guess the rest, at any place of it."""
    return any(secret[at : at + 12] in text for at in range(len(secret) - 11))


@pytest.mark.parametrize("shell", SHELLS)
def test_no_way_out_shows_a_secret(server, shell):
    token = read_only(server)
    with server.conversation(shell=shell, cols=200) as made:
        server.pty(made, "exec_block", command="echo one")
        server.pty(made, "exec_block", command="set")  # prints every variable, ours too
        server.pty(
            made, "exec_block", command=f"cat {server.home}/run/{made}/*/* {server.home}/run/{made}/* 2>/dev/null"
        )
        server.pty(made, "reset")
        server.pty(made, "exec_block", command="echo two; set")
        secrets = secrets_of(server, made)
        assert len(secrets) == 2
        on_disk = (server.home / "conversations" / made / "agent_pty" / "output.raw").read_bytes()
        for secret in secrets:
            assert on_disk.count(secret.encode()) > 4, "the marks are there"
            for way, text in ways_out(server, made, token).items():
                assert secret not in text and not shown(secret, text), way


def test_offsets_and_lengths_stay(server):
    with server.conversation() as made:
        server.pty(made, "exec_block", command="printf 'a\\tb\\n'")
        read = b64decode(raw(server, made, None)["data_b64"])
        on_disk = (server.home / "conversations" / made / "agent_pty" / "output.raw").read_bytes()  # it only grows
        (secret,) = secrets_of(server, made)
        assert read == on_disk[: len(read)].replace(secret.encode(), b"x" * len(secret))


def test_a_few_bytes_from_the_middle_of_a_mark(server):
    token = read_only(server)
    with server.conversation() as made:
        server.pty(made, "exec_block", command="true")
        (secret,) = secrets_of(server, made)
        on_disk = (server.home / "conversations" / made / "agent_pty" / "output.raw").read_bytes()
        at = on_disk.index(secret.encode())
        for start, size in [(at, 10), (at + 11, 10), (at + 31, 1), (at - 3, 20), (at + 1, 200), (at + 20, 400)]:
            read = b64decode(raw(server, made, token, from_offset=start, max_bytes=size)["data_b64"])
            whole = on_disk.replace(secret.encode(), b"x" * len(secret))
            assert read == whole[start : start + size][: len(read)]
        pieces = [
            b64decode(raw(server, made, token, from_offset=at + number, max_bytes=1)["data_b64"])
            for number in range(len(secret))
        ]
        assert b"".join(pieces) == b"x" * len(secret)


async def test_sockets_and_agents_do_not_see_it_either(server):
    token = read_only(server)
    with server.conversation(cols=200) as made:
        server.pty(made, "exec_block", command="true")
        (secret,) = secrets_of(server, made)
        async with open_socket(server, token=token) as socket:
            heard = []
            apply = socket._apply
            socket._apply = lambda message: (heard.append(json.dumps(message)), apply(message))
            await socket.watch(made, "rows", "screen", "blocks")
            server.pty(made, "exec_block", command="set; echo the-end")
            await socket.until(lambda message: message["type"] == "agent_block_end")
            await socket.shown(made, "the-end")
        assert any("__vantage_aid" in text for text in heard), "it was printed"
        assert not any(shown(secret, text) for text in heard)
        async with over_http(server, f"?tools=all&conversation={made}", token=token) as agent:
            said = await agent.call("pty_read_raw")
            assert not shown(secret, json.dumps(said) + agent.text)

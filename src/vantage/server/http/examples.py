"""An example of every request and answer: one value of each type.

The values are made with the types' own constructors and encoded like live ones, so a field that does not exist, or has
another type, is an error of the type checker and of the tests.
"""

import msgspec

from vantage.conversation.agent.installed import AgentSession, Installed
from vantage.conversation.search.index import SearchHit, SearchHits
from vantage.conversation.search.query import Range
from vantage.conversation.store.specs.home import Broken
from vantage.conversation.verbs.conversation import agent, assets, displays, events, life, requests, specs
from vantage.conversation.verbs.terminal import params, results
from vantage.conversation.verbs.verb import Done, Params, Result
from vantage.server.demo import PlayDemo
from vantage.server.http.routes.conversations import ListedClient, ListedClients
from vantage.server.http.routes.preview import Drawings, Drawn, Preview
from vantage.server.http.routes.rows import DrawnRow, OneRow, ReadRow, ReadRows, Rows
from vantage.server.search_export import Export, Search
from vantage.server.security.login import LoggedIn, LogIn
from vantage.server.security.sessions import LinkState, NewLink, Session, Sessions
from vantage.terminal.engines.values import Cursor
from vantage.terminal.output.blocks import Block, ByteRange
from vantage.timeline.contexts import Reason

_NOW = 1794700000000
_MONTH = 30 * 24 * 3_600_000
_CWD = "/home/ada/project"
_EPOCH = "9f86d081884c7d65"
_SHELL = "sh-5d41402a"
_SPEC = {"specVersion": 1, "collapsed": {"title": "Deploy {{args.service}}"}}
_SPEC_HASH = "0f1e2d3c4b5a6978"
_PICTURE = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
"""A GIF of one point."""
_SECRET = "yLw5n2cV0gk3Jm9QeXr7tUaB1dZs6HfP"  # noqa: S105 -- made up
_ROW = {"id": "r1", "kind": "user", "status": "none", "ts": _NOW, "title": "", "depth": 0, "seq": 1, "begin": 1}

_CONVERSATION = life.Description(  # noqa: S604 -- no shell is called
    id="work",
    name="Fix the build",
    state="idle",
    created=_NOW,
    last_activity=_NOW + 5000,
    epoch=_EPOCH,
    shell="bash",
    cwd=_CWD,
    cols=120,
    rows=40,
    seq=12,
    mode="idle",
)
_BLOCK = Block(
    block_id="b7",
    seq=7,
    cmd="make",
    cwd=_CWD,
    origin="exec",
    ts_begin=_NOW,
    ts_end=_NOW + 1200,
    exit_code=0,
    done_because="mark",
    duration_ms=1200.5,
    spool=ByteRange(1000, 1012),
    raw=ByteRange(2000, 2048),
    shell_id=_SHELL,
)

_CONVERSATIONS = (
    _CONVERSATION,
    life.Create(id="work", name="Fix the build", cols=120, rows=40),
    life.Descriptions(conversations=[msgspec.structs.replace(_CONVERSATION, seq=None)]),
    life.Change(name="Fix the build"),
    displays.SetClient(client_id="phone", terminal_width=48, presentation={"supports_tables": False}, primary=True),
    displays.SetAgent(agent_id="sub-1", presentation={"client_type": "api", "content_width": 200}),
    displays.Configured(),
    Done(),
    ListedClients(
        clients=(
            ListedClient(
                client_id="phone",
                presentation={"content_width": 45, "supports_tables": False, "client_type": "telegram"},
                primary=False,
                last_seen=_NOW,
                connected=True,
            ),
        )
    ),
    displays.Instructions(explain=True),
    displays.Instruction(
        text="## Display Context\nOutput width: 48 characters.",
        because=(Reason(field="content_width", value=48, client_id="phone"),),
    ),
    specs.SetTool(tool="deploy", renderSpec=_SPEC),
    specs.Tool(tool="deploy", specHash=_SPEC_HASH),
    specs.Tools(
        tools=[{"tool": "deploy", "specHash": _SPEC_HASH, "source": "conversation"}],
        broken=(Broken("/home/ada/.local/state/vantage/specs/ship.json", ["collapsed: missing"]),),
    ),
    assets.PutAsset(asset="chart", data_b64=_PICTURE),
    assets.AssetKept(asset="chart", media="image/gif", bytes=42),
)
_TIMELINE = (
    events.Append(
        events=[
            {"type": "user_message", "text": "Why does it fail?"},
            {"type": "assistant_text", "text": "I look into it."},
        ]
    ),
    events.Appended(seq=14, count=2),
    events.ReadEvents(after=0, limit=100),
    events.Events(
        events=[{"type": "user_message", "conversation_id": "work", "seq": 1, "ts": _NOW, "text": "Hello"}], next=None
    ),
    ReadRows(surface="plain", width=80, limit=100),
    Rows(rows=[DrawnRow(seq=1, row=_ROW, text="› Hello")], next=None, seq=1, epoch=_EPOCH),
    ReadRow(surface="plain"),
    OneRow(seq=1, row={**_ROW, "blocks": [{"type": "text", "content": "Hello"}]}, text="› Hello"),
    Export(format="asciicast"),
    Search(q="connection refused", limit=20),
    SearchHits(
        hits=[
            SearchHit(
                conversation_id="work",
                seq=9,
                kind="output",
                ts=_NOW,
                text="curl: (7) connection refused",
                ranges=[Range(10, 20), Range(21, 28)],
                block_id="b7",
                cursor=1000,
            )
        ]
    ),
)
_AGENT_SESSION = "5f0c2d9e-8d5b-4d0c-9b53-0a1b2c3d4e5f"
_AGENT = (
    agent.StartAgent(agent="claude", cwd=_CWD),
    agent.AgentStatus(
        state="idle",
        agent="claude",
        run="r1f2e3d4c",
        session=_AGENT_SESSION,
        model="claude-sonnet-4-5",
        cwd=_CWD,
        pid=4713,
    ),
    agent.Say(text="Fix the importer", by="client:phone"),
    agent.SaidIt(seq=15, delivery="now"),
    agent.Interrupted(interrupted=True),
    agent.Agents(
        agents=[
            Installed(
                agent="claude",
                title="Claude Code",
                installed=True,
                path="/usr/local/bin/claude",
                version="2.1.326",
                install="npm install -g @anthropic-ai/claude-code",
                sessions=[AgentSession(conversation_id="work", session=_AGENT_SESSION, cwd=_CWD)],
            )
        ]
    ),
)
_QUESTION, _HASH = "deploy-7", "3f9a8b7c6d5e4f30"
_OPTIONS = [
    requests.Option(id="yes", label="Deploy now", kind="allow"),
    requests.Option(id="no", label="Not today", kind="deny", needs_text=True),
]
_REQUESTS = (
    requests.Ask(request_id=_QUESTION, title="Deploy version 7?", text="All tests pass.", options=[*_OPTIONS]),
    requests.RequestState(request_id=_QUESTION, hash=_HASH, state="open"),
    requests.Waiting(wait=30),
    requests.WholeRequest(
        request_id=_QUESTION,
        hash=_HASH,
        state="answered",
        answer={"request_id": _QUESTION, "option": "yes", "by": "client:phone", "seq": 15, "ts": _NOW},
        request={"request_id": _QUESTION, "title": "Deploy version 7?", "hash": _HASH, "seq": 14},
    ),
    requests.AnswerRequest(request_id=_QUESTION, hash=_HASH, option="yes", by="client:phone"),
    requests.OneRequest(request_id=_QUESTION),
    requests.ListRequests(state="open"),
    requests.RequestList(
        requests=[
            {
                "request_id": _QUESTION,
                "title": "Deploy version 7?",
                "hash": _HASH,
                "conversation_id": "work",
                "state": "open",
                "ts": _NOW,
            }
        ]
    ),
)
_SERVER = (
    Preview(spec=_SPEC, tool="deploy", args={"service": "web"}, output="done"),
    Drawings(
        problems=[],
        notes=[],
        drawings=[Drawn(surface="plain", form="text", collapsed="• Deploy web", expanded="• Deploy web\n  done")],
    ),
    PlayDemo(pace=1.0),
    NewLink(
        id="4a44dc15364204a80fe80e9039455cc1", url=f"http://127.0.0.1:7878/login#{_SECRET}", expires=_NOW + 600_000
    ),
    LinkState(used=False, expires=_NOW + 600_000),
    Sessions(
        sessions=[
            Session(
                id="1f2e3d4c",
                device="Firefox on Linux",
                scope="full",
                created=_NOW,
                expires=_NOW + _MONTH,
                current=True,
            )
        ]
    ),
    LogIn(secret=_SECRET),
    LoggedIn(
        token="vantage_session_6HfP1dZs7tUaBeXrJm9Qk3cV0gyLw5n2",  # noqa: S106 -- made up
        id="1f2e3d4c",
        device="Firefox on Linux",
        scope="full",
        expires=_NOW + _MONTH,
    ),
)
_TERMINAL = (
    params.ExecBlock(command="echo hello", timeout_ms=30000),
    results.Ran(
        block_id="b7",
        seq=7,
        ts_begin=_NOW,
        cursor=1000,
        exit_code=0,
        output="hello\n",
        truncated=False,
        omitted_bytes=0,
        done_because="mark",
        cwd=_CWD,
        duration_ms=0.4,
    ),
    params.ExecInteractive(command="python3 -q"),
    results.Started(block_id="b8", seq=8, ts_begin=_NOW, cursor=1024, session_id="s8"),
    params.Send(data="print(6 * 7)\n"),
    params.Keys(keys=["Up*2", "Enter"]),
    params.OnSession(session_id="s8"),
    results.Cursor(cursor=1024),
    params.Mouse(action="click", on_text="OK"),
    results.Clicked(row=12, col=40),
    params.WaitFor(match="Listening on", timeout_ms=10000),
    results.Waited(
        matched=True,
        cursor=1100,
        reason="text",
        match_text="Listening on",
        match_span=ByteRange(1088, 1100),
        tail="Listening on port 8000\n",
    ),
    results.Status(
        mode="idle",
        cursor=1100,
        shell_id=_SHELL,
        pid=4711,
        cwd=_CWD,
        foreground="bash",
        cols=120,
        rows=40,
        last_exit_code=0,
        engine="ghostty",
    ),
    params.EndSession(session_id="s8"),
    results.Ended(how="exit"),
    results.Reset(shell_id="sh-7d793037", pid=4712),
    params.Resize(cols=100, rows=30),
    results.Size(cols=100, rows=30),
    params.ReadRaw(from_offset=0, max_bytes=4096),
    results.RawRead(data_b64="aGkNCg==", data_utf8_lossy="hi\r\n", next_offset=4, end=4),
    params.ReadSpool(from_cursor=0),
    results.SpoolRead(text="$ hi\n", cursor=5, end=5),
    params.ReadScreen(style=False),
    results.ScreenRead(
        cursor=Cursor(row=0, col=2),
        title="",
        alt_screen=False,
        cols=120,
        rows_count=3,
        ts=_NOW,
        raw_offset=2048,
        rows=["$ ", "", ""],
        text="$ ",
        delta_cursor=31,
    ),
    params.ReadScreenDeltas(cursor=30, limit=100),
    results.Deltas(deltas=[], cursor=31),
    results.ScreenStatus(cursor=31, title="", alt_screen=False, rows=40, cols=120),
    params.ReadScrollback(limit=100),
    results.ScrollbackRead(lines=["$ make"], first_line=0, total=1),
    params.ListBlocks(limit=10),
    results.Blocks(blocks=[_BLOCK]),
    params.ReadBlock(block_id="b7", part="tail"),
    results.BlockRead(block=_BLOCK, output="all is well\n"),
    params.SearchOutput(query="warning", limit=10),
    results.Hits(hits=[results.Hit(block_id="b7", cursor=1000, line=1, text="warning: unused")]),
)

EXAMPLES: dict[type[Params] | type[Result], Params | Result] = {
    type(each): each for each in (*_CONVERSATIONS, *_AGENT, *_TIMELINE, *_REQUESTS, *_SERVER, *_TERMINAL)
}

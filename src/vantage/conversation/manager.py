"""All conversations of a home: made, found, closed and deleted; one lock, one connection to the host."""

import asyncio
import fcntl
import logging
import os
import secrets
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from vantage.conversation.bus import Bus, Deleted, LocalBus
from vantage.conversation.checks import directory, terminal_size
from vantage.conversation.conversation import Conversation
from vantage.conversation.files import (
    ConversationFolder,
    Settings,
    check_id,
    damaged,
    is_running,
    known_settings,
    make_directory,
    now_ms,
    sweep,
    write_atomically,
)
from vantage.conversation.host import Host
from vantage.conversation.requests import answer
from vantage.errors import Conflict, HomeTaken, NotFound, Unavailable, VantageError
from vantage.events import Event, Json
from vantage.timeline.specs.registry import COMMON

RETENTION = 2 << 30
HOLDER_LOOKS, HOLDER_PAUSE_S = 50, 0.02
"""How often, and how far apart, somebody who may not have the home looks for who has it: no event says so."""

_log = logging.getLogger(__name__)


class Manager:
    """Whoever has it has the home: a second one is told who does."""

    def __init__(
        self,
        home: Path,
        *,
        retention: int = RETENTION,
        bus: Bus | None = None,
        connect: Callable[[Path], Awaitable[Host]] = Host.connect,
    ) -> None:
        self.home = home
        self.retention = retention
        """Bytes of raw output that a conversation keeps."""
        self.bus: Bus = bus or LocalBus()
        self.also: dict[str, Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]] = {}
        """What else an owner is asked for by name, and who in this process does it."""
        self._conversations: dict[str, Conversation] = {}
        self._connect = connect
        self._host: Host | None = None
        self._connecting = asyncio.Lock()
        self._lock = -1
        self._closed = False
        self._damaged: set[Path] = set()
        """Conversations that cannot be listed, each said once."""

    async def __aenter__(self) -> Self:
        make_directory(self.home)
        self._take_home()
        sweep(self.home)
        if isinstance(self.bus, LocalBus):
            self.bus.serve(self)
        try:
            for tool, spec in self._read_tools().items():
                COMMON.offer(tool, spec)
        except Unavailable as error:  # without them, calls are shown as those of tools that nobody knows
            _log.warning("tools for all conversations are left out: %s", error)
        try:
            await self._find_living()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _take_home(self) -> None:
        self._lock = os.open(self.home / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._holder()
            os.close(self._lock)
            self._lock = -1
            raise HomeTaken(
                f"{self.home} is in use by {holder}", hint="talk to that server, or give another --home"
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(os.getpid()).encode(), 0)

    def _holder(self) -> str:
        """Who has the home. It writes down its number when it has it, so one that came just now may not have yet."""
        for _ in range(HOLDER_LOOKS):
            number = os.pread(self._lock, 64, 0)
            if number.isdigit() and is_running(int(number)):
                return f"process {int(number)}"
            time.sleep(HOLDER_PAUSE_S)
        return "another process"

    async def _find_living(self) -> None:
        """Terminals that outlived the last process here: what happened to them meanwhile is caught up with."""
        if not any((self.home / name).exists() for name in ("host.json", "host.sock")):
            return
        host = await self.host()
        for terminal in (await host.request("list"))["terminals"]:
            if (self._path(terminal["terminal"]) / "conversation.json").exists():
                try:
                    await self.get(terminal["terminal"]).session.attach()
                except VantageError as error:  # the others are served all the same
                    _log.warning("conversation %s cannot be served: %s", terminal["terminal"], error)

    async def host(self) -> Host:
        """The connection to the PTY host, made when it is needed."""
        async with self._connecting:
            if self._closed:
                raise Unavailable(f"{self.home} was closed", hint="open it again")
            if self._host is None:
                self._host = await self._connect(self.home)
                self._host.on_event = self._told
                self._host.on_lost = self._lost
            return self._host

    def _told(self, message: dict[str, Any]) -> None:
        conversation = self._conversations.get(message.get("terminal", ""))
        if conversation is not None:
            conversation.session.told(message)

    def _lost(self) -> None:
        """The host died. Its terminals are joined again through a new one: that is how they learn that they ended."""
        self._host = None
        living = [conversation for conversation in self._conversations.values() if conversation.session.alive]
        for conversation in self._conversations.values():
            conversation.session.lost()
        for conversation in living:
            task = asyncio.get_running_loop().create_task(conversation.session.attach())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())

    # what the bus asks of an owner

    async def handle(self, conversation_id: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Answers a request about a conversation."""
        if name in self.also:
            return await self.also[name](conversation_id, fields)
        try:
            return await answer(self, conversation_id, name, fields)
        except OSError as error:
            if error.filename is None:
                raise
            raise damaged(Path(error.filename), error) from error

    def read_log(self, conversation_id: str, after: int, limit: int) -> list[Event]:
        return self.get(conversation_id).events.read(after, limit)

    # tools that all conversations know

    def set_tool(self, tool: str, spec: Json) -> str:
        """Takes a tool's render spec for all conversations, from now on and after a restart."""
        known = self._read_tools()
        digest = COMMON.register(tool, spec)
        known[tool] = spec
        write_atomically(self._tools, msgspec.json.encode(known))
        return digest

    def tools(self) -> list[dict[str, str]]:
        return [{"tool": tool, "specHash": digest} for tool, digest in sorted(COMMON.tools().items())]

    @property
    def _tools(self) -> Path:
        return self.home / "tools.json"

    def _read_tools(self) -> dict[str, Json]:
        try:
            return msgspec.json.decode(self._tools.read_bytes(), type=dict[str, Any])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            raise damaged(self._tools, error) from None

    # conversations

    def folder(self, conversation_id: str) -> ConversationFolder:
        return ConversationFolder(self._path(conversation_id))

    def _path(self, conversation_id: str) -> Path:
        return self.home / "conversations" / conversation_id

    def create(
        self,
        conversation_id: str | None = None,
        *,
        name: str = "",
        shell: str = "bash",
        cwd: str | None = None,
        cols: int = 120,
        rows: int = 40,
        env: Mapping[str, str] | None = None,
        user_rc: bool = True,
        allow_secret_input: bool = False,
    ) -> Conversation:
        conversation_id = check_id(conversation_id) if conversation_id else f"c-{secrets.token_hex(5)}"
        folder = self.folder(conversation_id)
        if folder.settings.exists():
            raise Conflict(f"there is a conversation {conversation_id!r} already", hint="use it, or choose another id")
        terminal_size(cols, rows)
        here = os.getcwd()  # noqa: PTH109
        cwd = directory(cwd or here, here, str(Path.home()))
        make_directory(self.home / "conversations")
        shutil.rmtree(folder.path, ignore_errors=True)  # what a deletion left that was cut short
        folder.create()
        settings = Settings(
            id=conversation_id,
            epoch=secrets.token_hex(8),
            created=now_ms(),
            name=name,
            shell=shell,
            cwd=cwd,
            cols=cols,
            rows=rows,
            env=dict(env or {}),
            user_rc=user_rc,
            allow_secret_input=allow_secret_input,
        )
        folder.write_settings(settings)
        return self._open(folder, settings)

    def _open(self, folder: ConversationFolder, settings: Settings) -> Conversation:
        lease = self.bus.hold(settings.id, self)
        try:
            sweep(folder.path, folder.terminal, folder.checkpoints)
            conversation = Conversation(
                folder,
                settings,
                bus=self.bus,
                lease=lease,
                run=self.home / "run" / settings.id,
                retention=self.retention,
                host=self.host,
            )
        except OSError as error:
            lease.release()
            raise damaged(Path(error.filename or folder.path), error) from None
        except BaseException:
            lease.release()
            raise
        self._conversations[settings.id] = conversation
        return conversation

    def opened(self, conversation_id: str) -> Conversation | None:
        """A conversation that somebody has used since this process began."""
        return self._conversations.get(conversation_id)

    def get(self, conversation_id: str) -> Conversation:
        known = self._conversations.get(conversation_id)
        if known is not None:
            return known
        folder = self.folder(check_id(conversation_id))
        try:
            settings = folder.read_settings()
        except FileNotFoundError:
            raise NotFound(f"there is no conversation {conversation_id!r}", hint="list them, or create it") from None
        except (OSError, msgspec.MsgspecError) as error:
            raise damaged(folder.settings, error) from None
        return self._open(folder, settings)

    def list(self) -> list[Settings]:
        found: list[Settings] = []
        for folder, settings in known_settings(self.home):
            if isinstance(settings, Settings):
                found.append(settings)
            elif folder.path not in self._damaged:
                self._damaged.add(folder.path)
                why = damaged(folder.settings, settings)
                _log.warning("conversation %s is left out: %s", folder.path.name, why)
        return found

    async def close_conversation(self, conversation_id: str) -> None:
        """Ends the shell and keeps the files."""
        conversation = self.get(conversation_id)
        session = conversation.session
        await session.join_host()
        if session.alive:
            await session.ask("kill")
            await session.until(lambda: not session.alive)
        if session.attached:
            await session.ask("forget")
            session.lost()
        shutil.rmtree(self.home / "run" / conversation_id, ignore_errors=True)

    async def delete(self, conversation_id: str) -> None:
        """Ends the shell and removes everything."""
        await self.close_conversation(conversation_id)
        conversation = self._conversations.pop(conversation_id, None)
        if conversation is None:
            raise NotFound(f"conversation {conversation_id!r} was deleted meanwhile", hint="somebody else did it")
        conversation.folder.settings.unlink()  # from here on nobody finds it
        await conversation.close()
        self.bus.publish(conversation_id, [Deleted()])
        shutil.rmtree(self._path(conversation_id))

    async def close(self) -> None:
        """Leaves: shells live on. Whatever still looks at one must not bring a host back."""
        self._closed = True
        for conversation in self._conversations.values():
            await conversation.close()
        self._conversations.clear()
        if self._host is not None:
            await self._host.close()
            self._host = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

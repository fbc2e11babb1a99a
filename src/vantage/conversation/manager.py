"""All conversations of a home: made, found, closed and deleted; one lock, one connection to the host."""

import asyncio
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from vantage.conversation.event_log import EventLog
from vantage.conversation.files import ConversationFolder, Settings, check_id, make_directory
from vantage.conversation.host import Host
from vantage.conversation.session import Session
from vantage.conversation.verbs import SIZES, AgentTerminal
from vantage.errors import Conflict, HomeTaken, InputError, NotFound, Unavailable
from vantage.events import Event
from vantage.terminal.frames import ScreenDelta

RETENTION = 2 << 30


class Conversation:
    """One conversation: its log and its terminal."""

    def __init__(self, manager: "Manager", folder: ConversationFolder, settings: Settings) -> None:
        self.id = settings.id
        self.folder = folder
        self.events = EventLog(folder.events)
        self.session = Session(
            folder,
            settings,
            self.events,
            run=manager.home / "run" / settings.id,
            retention=manager.retention,
            host=manager.host,
            publish=lambda events: manager.publish(settings.id, events),
            publish_screen=lambda delta: manager.publish_screen(settings.id, delta),
        )
        self.terminal = AgentTerminal(self.session)

    @property
    def settings(self) -> Settings:
        return self.session.settings

    def append(self, events: list[Event]) -> list[Event]:
        """Logs events of the agent."""
        return self.events.append(events, self.id)

    async def close(self) -> None:
        await self.session.close()
        self.events.close()


class Manager:
    """Whoever has it has the home: a second one is told who does."""

    def __init__(self, home: Path, *, retention: int = RETENTION) -> None:
        self.home = home
        self.retention = retention
        """Bytes of raw output that a conversation keeps."""
        self._conversations: dict[str, Conversation] = {}
        self._host: Host | None = None
        self._connecting = asyncio.Lock()
        self._lock = -1
        self._closed = False

    async def __aenter__(self) -> Self:
        make_directory(self.home)
        self._take_home()
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
            holder = os.pread(self._lock, 64, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(self._lock)
            self._lock = -1
            raise HomeTaken(
                f"{self.home} is in use by process {holder}", hint="talk to that server, or give another --home"
            ) from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(os.getpid()).encode(), 0)

    async def _find_living(self) -> None:
        """Terminals that outlived the last process here: what happened to them meanwhile is caught up with."""
        if not (self.home / "host.json").exists():
            return
        host = await self.host()
        for terminal in (await host.request("list"))["terminals"]:
            if (self._path(terminal["terminal"]) / "conversation.json").exists():
                await self.get(terminal["terminal"]).session.attach()

    async def host(self) -> Host:
        """The connection to the PTY host, made when it is needed."""
        async with self._connecting:
            if self._closed:
                raise Unavailable(f"{self.home} was closed", hint="open it again")
            if self._host is None:
                self._host = await Host.connect(self.home)
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

    def publish(self, conversation_id: str, events: list[Event]) -> None:
        """Tells whoever follows a conversation."""

    def publish_screen(self, conversation_id: str, delta: ScreenDelta) -> None:
        """Tells whoever looks at its screen."""

    # conversations

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
        folder = ConversationFolder(self._path(conversation_id))
        if folder.settings.exists():
            raise Conflict(f"there is a conversation {conversation_id!r} already", hint="use it, or choose another id")
        for label, value in (("cols", cols), ("rows", rows)):
            least, most = SIZES[label]
            if not least <= value <= most:
                raise InputError(f"{label} is from {least} to {most}, not {value!r}")
        cwd = cwd or os.getcwd()  # noqa: PTH109
        if not os.path.isdir(cwd):  # noqa: PTH112
            raise InputError(f"cwd {cwd!r} is no directory", hint="create it first, or leave cwd out")
        make_directory(self.home / "conversations")
        folder.create()
        settings = Settings(
            id=conversation_id,
            epoch=secrets.token_hex(8),
            created=round(time.time() * 1000),
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
        conversation = Conversation(self, folder, settings)
        self._conversations[settings.id] = conversation
        return conversation

    def get(self, conversation_id: str) -> Conversation:
        known = self._conversations.get(conversation_id)
        if known is not None:
            return known
        folder = ConversationFolder(self._path(check_id(conversation_id)))
        try:
            settings = folder.read_settings()
        except FileNotFoundError:
            raise NotFound(f"there is no conversation {conversation_id!r}", hint="list them, or create it") from None
        except msgspec.MsgspecError as error:
            raise Unavailable(f"{folder.settings} cannot be read: {error}", hint="repair or remove it") from None
        return self._open(folder, settings)

    def list(self) -> list[Settings]:
        found: list[Settings] = []
        root = self.home / "conversations"
        for path in sorted(root.iterdir()) if root.is_dir() else []:
            try:
                found.append(ConversationFolder(path).read_settings())
            except (OSError, msgspec.MsgspecError):
                continue
        return found

    async def close_conversation(self, conversation_id: str) -> None:
        """Ends the shell and keeps the files."""
        conversation = self.get(conversation_id)
        session = conversation.session
        await session.join_host()
        if session.alive:
            await session.ask("kill")
            await session.until(lambda: not session.alive)
        await session.ask("forget")
        session.lost()
        shutil.rmtree(self.home / "run" / conversation_id, ignore_errors=True)

    async def delete(self, conversation_id: str) -> None:
        """Ends the shell and removes everything."""
        await self.close_conversation(conversation_id)
        await self._conversations.pop(conversation_id).close()
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

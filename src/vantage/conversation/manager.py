"""All conversations of a home: made, found, closed and deleted. One process has a home at a time."""

import asyncio
import logging
import os
import resource
import secrets
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from vantage.conversation.agent.files import is_unfinished
from vantage.conversation.bus import HOME, Bus, Deleted, Listed, LocalBus
from vantage.conversation.checks import directory, terminal_size
from vantage.conversation.conversation import Conversation
from vantage.conversation.live.host.client import HostClient
from vantage.conversation.live.host.home import Connect, HomeHost
from vantage.conversation.store.clock import now_ms
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings, check_id, known_settings
from vantage.conversation.store.files.disk_errors import damaged, is_scarcity, no_room
from vantage.conversation.store.files.open_files import OpenFiles
from vantage.conversation.store.files.writing import make_directory, sweep
from vantage.conversation.store.home import check_home
from vantage.conversation.store.home_lock import HomeLock
from vantage.conversation.store.specs.home import HomeSpecs
from vantage.conversation.verbs.answering import answer
from vantage.conversation.verbs.conversation.target import Home
from vantage.errors import Conflict, NotFound, Unavailable, VantageError
from vantage.events import Event
from vantage.ptyhost.ownership import tighten
from vantage.terminal.engines import kind_of
from vantage.timeline.tools.registry import ToolRegistry

RETENTION = 2 << 30
MAX_FILES = 512
"""How many files of conversations may be open at once; at most a quarter of what the process may open."""

Handler = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""(conversation id, fields) → the answer."""

_log = logging.getLogger(__name__)


def _max_files() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if soft == resource.RLIM_INFINITY else max(min(MAX_FILES, soft // 4), 8)


class Manager:
    """Entering it takes the home's lock; HomeTaken names the process that has it already."""

    def __init__(
        self,
        home: Path,
        *,
        retention: int = RETENTION,
        engine: str = "auto",
        bus: Bus | None = None,
        installed: ToolRegistry | None = None,
        connect: Connect = HostClient.connect,
    ) -> None:
        self.home = home
        self.specs = HomeSpecs(home, installed)
        """The tools that all conversations of the home know."""
        self.retention = retention
        """Bytes of raw output that a conversation keeps."""
        self.engine = engine
        """The engine of new conversations that ask for no other."""
        self.bus: Bus = bus or LocalBus()
        self.extra_handlers: dict[str, Handler] = {}
        """Name → a request of the bus that another part of this process answers."""
        self._conversations: dict[str, Conversation] = {}
        self._files = OpenFiles(_max_files())
        self._lock = HomeLock(home)
        self._host = HomeHost(home, connect, on_event=self._host_event, on_lost=self._host_lost)
        self._damaged: set[Path] = set()
        """Conversations that cannot be listed; each is logged once."""

    @property
    def max_files(self) -> int:
        """Files of conversations that are open at once."""
        return self._files.most

    async def __aenter__(self) -> Self:
        check_home(str(self.home))
        make_directory(self.home)
        check_home(str(self.home))  # another user may have made it since
        tighten(str(self.home))
        self._lock.take()
        sweep(self.home)
        if isinstance(self.bus, LocalBus):
            self.bus.serve(self)
        try:
            self.specs.load()
        except Unavailable as error:  # without them, calls are drawn as calls of unknown tools
            _log.warning("tools for all conversations are left out: %s", error)
        try:
            await self._host.rejoin(self._attach_all, needed=bool(self._unfinished_agents()))
            await self._resume_requests()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _resume_requests(self) -> None:
        """Opens the conversations with open requests, so that these expire, or are closed with the program that asked
        for a secret.
        """
        for settings in self.list():
            if self.folder(settings.id).open_requests.exists():
                try:
                    conversation = self.get(settings.id)
                    conversation.requests.expire()
                    await conversation.live.refresh()
                except VantageError as error:  # the other conversations are served
                    _log.warning("requests of %s cannot be served: %s", settings.id, error)

    # the PTY host

    async def host(self) -> HostClient:
        """The home's connection to its PTY host."""
        return await self._host.get()

    async def _attach_all(self, host: HostClient) -> None:
        """Attaches to terminals and agents that outlived the last process here, and derives what happened since.

        Agents that did not outlive it are joined too: that is how their end gets into the log.
        """
        for terminal in (await host.request("list"))["terminals"]:
            if self.folder(terminal["terminal"]).settings.exists():
                await self._attach(terminal["terminal"], lambda conversation: conversation.live.attach())
        for name in self._unfinished_agents():
            await self._attach(name, lambda conversation: conversation.agent.attach())

    async def _attach(self, name: str, attach: Callable[[Conversation], Awaitable[None]]) -> None:
        try:
            await attach(self.get(name))
        except VantageError as error:  # the other conversations are served
            _log.warning("conversation %s cannot be served: %s", name, error)
        except Exception:  # noqa: BLE001 -- likewise
            _log.exception("conversation %s cannot be served", name)

    def _unfinished_agents(self) -> list[str]:
        """The conversations whose agent may live, or has ended without a server that could log it."""
        kept = self.home.glob("conversations/*/agent/run.json")
        folders = sorted(path.parent.parent for path in kept)
        return [
            each.name for each in folders if (each / "conversation.json").exists() and is_unfinished(each / "agent")
        ]

    def _host_event(self, message: dict[str, Any]) -> None:
        if "agent" in message:
            conversation = self._conversations.get(message["agent"])
            if conversation is not None:
                conversation.agent.told(message)
            return
        conversation = self._conversations.get(message.get("terminal", ""))
        if conversation is not None:
            conversation.live.told(message)

    def _host_lost(self) -> None:
        """The host died. Its terminals are attached again through a new one, which reports that their shells have
        ended.
        """
        living = [conversation for conversation in self._conversations.values() if conversation.live.alive]
        for conversation in self._conversations.values():
            try:
                conversation.live.link.lost()
                conversation.agent.host_lost()
            except Exception:  # noqa: BLE001 -- the other conversations must be told too
                _log.exception("conversation %s could not take that the host died", conversation.id)
        for conversation in living:
            task = asyncio.get_running_loop().create_task(conversation.live.attach())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())

    # requests of the bus

    async def handle(self, conversation_id: str, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Answers a request about a conversation."""
        if name in self.extra_handlers:
            return await self.extra_handlers[name](conversation_id, fields)
        try:
            return await answer(Home(self), conversation_id, name, fields)
        except OSError as error:
            if error.filename is None:
                raise
            raise damaged(Path(error.filename), error) from error

    def read_log(self, conversation_id: str, after: int, limit: int) -> list[Event]:
        return self.get(conversation_id).events.read(after, limit) if conversation_id != HOME else []

    # conversations

    def folder(self, conversation_id: str) -> ConversationFolder:
        return ConversationFolder(self.home / "conversations" / conversation_id)

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
        engine: str | None = None,
        created_by: str = "",
    ) -> Conversation:
        conversation_id = check_id(conversation_id) if conversation_id else f"c-{secrets.token_hex(5)}"
        folder = self.folder(conversation_id)
        if folder.settings.exists():
            raise Conflict(f"there is a conversation {conversation_id!r} already", hint="use it, or choose another id")
        terminal_size(cols, rows)
        engine = engine or self.engine
        kind_of(engine)
        here = os.getcwd()  # noqa: PTH109
        cwd = directory(cwd or here, here, str(Path.home()))
        make_directory(self.home / "conversations")
        shutil.rmtree(folder.path, ignore_errors=True)  # left behind by an interrupted deletion
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
            engine=engine,
            created_by=created_by,
        )
        try:
            folder.create()
            folder.write_settings(settings)
            made = self._open(folder, settings)
        except BaseException as error:
            shutil.rmtree(folder.path, ignore_errors=True)
            if isinstance(error, OSError) and is_scarcity(error):
                raise no_room(error) from error
            raise
        made.list_changed()
        return made

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
                files=self._files,
                tools=self.specs.tools,
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
        """A conversation that was used since this process began; None for any other."""
        return self._conversations.get(conversation_id)

    def open_conversations(self) -> Sequence[Conversation]:
        """The conversations that were used since this process began, and those with open requests."""
        return tuple(self._conversations.values())

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
        """Ends the shell and the agent, and keeps the files."""
        conversation = self.get(conversation_id)
        await conversation.agent.end()
        await conversation.end_shell()

    async def delete(self, conversation_id: str) -> None:
        """Ends the shell and the agent, and removes everything."""
        await self.close_conversation(conversation_id)
        conversation = self._conversations.pop(conversation_id, None)
        if conversation is None:
            raise NotFound(f"conversation {conversation_id!r} was deleted meanwhile", hint="by another request")
        conversation.folder.settings.unlink()  # from here on it cannot be opened
        await conversation.close()
        self.bus.publish(conversation_id, [Deleted()])
        self.bus.publish(HOME, [Listed(conversation_id)])
        shutil.rmtree(conversation.folder.path)

    async def close(self) -> None:
        """Closes everything. Shells live on, and late callers do not start a host again."""
        self._host.forbid()
        for conversation in self._conversations.values():
            await conversation.close()
        self._conversations.clear()
        self._files.end()
        await self._host.close()
        self._lock.release()

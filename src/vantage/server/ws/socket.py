"""One socket of `/v1/ws`: three tasks that read, handle and send, and the objects they share."""

import asyncio
from typing import Any

from vantage.errors import Invalid, VantageError
from vantage.server.services import Services
from vantage.server.ws.connection import Closed, Connection, Receive, Send
from vantage.server.ws.handlers import HANDLERS
from vantage.server.ws.handshake import Event, State
from vantage.server.ws.identity import Identity
from vantage.server.ws.inbox import Inbox
from vantage.server.ws.input import Keyboard
from vantage.server.ws.limits import MAX_BYTES, MESSAGE_COST, Limits, SocketRegistry
from vantage.server.ws.messages import (
    ClientConfig,
    ClientMessage,
    Hello,
    InConversation,
    Input,
    NotUnderstood,
    about,
    ignored_fields,
    read,
)
from vantage.server.ws.subscriptions import Subscriptions


class Socket:
    def __init__(
        self,
        services: Services,
        limits: Limits,
        registry: SocketRegistry,
        receive: Receive,
        send: Send,
        *,
        peer: str,
        pid: int | None = None,
    ) -> None:
        self.bus = services.bus
        self.connection = Connection(receive, send)
        self.identity = Identity(services, self.connection, registry, peer, pid)
        self.inbox = Inbox(MAX_BYTES)
        self.keyboard = Keyboard(services.bus, self.identity, self.inbox)
        self.subscriptions = Subscriptions(services, limits, self.connection, self.identity)
        self._hello_s = limits.hello_s

    def end(self, event: Event) -> None:
        """Ends it from outside; see `Connection.end`."""
        self.connection.end(event)

    async def run(self) -> None:
        """Until either side closes."""
        work = (self.subscriptions.send_news(), self._read_all(), self._handle_all())
        tasks = [asyncio.ensure_future(each) for each in work]
        waited: list[asyncio.Future[Any]] = [*tasks, self.connection.ended]
        try:
            done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if self.connection.ended.done():
                await self.connection.close()
            for task in tasks:
                if task in done:
                    task.result()
        except (Closed, OSError):
            return
        finally:
            self.identity.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.subscriptions.close()

    @property
    def _anonymous(self) -> bool:
        return self.connection.handshake.state is State.ANONYMOUS

    async def _read_all(self) -> None:
        """Reads ahead of `_handle_all`, so that a Ctrl-C is seen while input before it is still held."""
        while True:
            data = await self.connection.read(self._hello_s if self._anonymous else None)
            try:
                message: ClientMessage | NotUnderstood = read(data)
            except NotUnderstood as error:
                message = error
            if isinstance(message, Input) and message.interrupts and self.identity.client_id:
                await self.keyboard.interrupt(message)
            ignored = ignored_fields(data) if isinstance(message, Hello | ClientConfig) else []
            await self.inbox.put(message, len(data) + MESSAGE_COST, ignored)
            if self._anonymous:  # the next message's time limit depends on what this one does
                await self.inbox.empty()

    async def _handle_all(self) -> None:
        """One message after the other, in the order in which they came."""
        while True:
            async with self.inbox.next() as message:
                if self.connection.handshake.closed:
                    raise Closed
                self.identity.check()
                await self._handle(message)

    async def _handle(self, message: ClientMessage | NotUnderstood) -> None:
        if self._anonymous and not isinstance(message, Hello):
            self.connection.refuse(Event.NO_TOKEN)
        if isinstance(message, NotUnderstood):
            await self.connection.complain(message, **message.known)
            return
        try:
            if not isinstance(message, Hello):
                if not self.connection.handshake.allows(Event.MESSAGE):
                    raise Invalid("hello is missing: this socket has no client_id", hint="say hello first")
                self.connection.handshake.on(Event.MESSAGE)
            if isinstance(message, InConversation | ClientConfig) and message.conversation_id:
                self.identity.reach.check(message.conversation_id)
            await HANDLERS[type(message)](self, message)
        except VantageError as error:
            await self.connection.complain(error, **about(message))

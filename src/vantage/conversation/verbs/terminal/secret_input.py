"""Recognises input that is a secret, even key by key: after the beginning of a secret, everything up to Enter is
secret.

A secret is typed only while a program asks for one. When that program has ended, the rest is refused and dropped.
"""

from vantage.conversation.live.terminal import LiveTerminal
from vantage.conversation.verbs.terminal.keyboard import AGENT
from vantage.errors import Do, NoSecretPrompt, SecretGone


def ends_line(typed: bytes) -> bool:
    return b"\r" in typed or b"\n" in typed


def secret_gone() -> SecretGone:
    return SecretGone(
        "the program that asked for the secret has gone: what was typed of it was dropped, nothing of it was run",
        hint="what is typed up to Enter is dropped too",
        do=[Do("read_screen", "shows what is there now")],
    )


class SecretInput:
    def __init__(self, live: LiveTerminal) -> None:
        self._live = live
        self._unfinished: set[str] = set()
        """Keyboards that have typed the beginning of a secret, and not its Enter."""

    async def is_secret(self, typed: bytes, stated: bool, by: str) -> bool:
        """Whether this input is typed as a secret. Raises when it is a secret and no program asks for one."""
        at_prompt = self._live.state.phase in ("idle", "sent")
        if by in self._unfinished and not stated:
            if at_prompt or not (await self._live.sampler.look()).awaiting_secret:
                self.typed(typed, by)
                raise secret_gone()
            stated = True
        if stated and at_prompt:
            self.refused(typed, by)
            raise NoSecretPrompt(
                "the shell is at its prompt: no program asks for a secret. Nothing was typed",
                do=[
                    Do("wait_for", "waits until a program asks", match={"secret_prompt": True}),
                    Do("send", "without `secret` types what is none"),
                ],
            )
        return stated

    def typed(self, typed: bytes, by: str) -> None:
        """The next input of this keyboard is the rest of a secret, unless this ended a line."""
        if ends_line(typed):
            self._unfinished.discard(by)
        else:
            self._unfinished.add(by)

    def refused(self, typed: bytes, by: str) -> None:
        """A person keeps typing the secret after the refusal; an agent sends its next input on purpose."""
        if by != AGENT or by in self._unfinished:
            self.typed(typed, by)
        else:
            self._unfinished.discard(by)

    def cancelled(self, by: str) -> None:
        """A Ctrl-C ends the secret."""
        self._unfinished.discard(by)

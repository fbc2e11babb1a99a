"""Starts the shell of a conversation: which program, in which directory, with which environment and hooks."""

import secrets
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from vantage.conversation.checks import installed_shell
from vantage.conversation.store.conversation_folder import ConversationFolder, Settings
from vantage.conversation.store.files.disk_errors import no_room
from vantage.conversation.store.files.writing import make_directory
from vantage.conversation.store.scoped_token import own_environment
from vantage.errors import InputError
from vantage.ptyhost import shells
from vantage.terminal.output.movement import RULE


class ShellStart:
    def __init__(self, folder: ConversationFolder, run: Path, ask: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        """`run` is the folder in which a shell's hooks are kept while it lives."""
        self._folder = folder
        self._run = run
        self._ask = ask

    async def start(self, settings: Settings, last_cwd: str | None) -> str:
        """Asks the host for a fresh shell, and returns its id. It begins in the directory of the last one, if that
        exists.
        """
        environment = self._environment(settings)
        shell = installed_shell(settings.shell, environment)
        cwd = last_cwd if last_cwd and Path(last_cwd).is_dir() else settings.cwd
        if not Path(cwd).is_dir():
            raise InputError(f"{cwd!r} is no directory to start a shell in", hint="give the conversation another cwd")
        shell_id = f"sh-{secrets.token_hex(4)}"
        secret = secrets.token_hex(16)
        shutil.rmtree(self._run, ignore_errors=True)  # hooks of earlier shells
        try:
            private = make_directory(self._run / shell_id)
            launch = shells.launch(shell, private, secret=secret, env=environment, user_rc=settings.user_rc)
        except OSError as error:
            raise no_room(error) from error
        await self._ask(
            "open",
            folder=str(self._folder.terminal),
            argv=launch.argv,
            env=launch.env,
            cwd=cwd,
            cols=settings.cols,
            rows=settings.rows,
            settings=str(private / shells.SETTINGS),
            record={
                "shell_id": shell_id,
                "kind": shell.kind,
                "path": shell.path,
                "secret": secret,
                "cwd": cwd,
                "spool": RULE,
            },
        )
        return shell_id

    def _environment(self, settings: Settings) -> dict[str, str]:
        """The creator's environment, and what names this conversation."""
        return {**settings.env, **own_environment(self._folder.path.parent.parent, settings)}

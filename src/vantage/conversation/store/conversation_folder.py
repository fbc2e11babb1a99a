"""A conversation on disk: its id, its settings, and the paths of its files."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vantage.conversation.store.files.writing import make_directory, write_atomically
from vantage.errors import InputError

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_ID = re.compile(ID_PATTERN)


def check_id(conversation_id: str, whose: str = "a conversation's") -> str:
    """The id if it is safe as a file name; raises otherwise."""
    if _ID.fullmatch(conversation_id) is None:
        raise InputError(
            f"{conversation_id[:80]!r} cannot be {whose} id",
            hint="1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit",
        )
    return conversation_id


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation's settings, as it was created."""

    id: str
    epoch: str
    """Changes only when the log is created anew."""
    created: int
    name: str = ""
    shell: str = "bash"
    cwd: str = ""
    cols: int = 120
    rows: int = 40
    env: dict[str, str] = {}
    user_rc: bool = True
    allow_secret_input: bool = False
    read_only_displays: bool = False
    """Whether displays of read-only tokens count for what the agent is told."""
    created_by: str = ""
    """The conversation whose shell or agent made this one; its token reaches this one too."""
    engine: str = "auto"
    """The engine that draws its screens."""


class ConversationFolder:
    """The paths of one conversation's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.terminal = path / "agent_pty"
        self.agent = path / "agent"

    def create(self) -> None:
        make_directory(self.path)
        make_directory(self.terminal)
        make_directory(self.blocks)
        make_directory(self.checkpoints)

    @property
    def settings(self) -> Path:
        return self.path / "conversation.json"

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def clients(self) -> Path:
        return self.path / "clients.json"

    @property
    def agents(self) -> Path:
        """The displays that single agents write for."""
        return self.path / "agents.json"

    @property
    def open_requests(self) -> Path:
        """There while the conversation may have open requests."""
        return self.path / "requests.open"

    @property
    def assets(self) -> Path:
        return self.path / "assets"

    @property
    def tools(self) -> Path:
        return self.path / "tools.jsonl"

    @property
    def raw(self) -> Path:
        return self.terminal / "output.raw"

    @property
    def journal(self) -> Path:
        return self.terminal / "output.index"

    @property
    def spool(self) -> Path:
        return self.terminal / "output.spool"

    @property
    def block_log(self) -> Path:
        return self.terminal / "blocks.jsonl"

    @property
    def blocks(self) -> Path:
        return self.terminal / "blocks"

    @property
    def checkpoints(self) -> Path:
        return self.terminal / "checkpoints"

    @property
    def position(self) -> Path:
        return self.terminal / "position"

    @property
    def screen_log(self) -> Path:
        return self.terminal / "screen.jsonl"

    @property
    def screen_snapshot(self) -> Path:
        return self.terminal / "screen.snapshot.json"

    def read_settings(self) -> Settings:
        settings = msgspec.json.decode(self.settings.read_bytes(), type=Settings)
        if settings.id != self.path.name:
            raise msgspec.ValidationError(f"it is of conversation {settings.id!r}")
        return settings

    def write_settings(self, settings: Settings) -> None:
        write_atomically(self.settings, msgspec.json.encode(settings))


def known_settings(home: Path) -> Iterator[tuple[ConversationFolder, Settings | Exception]]:
    """Every conversation of a home, with its settings or the error that reading them gave."""
    root = home / "conversations"
    for path in sorted(root.iterdir()) if root.is_dir() else []:
        folder = ConversationFolder(path)
        try:
            yield folder, folder.read_settings()
        except FileNotFoundError:
            continue  # a deletion that was interrupted
        except (OSError, msgspec.MsgspecError) as error:
            yield folder, error

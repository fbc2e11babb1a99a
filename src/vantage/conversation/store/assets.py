"""Pictures of a conversation, by id, for image blocks. Only raster images, recognised by their first bytes."""

import base64
import binascii
from typing import NamedTuple

from vantage.conversation.store.conversation_folder import ConversationFolder, check_id
from vantage.conversation.store.files.writing import make_directory, write_atomically
from vantage.errors import InputError, NotFound, TooLarge

MAX_BYTES = 8 << 20
MAX_ASSETS = 1000

_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_RIFF, _WEBP = b"RIFF", b"WEBP"


class Asset(NamedTuple):
    media: str
    data: bytes


def put_asset(folder: ConversationFolder, name: str, data_b64: str) -> Asset:
    """Keeps a picture; one with the same id is replaced."""
    check_id(name, "a picture's")
    try:
        data = base64.b64decode(data_b64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"data_b64 is not base64: {error}", hint="encode the file's bytes") from None
    if len(data) > MAX_BYTES:
        raise TooLarge(f"a picture has at most {MAX_BYTES:,} bytes, not {len(data):,}", hint="make it smaller")
    asset = Asset(_media(data), data)
    make_directory(folder.assets)
    target = folder.assets / name
    if not target.exists() and sum(1 for _ in folder.assets.iterdir()) >= MAX_ASSETS:
        raise TooLarge(f"a conversation has at most {MAX_ASSETS} pictures", hint="use another conversation")
    write_atomically(target, data)
    return asset


def get_asset(folder: ConversationFolder, name: str) -> Asset:
    check_id(name, "a picture's")
    try:
        data = (folder.assets / name).read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no picture {name!r}", hint="put it there first") from None
    return Asset(_media(data), data)


def _media(data: bytes) -> str:
    """The media type of a picture; None for anything that a browser might run."""
    if data[:4] == _RIFF and data[8:12] == _WEBP:
        return "image/webp"
    for start, media in _KINDS:
        if data.startswith(start):
            return media
    raise InputError("this is no PNG, JPEG, GIF or WebP picture", hint="convert it first")

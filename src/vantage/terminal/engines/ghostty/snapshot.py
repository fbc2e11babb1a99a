"""The library's terminal as bytes, and back. A state that its snapshots cannot contain raises `CheckpointError`."""

from typing import Any

from vantage.terminal.engines.ghostty.native import check, ffi, lib
from vantage.terminal.engines.ghostty.terminal import UNFINISHED_BYTES, VtTerminal
from vantage.terminal.engines.values import CheckpointError


def encode_snapshot(vt: VtTerminal, cols: int) -> bytes:
    if waits_before_the_end(vt, cols):
        raise CheckpointError(
            "a checkpoint cannot be made while the cursor waits behind a right margin",
            hint="make it later, or feed the bytes again (the library's snapshots do not have it)",
        )
    out, size = ffi.new("uint8_t**"), ffi.new("size_t*")
    if lib.ghostty_snapshot_encode_alloc(vt.native, ffi.NULL, out, size):
        raise CheckpointError(
            "a checkpoint cannot be made inside of a sequence this long",
            hint=f"make it later, or feed the bytes again (it may hold {UNFINISHED_BYTES} bytes of a sequence)",
        )
    snapshot = bytes(ffi.buffer(out[0], size[0]))
    lib.ghostty_free(ffi.NULL, out[0], size[0])
    return snapshot


def waits_before_the_end(vt: VtTerminal, cols: int) -> bool:
    """Whether the next character wraps although the cursor is not in the last column."""
    return vt.flag(lib.GHOSTTY_TERMINAL_DATA_CURSOR_PENDING_WRAP) and vt.position()[1] < cols - 1


def decode_snapshot(snapshot: bytes) -> Any:
    """A handle for `VtTerminal`."""
    decoder, terminal = ffi.new("GhosttySnapshotDecoder*"), ffi.new("GhosttyTerminal*")
    check(
        lib.ghostty_snapshot_decoder_new_buf(ffi.NULL, decoder, ffi.from_buffer("uint8_t[]", snapshot), len(snapshot)),
        "read",
    )
    try:
        for option, value in (
            (lib.GHOSTTY_SNAPSHOT_DECODER_OPT_MAX_CONTINUATION_BYTES, ffi.new("size_t*", UNFINISHED_BYTES)),
            (lib.GHOSTTY_SNAPSHOT_DECODER_OPT_RETAIN_CONTINUATION, ffi.new("bool*", True)),
        ):
            check(lib.ghostty_snapshot_decoder_set(decoder[0], option, value), "set up the decoder")
        if result := lib.ghostty_snapshot_decoder_decode(decoder[0], terminal):
            raise CheckpointError(
                f"the checkpoint is damaged (libghostty-vt answered {result})", hint="feed the bytes again"
            )
    finally:
        lib.ghostty_snapshot_decoder_free(decoder[0])
    return terminal[0]

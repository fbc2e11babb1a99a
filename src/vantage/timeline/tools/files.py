"""Looking at files: no output on success, the error when there is one."""

from vantage.text.style import BOLD
from vantage.timeline.calls import ToolCall
from vantage.timeline.row import head
from vantage.timeline.tools import Presentation, error_blocks, fits, presenter


@presenter("ls", "list", "list_directory", "list_dir")
def ls(call: ToolCall) -> Presentation | None:
    if not fits(call, {"path": str, "dir_path": str}):
        return None
    return Presentation(head("List", call.text("path", "dir_path")), error_blocks(call))


@presenter("read_file", "read", "view", "view_image")
def read_file(call: ToolCall) -> Presentation | None:
    if not fits(call, {"path": str, "file_path": str, "filePath": str, "absolute_path": str}):
        return None
    path = call.text("path", "file_path", "filePath", "absolute_path")
    return Presentation(head("Read", path, style=BOLD), error_blocks(call))


PRESENTERS = (ls, read_file)

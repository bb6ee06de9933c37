"""``read_file``: text by lines, documents as text, pictures for the model to look at."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evaluation.tools.documents import read_document
from evaluation.tools.outbox import Outbox, Picture
from evaluation.tools.tool import MAX_RESULT, Arguments, FilePath, ToolError
from evaluation.tools.workspace import Workspace
from studio.files.previews.sniff import MEDIA, pixels, sniff

MAX_LINES = 2_000
ROOM_FOR_NOTE = 100
"""Characters, for how to go on."""
MAX_PICTURE = 4 * 1024 * 1024
MAX_PIXELS = 8_000
"""Of a side."""
PICTURES = ("png", "jpeg", "gif", "webp")


class ReadFile(Arguments):
    path: FilePath
    offset: Annotated[int, Field(ge=1, description="Line to begin with, from 1 as grep counts")] = 1
    limit: Annotated[int, Field(ge=1, le=MAX_LINES, description="How many lines, at most 2000")] = MAX_LINES


def read_file(workspace: Workspace, arguments: ReadFile, outbox: Outbox | None) -> str:
    content = workspace.read(arguments.path)
    kind = sniff(arguments.path, content)
    if kind in PICTURES:
        return _show(arguments.path, kind, content, outbox)
    text = read_document(arguments.path, content)
    return by_lines(arguments.path, decode(arguments.path, content) if text is None else text, arguments)


def by_lines(path: str, text: str, arguments: ReadFile) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return "[the file is empty]"
    if arguments.offset > len(lines):
        raise ToolError(f"{path} has {len(lines)} lines; there is no line {arguments.offset}.")
    first = arguments.offset - 1
    last, room = first, MAX_RESULT - ROOM_FOR_NOTE
    while last < min(len(lines), first + arguments.limit) and (last == first or len(lines[last]) <= room):
        room -= len(lines[last])
        last += 1
    part = "".join(lines[first:last])
    return part if last >= len(lines) else f"{part}[{len(lines) - last} more lines; go on with offset {last + 1}]"


def decode(path: str, content: bytes) -> str:
    try:
        if b"\0" not in content[:8_000]:
            return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise ToolError(f"{path} is not a text file ({len(content)} bytes).")


def _show(path: str, kind: str, content: bytes, outbox: Outbox | None) -> str:
    size = pixels(kind, content)
    if outbox is None:
        raise ToolError(f"{path} is a picture ({len(content)} bytes), and you cannot look at pictures.")
    if len(content) > MAX_PICTURE or (size and max(size) > MAX_PIXELS):
        raise ToolError(
            f"{path} is too large to look at: a picture has at most {MAX_PICTURE // 2**20} MB and {MAX_PIXELS} pixels "
            "a side."
        )
    outbox.pictures.append(Picture(path, MEDIA[kind], content))
    measured = f", {size[0]} × {size[1]} pixels" if size else ""
    return f"{path} is a picture ({kind.upper()}{measured}, {len(content)} bytes). It follows, for you to look at."

"""Read, write and edit files and cells of notebooks, list folders, find names and text. Documents are read as text,
pictures are shown to the model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal

import re2
from pydantic import Field

from evaluation.tools.documents import joined, notebook_cells, read_document
from evaluation.tools.messages import Outbox, Picture
from evaluation.tools.tool import MAX_RESULT, Arguments, FilePath, ToolError, ToolOutcome
from evaluation.tools.workspace import Workspace, WorkspaceError
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


MAX_RESULTS = 200
MAX_LINE = 500
"""Characters of a line in grep's output."""
MAX_PATTERN = 500


class WriteFile(Arguments):
    path: FilePath
    content: Annotated[str, Field(description="The whole new content")]


class EditFile(Arguments):
    path: FilePath
    old_text: Annotated[str, Field(min_length=1, description="As it stands in the file, spaces and line breaks too")]
    new_text: Annotated[str, Field(description="What stands there then; empty deletes it")]
    replace_all: Annotated[bool, Field(description="Replace every occurrence")] = False


Offset = Annotated[int, Field(ge=0, description="How many results to leave out, to see those after them")]


class ListDir(Arguments):
    path: Annotated[str, Field(max_length=4_000, description="Folder; . is the workspace")] = "."
    recursive: Annotated[bool, Field(description="Go into its folders")] = True
    offset: Offset = 0


class Glob(Arguments):
    pattern: Annotated[
        str, Field(min_length=1, max_length=MAX_PATTERN, description="E.g. *.md, reports/*.csv, **/*.txt")
    ]
    offset: Offset = 0


class Grep(Arguments):
    pattern: Annotated[str, Field(min_length=1, max_length=MAX_PATTERN, description="Regular expression")]
    path: Annotated[str, Field(max_length=4_000, description="File or folder; . is the workspace")] = "."
    ignore_case: Annotated[bool, Field(description="Ignore case")] = True
    offset: Offset = 0


def write_file(workspace: Workspace, arguments: WriteFile) -> ToolOutcome:
    content = _bytes(arguments.content)
    new = not workspace.is_file(arguments.path)
    workspace.write(arguments.path, content)
    change = f"{arguments.path}: {'new file' if new else 'changed'}"
    return ToolOutcome(f"Wrote {len(content)} bytes to {arguments.path}.", (change,))


def edit_file(workspace: Workspace, arguments: EditFile) -> ToolOutcome:
    text = _text(workspace, arguments.path)
    count = text.count(arguments.old_text)
    if count == 0:
        raise ToolError(f"old_text does not occur in {arguments.path}; read the file and copy it exactly.")
    if count > 1 and not arguments.replace_all:
        raise ToolError(
            f"old_text occurs {count} times in {arguments.path}; give more of its surroundings, or replace_all."
        )
    if len(text) + count * (len(arguments.new_text) - len(arguments.old_text)) > workspace.limits.file_bytes:
        raise ToolError(f"A file may hold at most {workspace.limits.file_bytes // 2**20} MB.")
    workspace.write(arguments.path, _bytes(text.replace(arguments.old_text, arguments.new_text)))
    said = f"Replaced {count} {'piece' if count == 1 else 'pieces'} of text in {arguments.path}."
    return ToolOutcome(said, (f"{arguments.path}: changed",))


def list_dir(workspace: Workspace, arguments: ListDir) -> str:
    lines = (
        f"{entry.path}/" if entry.folder else entry.path
        for entry in workspace.entries(arguments.path, deep=arguments.recursive)
    )
    return _join_lines(lines, arguments.offset, "[the folder is empty]")


def glob(workspace: Workspace, arguments: Glob) -> str:
    fits = _glob(arguments.pattern.removeprefix("./"))
    matches = (entry.path for entry in workspace.entries(deep=True) if not entry.folder and fits(entry.path))
    return _join_lines(matches, arguments.offset, f"[no file matches {arguments.pattern}]")


def grep(workspace: Workspace, arguments: Grep) -> str:
    """Linear in the text for every pattern, since RE2 does not backtrack."""
    pattern = _pattern(arguments.pattern, arguments.ignore_case)
    if workspace.is_folder(arguments.path):
        paths = [entry.path for entry in workspace.entries(arguments.path, deep=True) if not entry.folder]
    else:
        paths = [arguments.path]

    def lines() -> Iterator[str]:
        for path in paths:
            try:
                text = _text(workspace, path)
            except (WorkspaceError, ToolError):
                if len(paths) == 1 and path == arguments.path:
                    raise
                continue  # not text, or too large: nothing to find
            for number, line in enumerate(text.splitlines(), start=1):
                if pattern.search(line):
                    yield f"{path}:{number}: {line[:MAX_LINE]}"

    return _join_lines(lines(), arguments.offset, "[no line matches]")


def _text(workspace: Workspace, path: str) -> str:
    return decode(path, workspace.read(path))


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError("The text holds half a character (an unpaired surrogate).") from None


def _join_lines(lines: Iterator[str], offset: int, if_empty: str) -> str:
    output: list[str] = []
    for number, line in enumerate(lines):
        if number < offset:
            continue
        if len(output) == MAX_RESULTS:
            output.append(f"[{MAX_RESULTS} are shown; go on with offset {number}, or ask more narrowly]")
            break
        output.append(line)
    return "\n".join(output) or (f"[there are no more than {offset}]" if offset else if_empty)


@lru_cache(maxsize=256)
def _pattern(text: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(text, options)
    except re2.error as error:
        message = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise ToolError(f"The pattern is not a regular expression: {message}.") from None
    except UnicodeEncodeError:
        raise ToolError("The pattern holds half a character (an unpaired surrogate).") from None


def _glob(pattern: str) -> Callable[[str], bool]:
    """``*`` and ``?`` match within a name, ``**`` any folders; a bare name matches at any depth."""
    parts = [part for part in pattern.split("/") if part]
    if len(parts) == 1:
        parts = ["**", *parts]
    whole = re2.compile("".join("(?:/[^/]*)*" if part == "**" else f"/{_name_pattern(part)}" for part in parts))
    return lambda path: whole.fullmatch(f"/{path}") is not None


def _name_pattern(part: str) -> str:
    stars = {"": "", "?": "[^/]"}
    return "".join(
        "[^/]*" if piece.startswith("*") else stars.get(piece, re2.escape(piece))
        for piece in re.split(r"(\*+|\?)", part)
    )


EMPTY: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


class NotebookEdit(Arguments):
    path: FilePath
    cell_index: Annotated[int, Field(ge=0, description="Number of the cell, from 0")]
    new_source: Annotated[str, Field(description="The cell's whole new content")] = ""
    cell_type: Annotated[Literal["code", "markdown"], Field(description="Kind of a new or changed cell")] = "code"
    edit_mode: Annotated[
        Literal["replace", "insert", "delete"], Field(description="insert puts the cell after that number")
    ] = "replace"


def notebook_edit(workspace: Workspace, arguments: NotebookEdit) -> ToolOutcome:
    """A notebook that does not exist is made by inserting its first cell."""
    new = arguments.edit_mode == "insert" and not workspace.is_file(arguments.path)
    notebook = dict(EMPTY, cells=[]) if new else _parse(arguments.path, workspace.read(arguments.path))
    cells, at = notebook["cells"], arguments.cell_index
    if arguments.edit_mode == "insert":
        at = min(at + 1, len(cells)) if cells else 0
        cells.insert(at, _cell(arguments, _free_id(cells)))
        said = f"Inserted cell {at}"
    elif at >= len(cells):
        raise ToolError(f"{arguments.path} has {len(cells)} cells; there is no cell {at}.")
    elif arguments.edit_mode == "delete":
        del cells[at]
        said = f"Deleted cell {at}"
    else:
        cells[at] = {**_cell(arguments, cells[at].get("id")), "metadata": cells[at].get("metadata") or {}}
        said = f"Replaced cell {at}"
    workspace.write(arguments.path, (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode())
    change = f"{arguments.path}: {'new file' if new else 'changed'}"
    return ToolOutcome(f"{said} of {arguments.path}; it has {len(cells)} cells now.", (change,))


def _parse(path: str, content: bytes) -> dict[str, Any]:
    cells = notebook_cells(path, content)
    notebook: dict[str, Any] = json.loads(content)
    return notebook | {"cells": cells}


def _cell(arguments: NotebookEdit, identity: Any) -> dict[str, Any]:
    named = {"id": identity} if identity is not None else {}
    cell = {"cell_type": arguments.cell_type, **named, "metadata": {}, "source": joined(arguments.new_source)}
    return cell | ({"execution_count": None, "outputs": []} if arguments.cell_type == "code" else {})


def _free_id(cells: list[dict[str, Any]]) -> str:
    taken = {cell.get("id") for cell in cells}
    return next(name for number in range(len(cells) + 1) if (name := f"cell-{number + 1}") not in taken)

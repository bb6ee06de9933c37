"""Write and edit files, list folders, find names and text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any

import re2
from pydantic import Field

from evaluation.tools.reading import decode
from evaluation.tools.tool import Arguments, FilePath, ToolError, ToolOutcome
from evaluation.tools.workspace import Workspace, WorkspaceError

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
    parts = [None if part == "**" else re2.compile(_name_pattern(part)) for part in pattern.split("/") if part]
    if len(parts) == 1:
        parts = [None, *parts]

    def matches(path: str) -> bool:
        positions = {0}  # indexes of parts that may come next
        for name in path.split("/"):
            positions = {
                index + 1 if parts[index] else index for index in expand(positions) if _matches_part(parts[index], name)
            }
        return len(parts) in expand_to_end(positions)

    def expand(positions: set[int]) -> set[int]:
        expanded = set(positions)
        for index in sorted(positions):
            while index < len(parts) and parts[index] is None:
                index += 1
                expanded.add(index)
        return {index for index in expanded if index < len(parts)}

    def expand_to_end(positions: set[int]) -> set[int]:
        return positions | {len(parts) for index in positions if all(part is None for part in parts[index:])}

    return matches


def _matches_part(part: Any, name: str) -> bool:
    return part is None or part.fullmatch(name) is not None


def _name_pattern(part: str) -> str:
    out = ""
    for piece in re.split(r"(\*+|\?)", part):
        out += ".*" if piece.startswith("*") else "." if piece == "?" else re2.escape(piece)
    return out

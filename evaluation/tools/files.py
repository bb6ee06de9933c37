"""The workspace tools: read, write and edit files, list folders, find names and text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache, wraps
from typing import Annotated, Any

import re2
from pydantic import Field

from evaluation.tools.tool import Arguments, Tool, ToolError
from evaluation.tools.workspace import Workspace, WorkspaceError

MAX_LINES = 2_000
MAX_RESULTS = 200
MAX_LINE = 500
"""Characters of a line in grep's output."""
MAX_PATTERN = 500

Path = Annotated[
    str, Field(min_length=1, max_length=4_000, description="Path within the workspace, e.g. notes/plan.md")
]


class ReadFile(Arguments):
    path: Path
    offset: Annotated[int, Field(ge=1, description="First line to read, from 1")] = 1
    limit: Annotated[int, Field(ge=1, le=MAX_LINES, description="How many lines")] = MAX_LINES


class WriteFile(Arguments):
    path: Path
    content: Annotated[str, Field(description="The whole new content")]


class EditFile(Arguments):
    path: Path
    old_text: Annotated[str, Field(min_length=1, description="Text to replace, exactly as it stands in the file")]
    new_text: Annotated[str, Field(description="What to put there instead")]
    replace_all: Annotated[bool, Field(description="Replace every occurrence")] = False


class ListDir(Arguments):
    path: Annotated[str, Field(max_length=4_000, description="Folder; . is the workspace")] = "."
    recursive: Annotated[bool, Field(description="Go into its folders")] = True


class Glob(Arguments):
    pattern: Annotated[
        str, Field(min_length=1, max_length=MAX_PATTERN, description="E.g. *.md, reports/*.csv, **/*.txt")
    ]


class Grep(Arguments):
    pattern: Annotated[str, Field(min_length=1, max_length=MAX_PATTERN, description="Regular expression")]
    path: Annotated[str, Field(max_length=4_000, description="File or folder; . is the workspace")] = "."
    ignore_case: Annotated[bool, Field(description="Ignore case")] = True


def workspace_tools(workspace: Workspace) -> list[Tool]:
    def tool(
        name: str, description: str, arguments_type: type[Arguments], run: Callable[[Workspace, Any], str]
    ) -> Tool:
        @wraps(run)
        def run_safely(arguments: Any) -> str:
            try:
                return run(workspace, arguments)
            except WorkspaceError as error:
                raise ToolError(str(error)) from None
            except OSError as error:
                raise ToolError(f"The file system refuses: {error.strerror}.") from None

        return Tool(name, description, arguments_type, run_safely)

    return [
        tool("read_file", "Read a text file of the workspace.", ReadFile, read_file),
        tool(
            "write_file",
            "Make a file, or replace its whole content. Folders are made as needed.",
            WriteFile,
            write_file,
        ),
        tool("edit_file", "Replace a piece of text in a file; it must occur exactly once.", EditFile, edit_file),
        tool("list_dir", "List the files of a folder.", ListDir, list_dir),
        tool("glob", "Find files by name. ** stands for any folders.", Glob, glob),
        tool("grep", "Find lines by a regular expression, as path:line: text.", Grep, grep),
    ]


def read_file(workspace: Workspace, arguments: ReadFile) -> str:
    lines = _text(workspace, arguments.path).splitlines(keepends=True)
    if not lines:
        return "[the file is empty]"
    if arguments.offset > len(lines):
        raise ToolError(f"{arguments.path} has {len(lines)} lines; there is no line {arguments.offset}.")
    last = arguments.offset - 1 + arguments.limit
    text = "".join(lines[arguments.offset - 1 : last])
    return text if last >= len(lines) else f"{text}[{len(lines) - last} more lines; go on with offset {last + 1}]"


def write_file(workspace: Workspace, arguments: WriteFile) -> str:
    content = _bytes(arguments.content)
    workspace.write(arguments.path, content)
    return f"Wrote {len(content)} bytes to {arguments.path}."


def edit_file(workspace: Workspace, arguments: EditFile) -> str:
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
    return f"Replaced {count} {'piece' if count == 1 else 'pieces'} of text in {arguments.path}."


def list_dir(workspace: Workspace, arguments: ListDir) -> str:
    lines = (
        f"{entry.path}/" if entry.folder else entry.path
        for entry in workspace.entries(arguments.path, deep=arguments.recursive)
    )
    return _join_lines(lines, "[the folder is empty]")


def glob(workspace: Workspace, arguments: Glob) -> str:
    fits = _glob(arguments.pattern.removeprefix("./"))
    matches = (entry.path for entry in workspace.entries(deep=True) if not entry.folder and fits(entry.path))
    return _join_lines(matches, f"[no file matches {arguments.pattern}]")


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

    return _join_lines(lines(), "[no line matches]")


def _text(workspace: Workspace, path: str) -> str:
    content = workspace.read(path)
    try:
        if b"\0" not in content[:8_000]:
            return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise ToolError(f"{path} is not a text file ({len(content)} bytes).")


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError("The text holds half a character (an unpaired surrogate).") from None


def _join_lines(lines: Iterator[str], if_empty: str) -> str:
    output: list[str] = []
    for line in lines:
        if len(output) == MAX_RESULTS:
            output.append(f"[only the first {MAX_RESULTS} are shown; ask more narrowly]")
            break
        output.append(line)
    return "\n".join(output) or if_empty


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

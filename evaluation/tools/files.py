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
MAX_FOUND = 200
MAX_LINE = 500
"""Characters of a line that grep shows."""
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
    """The tools over one workspace. They raise ToolError and nothing else."""

    def tool(name: str, description: str, takes: type[Arguments], run: Callable[[Workspace, Any], str]) -> Tool:
        @wraps(run)
        def told(arguments: Any) -> str:
            try:
                return run(workspace, arguments)
            except WorkspaceError as problem:
                raise ToolError(str(problem)) from None
            except OSError as error:
                raise ToolError(f"The file system refuses: {error.strerror}.") from None

        return Tool(name, description, takes, told)

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


def read_file(workspace: Workspace, given: ReadFile) -> str:
    lines = _text(workspace, given.path).splitlines(keepends=True)
    if not lines:
        return "[the file is empty]"
    if given.offset > len(lines):
        raise ToolError(f"{given.path} has {len(lines)} lines; there is no line {given.offset}.")
    last = given.offset - 1 + given.limit
    text = "".join(lines[given.offset - 1 : last])
    return text if last >= len(lines) else f"{text}[{len(lines) - last} more lines; go on with offset {last + 1}]"


def write_file(workspace: Workspace, given: WriteFile) -> str:
    content = _bytes(given.content)
    workspace.write(given.path, content)
    return f"Wrote {len(content)} bytes to {given.path}."


def edit_file(workspace: Workspace, given: EditFile) -> str:
    text = _text(workspace, given.path)
    count = text.count(given.old_text)
    if count == 0:
        raise ToolError(f"old_text does not occur in {given.path}; read the file and copy it exactly.")
    if count > 1 and not given.replace_all:
        raise ToolError(
            f"old_text occurs {count} times in {given.path}; give more of its surroundings, or replace_all."
        )
    if len(text) + count * (len(given.new_text) - len(given.old_text)) > workspace.limits.file_bytes:
        raise ToolError(f"A file may hold at most {workspace.limits.file_bytes // 2**20} MB.")
    workspace.write(given.path, _bytes(text.replace(given.old_text, given.new_text)))
    return f"Replaced {count} {'piece' if count == 1 else 'pieces'} of text in {given.path}."


def list_dir(workspace: Workspace, given: ListDir) -> str:
    lines = (
        f"{entry.path}/" if entry.folder else entry.path
        for entry in workspace.entries(given.path, deep=given.recursive)
    )
    return _listed(lines, "[the folder is empty]")


def glob(workspace: Workspace, given: Glob) -> str:
    matches = _glob(given.pattern.removeprefix("./"))
    found = (entry.path for entry in workspace.entries(deep=True) if not entry.folder and matches(entry.path))
    return _listed(found, f"[no file matches {given.pattern}]")


def grep(workspace: Workspace, given: Grep) -> str:
    """In time linear in the text, whatever the pattern: RE2 does not backtrack."""
    pattern = _pattern(given.pattern, given.ignore_case)
    if workspace.is_folder(given.path):
        paths = [entry.path for entry in workspace.entries(given.path, deep=True) if not entry.folder]
    else:
        paths = [given.path]

    def lines() -> Iterator[str]:
        for path in paths:
            try:
                text = _text(workspace, path)
            except (WorkspaceError, ToolError):
                if len(paths) == 1 and path == given.path:
                    raise
                continue  # not text, or too large: nothing to find
            for number, line in enumerate(text.splitlines(), start=1):
                if pattern.search(line):
                    yield f"{path}:{number}: {line[:MAX_LINE]}"

    return _listed(lines(), "[no line matches]")


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


def _listed(lines: Iterator[str], nothing: str) -> str:
    found: list[str] = []
    for line in lines:
        if len(found) == MAX_FOUND:
            found.append(f"[only the first {MAX_FOUND} are shown; ask more narrowly]")
            break
        found.append(line)
    return "\n".join(found) or nothing


@lru_cache(maxsize=256)
def _pattern(text: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(text, options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise ToolError(f"The pattern is not a regular expression: {said}.") from None
    except UnicodeEncodeError:
        raise ToolError("The pattern holds half a character (an unpaired surrogate).") from None


def _glob(pattern: str) -> Callable[[str], bool]:
    """``*`` and ``?`` stay within a name; ``**`` stands for any folders; a bare name fits at any depth."""
    wanted = [None if part == "**" else re2.compile(_name(part)) for part in pattern.split("/") if part]
    if len(wanted) == 1:
        wanted = [None, *wanted]

    def matches(path: str) -> bool:
        reached = {0}  # how much of the pattern may be used up
        for name in path.split("/"):
            reached = {place + 1 if wanted[place] else place for place in _open(reached) if _fits(wanted[place], name)}
        return len(wanted) in _open_end(reached)

    def _open(reached: set[int]) -> set[int]:
        """A ``**`` may also stand for nothing."""
        found = set(reached)
        for place in sorted(reached):
            while place < len(wanted) and wanted[place] is None:
                place += 1
                found.add(place)
        return {place for place in found if place < len(wanted)}

    def _open_end(reached: set[int]) -> set[int]:
        return reached | {len(wanted) for place in reached if all(part is None for part in wanted[place:])}

    return matches


def _fits(part: Any, name: str) -> bool:
    return part is None or part.fullmatch(name) is not None


def _name(part: str) -> str:
    """One name's pattern in RE2's dialect."""
    out = ""
    for piece in re.split(r"(\*+|\?)", part):
        out += ".*" if piece.startswith("*") else "." if piece == "?" else re2.escape(piece)
    return out

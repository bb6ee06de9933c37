"""``exec``: a command in the sandbox, over the session's workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from evaluation.protocol.clock import Clock
from evaluation.sandbox import SandboxLimits, SandboxResult, SandboxUnavailableError
from evaluation.sandbox.shell import LIMITS, MAX_COMMAND, Entry, Outside, run_shell
from evaluation.tools.tool import Arguments, ToolError, ToolOutcome
from evaluation.tools.workspace import Workspace, WorkspaceError, WorkspaceLimits

MAX_SECONDS = 300
SESSION_SECONDS = 1_800.0
"""Of all commands of a session together."""
MAX_SHOWN = 15_000
"""Characters of output that the agent sees: the start and the end of it."""
MAX_NAMED = 8
"""Files that a message names."""


class Exec(Arguments):
    command: Annotated[str, Field(min_length=1, max_length=MAX_COMMAND // 4, description="For bash, in the workspace")]
    timeout: Annotated[int, Field(ge=1, le=MAX_SECONDS, description="Seconds it may take")] = 60


@dataclass
class Shell:
    """Of one session."""

    workspace: Workspace
    used: float = 0.0
    """Seconds that its commands have taken."""
    most: float = MAX_SECONDS
    """Seconds of one command."""
    limits: SandboxLimits = field(default=LIMITS)
    clock: Clock = field(default_factory=Clock)
    tell: Callable[[str], None] | None = None
    """Gets the command and what it has printed so far, as it goes on."""

    @property
    def now(self) -> datetime | None:
        """What time programs are told; None: the machine's."""
        return self.clock.now if self.clock.moves else None

    def execute(self, arguments: Exec) -> ToolOutcome:
        """Raises ToolError. What the sandbox cannot do is no fault of the agent's, but it can only be told."""
        left = SESSION_SECONDS - self.used
        if left <= 0:
            raise ToolError(f"The commands of this session have taken {SESSION_SECONDS:g} seconds; there are no more.")
        if "\0" in arguments.command:
            raise ToolError("The command holds a zero byte.")
        limits = replace(self.limits, seconds=min(float(arguments.timeout), self.most, left))
        changes: list[str] = []
        problems: list[str] = []

        def carry_over(folder: Path) -> None:
            found, failed = carry_back(folder, self.workspace)
            changes.extend(found)
            problems.extend(failed)

        try:
            outcome = run_shell(
                arguments.command,
                list(entries_of(self.workspace)),
                carry_over,
                limits,
                look=partial(self._look, arguments.command),
                outside=Outside(now=self.now),
            )
        except SandboxUnavailableError as error:
            raise ToolError(f"No command can be run now. {error}") from None
        self.used += outcome.seconds
        text = "\n".join((*_report(outcome, limits), *_refused(problems)))
        if outcome.reason != "ok":
            raise ToolError(text, result=text, changes=tuple(changes))
        return ToolOutcome(text, tuple(changes))

    def _look(self, command: str, stdout: bytes, stderr: bytes) -> None:
        if self.tell is not None:
            self.tell("\n".join((f"$ {command}", *_printed(stdout, stderr))))


def entries_of(workspace: Workspace) -> Iterator[Entry]:
    for entry in workspace.entries(deep=True):
        if entry.folder:
            yield entry.path, None
        elif entry.size <= workspace.limits.file_bytes:
            yield entry.path, workspace.read(entry.path)


def carry_back(folder: Path, workspace: Workspace) -> tuple[list[str], list[str]]:
    """Make ``workspace`` hold what ``folder`` does, as far as it may: what changed, and what was refused and why.

    ``folder`` is hostile, and nobody writes to it any more.
    """
    limits = WorkspaceLimits(file_bytes=workspace.limits.file_bytes, total_bytes=1 << 62, files=1 << 31)
    left = Workspace(folder, limits)
    try:
        after = {entry.path: entry for entry in left.entries(deep=True, special=True)}
    except OSError:
        return [], ["the workspace is no folder any more; its files are as they were before the command"]
    problems = [f"{_shown(path)} (not a plain file)" for path, entry in after.items() if entry.special]
    before = {entry.path: entry for entry in workspace.entries(deep=True)}
    changes = []
    for path in sorted(before, reverse=True):  # what a folder holds comes before it
        now = after.get(path)
        replaced = now is not None and not now.special and now.folder != before[path].folder
        if (now is None or replaced) and _removed(workspace, path) and not before[path].folder:
            changes.append(f"{path}: deleted")
    for path, entry in after.items():
        if entry.special:
            continue
        old = before.get(path)
        try:
            if entry.folder:
                if old is None or not old.folder:
                    workspace.make_folder(path)
                continue
            content = left.read(path)
            if old is not None and old.size == entry.size and not old.folder and workspace.read(path) == content:
                continue
            workspace.write(path, content)
            changes.append(f"{path}: {'new file' if old is None or old.folder else 'changed'}")
        except (WorkspaceError, OSError) as error:
            problems.append(f"{_shown(path)} ({error})")
    return changes, problems


def _shown(path: str) -> str:
    """A name that may be anything but a slash."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(character if character.isprintable() else "?" for character in text)[:200]


def _removed(workspace: Workspace, path: str) -> bool:
    try:
        workspace.remove(path)
    except WorkspaceError:
        return False
    return True


def _report(outcome: SandboxResult, limits: SandboxLimits) -> Iterator[str]:
    printed = list(_printed(outcome.stdout, outcome.stderr))
    yield from printed
    if outcome.reason == "crash":
        yield f"[exit status {outcome.exit}]"
    elif outcome.reason != "ok":
        yield f"[{outcome.explain(limits)}]"
    elif not printed:
        yield "[no output]"


def _printed(stdout: bytes, stderr: bytes) -> Iterator[str]:
    if output := stdout.decode("utf-8", "replace").rstrip("\n"):
        yield _middle_cut(output)
    if errors := stderr.decode("utf-8", "replace").rstrip("\n"):
        yield f"[standard error]\n{_middle_cut(errors)}"


def _middle_cut(text: str) -> str:
    if len(text) <= MAX_SHOWN // 2:
        return text
    half = MAX_SHOWN // 4
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[{left_out} characters left out: write to a file and read that by lines]\n{text[-half:]}"


def _refused(problems: list[str]) -> Iterator[str]:
    if problems:
        more = f" and {len(problems) - MAX_NAMED} more" if len(problems) > MAX_NAMED else ""
        yield f"[not kept: {'; '.join(problem[:300] for problem in problems[:MAX_NAMED])}{more}]"

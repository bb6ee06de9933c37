"""The general tools, which every agent has unless its persona names some of them; what is said of them stands in
``general.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from shutil import which
from typing import Any

from evaluation.protocol.clock import Clock
from evaluation.sandbox import why_unavailable
from evaluation.sandbox.chain import Layout
from evaluation.sandbox.packages import built_packages, why_no_packages
from evaluation.tools import files, messages, schedule
from evaluation.tools.messages import Outbox
from evaluation.tools.shell import Exec, Shell
from evaluation.tools.subagents import Spawn, SpawnSubagent
from evaluation.tools.tool import Arguments, Tool, ToolError, ToolOutcome
from evaluation.tools.web import Corpus, WebFetch, WebSearch, web_fetch, web_search
from evaluation.tools.workspace import Workspace, WorkspaceError


@dataclass(frozen=True)
class Surroundings:
    """What general tools act on. A tool whose part is missing is not offered."""

    workspace: Workspace
    outbox: Outbox | None = None
    """Where the agent's loop looks for pictures, messages and questions."""
    asks: bool = True
    """Whether the agent's turn can end with a question of ``ask_user``."""
    spawn: Spawn | None = None
    shell: Shell | None = None
    corpus: Corpus | None = None
    clock: Clock = field(default_factory=Clock)


Run = Callable[[Any], str | ToolOutcome]
Build = Callable[[Surroundings], Run | None]


@dataclass(frozen=True)
class GeneralTool:
    name: str
    title: str
    """In the paper's Table 3."""
    plain: str
    """For experts."""
    description: str
    """For the model."""
    arguments: type[Arguments]
    build: Build
    """None: not where things are so."""
    lacking: Callable[[], str] = str
    """Why no agent gets it on this machine; empty if it does."""
    more: Callable[[], str] = str
    """What else is true of it on this machine, for the model."""
    caveat: Callable[[], str] = str
    """What it lacks on this machine, for experts."""


def general_tools(surroundings: Surroundings, names: Iterable[str] = ()) -> list[Tool]:
    """Those among ``names``; all, if there is none among them."""
    return [
        Tool(tool.name, tool.description + tool.more(), tool.arguments, _guarded(run))
        for name in general_names(names)
        if (run := (tool := GENERAL[name]).build(surroundings)) is not None and not tool.lacking()
    ]


def general_names(names: Iterable[str]) -> list[str]:
    named = [name for name in dict.fromkeys(names) if name in GENERAL]
    return named or list(GENERAL)


def reachable_names(bound: Iterable[str], chosen: Iterable[str]) -> tuple[str, ...]:
    """What an agent gets of the names that its persona binds when its task chooses some. A persona or a task that
    names general tools has no others; a task that names tools of apps has no others of these."""
    bound, chosen = tuple(bound), frozenset(chosen)
    general = general_names(bound)
    general = [name for name in general if name in chosen] or general
    return (*general, *(name for name in bound if name not in GENERAL and (not chosen or name in chosen)))


def _guarded(run: Run) -> Run:
    def run_safely(arguments: Any) -> str | ToolOutcome:
        try:
            return run(arguments)
        except WorkspaceError as error:
            raise ToolError(str(error)) from None
        except OSError as error:
            raise ToolError(f"The file system refuses: {error.strerror}.") from None

    return run_safely


def _on(part: Callable[[Surroundings], Any], run: Callable[[Any, Any], str | ToolOutcome]) -> Build:
    """``run`` on a part of the surroundings, where there is one."""
    return lambda around: None if (found := part(around)) is None else partial(run, found)


_in_workspace = partial(_on, attrgetter("workspace"))


def _send(around: Surroundings) -> Run | None:
    return None if around.outbox is None else partial(messages.send_message, around.outbox, around.workspace)


PROGRAMS = (
    "python3 git node perl jq sqlite3 make gcc pandoc soffice pdftotext qpdf tesseract convert ffmpeg zip unzip"
).split()
"""Worth telling that they are there, beside what every system has."""


@cache
def _programs_said() -> str:
    there = [name for name in PROGRAMS if which(name, path=Layout.path)]
    said = f" Programs, besides the usual ones: {', '.join(there)}." if there else ""
    if not built_packages():
        return f"{said} Python has its standard library alone."
    return (
        f"{said} Python has pandas, numpy, matplotlib and pypdf; write Word with python-docx (import docx), Excel with "
        "openpyxl, PowerPoint with python-pptx (import pptx), and PDF with matplotlib; read_file shows what they hold."
    )


_ACTS: dict[str, tuple[Any, ...]] = {
    "read_file": (files.ReadFile, lambda around: partial(files.read_file, around.workspace, outbox=around.outbox)),
    "write_file": (files.WriteFile, _in_workspace(files.write_file)),
    "edit_file": (files.EditFile, _in_workspace(files.edit_file)),
    "list_dir": (files.ListDir, _in_workspace(files.list_dir)),
    "glob": (files.Glob, _in_workspace(files.glob)),
    "grep": (files.Grep, _in_workspace(files.grep)),
    "notebook_edit": (files.NotebookEdit, _in_workspace(files.notebook_edit)),
    "exec": (Exec, _on(attrgetter("shell"), Shell.execute), why_unavailable, _programs_said, why_no_packages),
    "ask_user": (messages.AskUser, _on(lambda around: around.outbox if around.asks else None, messages.ask_user)),
    "message": (messages.SendMessage, _send),
    "spawn": (SpawnSubagent, attrgetter("spawn")),
    "cron": (schedule.Cron, lambda around: lambda given: schedule.schedule(around.workspace, around.clock.now, given)),
    "web_search": (WebSearch, _on(attrgetter("corpus"), web_search)),
    "web_fetch": (WebFetch, _on(attrgetter("corpus"), web_fetch)),
}
"""Further fields of ``GeneralTool``, from the arguments on."""
_TEXTS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("general.toml").read_text("utf-8"))
GENERAL = {
    name: GeneralTool(name, said["title"], said["plain"], said["description"], *_ACTS[name])
    for name, said in _TEXTS.items()
}

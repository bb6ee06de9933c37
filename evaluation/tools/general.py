"""The general tools, which every agent has unless its persona names some of them: names and order as in the paper's
Table 3, in the form that its scaffold gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from operator import attrgetter
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


GENERAL: dict[str, GeneralTool] = {
    tool.name: tool
    for tool in (
        GeneralTool(
            "read_file",
            "Read File",
            "Open a file: text, Word, Excel, PowerPoint, PDF, mail, notebooks, and pictures to look at",
            "Read a file of the workspace: text, pictures, and Word, Excel, PowerPoint, PDF, mail, notebooks as text. "
            "What is shown has no line numbers in it. At most 2000 lines and 20000 characters are shown at once; the "
            "last line then says with which offset to go on.",
            files.ReadFile,
            lambda around: partial(files.read_file, around.workspace, outbox=around.outbox),
        ),
        GeneralTool(
            "write_file",
            "Write File",
            "Make a file, or overwrite it",
            "Make a file, or replace its whole content. Folders are made as needed.",
            files.WriteFile,
            _in_workspace(files.write_file),
        ),
        GeneralTool(
            "edit_file",
            "Edit File",
            "Change a passage of a file",
            "Replace old_text by new_text in a text file. old_text must be a copy of what stands in the file and occur "
            "there exactly once: take in a neighbouring line if it occurs more often, or set replace_all. Not for "
            "Word, Excel, PowerPoint or PDF.",
            files.EditFile,
            _in_workspace(files.edit_file),
        ),
        GeneralTool(
            "list_dir",
            "List Directory",
            "See which files there are",
            "List the files of a folder and of the folders in it, a path each; folders end in /. At most 200 at once.",
            files.ListDir,
            _in_workspace(files.list_dir),
        ),
        GeneralTool(
            "glob",
            "Glob Search",
            "Find files by their name",
            "Find files by name; gives paths, at most 200 at once. * stands for anything in a name, ** for any "
            "folders; a bare name is found in every folder.",
            files.Glob,
            _in_workspace(files.glob),
        ),
        GeneralTool(
            "grep",
            "Grep Search",
            "Find words in the files",
            "Find lines of text files by a regular expression, as path:line: text, at most 200 at once. Lines count "
            "from 1, as the offset of read_file does.",
            files.Grep,
            _in_workspace(files.grep),
        ),
        GeneralTool(
            "notebook_edit",
            "Edit Notebook",
            "Change cells of a Jupyter notebook",
            "Replace, insert or delete a cell of a Jupyter notebook.",
            files.NotebookEdit,
            _in_workspace(files.notebook_edit),
        ),
        GeneralTool(
            "exec",
            "Shell Exec",
            "Run commands and programs over the files, shut off from the internet and from this computer",
            "Run a command in bash, in the workspace, without network. Files it leaves there stay; processes do not.",
            Exec,
            _on(attrgetter("shell"), Shell.execute),
            why_unavailable,
            _programs_said,
            why_no_packages,
        ),
        GeneralTool(
            "ask_user",
            "Ask User",
            "Stop and ask the user a question",
            "Ask the user for something you need. Your turn ends with the question.",
            messages.AskUser,
            _on(lambda around: around.outbox if around.asks else None, messages.ask_user),
        ),
        GeneralTool(
            "message",
            "Send Message",
            "Send the user a message, with files attached",
            "Send the user a message, with files if you like. Your turn goes on.",
            messages.SendMessage,
            _send,
        ),
        GeneralTool(
            "spawn",
            "Spawn Subagent",
            "Give a part of the work to a helper of its own",
            "Give a task that stands by itself to a helper with your files and apps; its answer is the result. "
            "In the background, you go on and take the answer later.",
            SpawnSubagent,
            attrgetter("spawn"),
        ),
        GeneralTool(
            "cron",
            "Schedule Task",
            "Set reminders and recurring tasks; those due by the episode’s clock open its next session",
            "Add, list or remove reminders and recurring tasks; you are told of those due when a session begins.",
            schedule.Cron,
            lambda around: lambda given: schedule.schedule(around.workspace, around.clock.now, given),
        ),
        GeneralTool(
            "web_search",
            "Web Search",
            "Search the web pages that are stored with the persona",
            "Search the web; gives titles, addresses and snippets.",
            WebSearch,
            _on(attrgetter("corpus"), web_search),
        ),
        GeneralTool(
            "web_fetch",
            "Web Fetch",
            "Read one of these pages",
            "Read the page at an address.",
            WebFetch,
            _on(attrgetter("corpus"), web_fetch),
        ),
    )
}

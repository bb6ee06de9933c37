"""The mailbox of a person in the assistant's seat, as the tools answered: an agent sees no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.agents.person import Tool
from evaluation.models import Rehearsal
from evaluation.rehearsals.calls import access_token, accounts_of, last_response
from studio.domain.tool_names import bare_tool_name

APP = "gmail"
LISTS = {
    "inbox": f"{APP}__show_inbox_threads",
    "sent": f"{APP}__show_outbox_threads",
    "starred": f"{APP}__show_starred_threads",
    "archived": f"{APP}__show_archived_threads",
}
MARKS = {
    "star": (f"{APP}__mark_thread_starred", f"{APP}__mark_thread_unstarred", "starred"),
    "archive": (f"{APP}__mark_thread_archived", f"{APP}__mark_thread_unarchived", "archived"),
    "mark read": (f"{APP}__mark_thread_read", f"{APP}__mark_thread_unread", "read"),
}
THREADS_SHOWN = 20


@dataclass(frozen=True)
class Mailbox:
    token: str
    accounts: tuple[tuple[str, str], ...]
    folder: str
    folders: tuple[tuple[str, str], ...]
    """Name and tool of those that the persona's tools can open."""
    threads: tuple[Mapping[str, Any], ...] | None
    """As the folder was when it was last opened; None if it was not."""
    thread: Mapping[str, Any] | None
    """The one that was opened last."""
    marks: tuple[tuple[str, str], ...]
    """What can be done with that thread: label and tool."""


def mail_tools(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Those of the mail app, by their names without prefix."""
    return {bare: tool for name, tool in tools.items() if (bare := bare_tool_name(name)).startswith(f"{APP}__")}


def load_mailbox(row: Rehearsal, tools: Mapping[str, Tool], folder: str = "") -> Mailbox:
    """``tools``: those of the mail app."""
    folder = folder if folder in LISTS else "inbox"
    threads = last_response(row, LISTS[folder])
    thread = last_response(row, f"{APP}__show_thread")
    thread = thread if isinstance(thread, dict) else None
    return Mailbox(
        access_token(row, APP),
        tuple(accounts_of(row, APP)),
        folder,
        tuple((name, tools[tool].name) for name, tool in LISTS.items() if tool in tools),
        tuple(each for each in threads if isinstance(each, dict)) if isinstance(threads, list) else None,
        thread,
        tuple(_marks(tools, thread)) if thread else (),
    )


def _marks(tools: Mapping[str, Tool], thread: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for label, (on, off, state) in MARKS.items():
        name = off if thread.get(state) else on
        if name in tools:
            found.append(
                (
                    f"un{label}" if name == off and label != "mark read" else "mark unread" if name == off else label,
                    tools[name].name,
                )
            )
    return found

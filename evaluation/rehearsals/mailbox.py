"""The mailbox of a person in the assistant's seat: what is in it now. What the person does there are calls of tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluation.rehearsals.calls import Desk
from evaluation.tools import Tool, World
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
SNIPPET = 140


@dataclass(frozen=True)
class ThreadRow:
    id: int
    people: str
    """Whom the mail is from; of one's own, whom it is to."""
    subject: str
    snippet: str
    date: str
    emails: int
    read: bool
    starred: bool
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Mailbox:
    token: str
    """Empty unless one is logged in."""
    user: str
    accounts: tuple[tuple[str, str], ...]
    folder: str
    folders: tuple[tuple[str, str], ...]
    """Name and tool of those that the persona's tools can open."""
    unread: int
    threads: tuple[ThreadRow, ...] = ()
    page: int = 0
    next_page: int | None = None
    thread: Mapping[str, Any] | None = None
    """The open one, as ``show_thread`` answers."""
    marks: tuple[tuple[str, str], ...] = ()
    """What can be done with that thread: label and tool."""


def mail_tools(tools: Mapping[str, Tool]) -> dict[str, Tool]:
    """Those of the mail app, by their names without prefix."""
    return {bare: tool for name, tool in tools.items() if (bare := bare_tool_name(name)).startswith(f"{APP}__")}


def load_mailbox(
    desk: Desk, tools: Mapping[str, Tool], folder: str = "", thread_id: int | None = None, page: int = 0
) -> Mailbox:
    """``tools``: those of the mail app."""
    folders = {name: tools[tool].name for name, tool in LISTS.items() if tool in tools}
    folder = folder if folder in LISTS else next(iter(folders), "inbox")
    token = desk.token_of(APP)
    world = desk.look_into(APP) if token else None
    account = _look(world, "show_account", token) if world else None
    if world is None or account is None:
        accounts = tuple(desk.accounts_of(APP))
        return Mailbox("", "", accounts, folder, tuple(folders.items()), 0)
    user = account["username"]
    listed = world.call(LISTS[folder], {"access_token": token, "page_index": page, "page_limit": THREADS_SHOWN})
    thread = _look(world, "show_thread", token, email_thread_id=thread_id) if thread_id is not None else None
    sizes = _look(world, "show_category_sizes", token) or {}
    return Mailbox(
        token,
        user,
        (),
        folder,
        tuple(folders.items()),
        int(sizes.get("unread", 0)),
        tuple(_rows(world, token, user, listed.response if listed.ok else ())),
        page,
        listed.next_page,
        thread,
        tuple(_marks(tools, thread)) if thread else (),
    )


def _look(world: World, api: str, token: str, **arguments: Any) -> dict[str, Any] | None:
    """None if the app refuses."""
    result = world.call(f"{APP}__{api}", {"access_token": token, **arguments})
    return dict(result.response) if result.ok else None


def _rows(world: World, token: str, user: str, threads: Any) -> Iterator[ThreadRow]:
    names = {account.username: account.name for account in world.state(APP).accounts}
    for each in threads:
        emails = (_look(world, "show_thread", token, email_thread_id=each["email_thread_id"]) or {}).get("emails", [])
        others = dict.fromkeys(email["sender"] for email in reversed(emails) if email["sender"] != user)
        written_to = dict.fromkeys(to for email in emails for to in email["recipients"])
        people = ", ".join(names.get(one, one) for one in (others or written_to))
        yield ThreadRow(
            id=each["email_thread_id"],
            people=people if others else f"To {people}",
            subject=each["subject"],
            snippet=" ".join(emails[-1]["body"].split())[:SNIPPET] if emails else "",
            date=each["updated_at"],
            emails=len(emails),
            read=each["read"],
            starred=each["starred"],
            labels=tuple(each.get("labels", ())),
        )


def _marks(tools: Mapping[str, Tool], thread: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for label, (on, off, state) in MARKS.items():
        name = off if thread.get(state) else on
        if name in tools:
            undone = "mark unread" if label == "mark read" else f"un{label}"
            yield undone if name == off else label, tools[name].name

"""Reading mail; ``writing_api`` sends it, ``label_api`` sorts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    Page,
    PageIndex,
    PageLimit,
    PeopleQuery,
    matches,
    paginate,
    search_people,
)
from evaluation.tools.apps.framework.tables import without_empty
from evaluation.tools.apps.gmail import label_api, writing_api
from evaluation.tools.apps.gmail.common import (
    EmailId,
    GmailCall,
    Label,
    Query,
    ThreadId,
    app,
    email_shown,
    own_thread,
    thread_shown,
    visible_email,
)
from evaluation.tools.apps.gmail.state import Email, GmailState, MailboxThread, mailbox_key, sent

__all__ = ["app", "label_api", "writing_api"]


PREVIEW = 100
"""Characters of the latest email's text."""


def _brief(state: GmailState, thread: dict[str, Any]) -> dict[str, Any]:
    latest = state.emails.get(thread["email_ids"][-1])
    said = ("email_thread_id", "subject", "read", "starred", "labels", "email_ids", "updated_at")
    return without_empty({name: thread[name] for name in said}) | {
        "from": latest.sender,
        "preview": " ".join(latest.body.split())[:PREVIEW],
    }


@app.api()
def search_users(
    call: GmailCall,
    query: PeopleQuery = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search people who use Gmail, by name or email address."""
    return search_people(call, query, page_index, page_limit)


@app.api(brief=_brief)
def show_inbox_threads(
    call: GmailCall,
    query: Query = "",
    label: Annotated[Label | None, Field(description="Only threads with this label")] = None,
    read: Annotated[bool | None, Field(description="True: only read threads; false: only unread")] = None,
    starred: Annotated[bool | None, Field(description="True: only starred threads; false: only others")] = None,
    archived: Annotated[bool | None, Field(description="False leaves archived threads out, null shows all")] = False,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List or search the threads in which you received an email, newest first."""

    def fits(box: MailboxThread) -> bool:
        return (
            (label is None or label in box.labels)
            and read in (None, box.read)
            and starred in (None, box.starred)
            and archived in (None, box.archived)
            and not box.spam
        )

    return _threads(call, query, fits, lambda email: call.user in email.recipients, page_index, page_limit)


@app.api(brief=_brief)
def show_outbox_threads(
    call: GmailCall,
    query: Query = "",
    label: Annotated[Label | None, Field(description="Only threads with this label")] = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List or search the threads in which you sent an email, newest first."""

    def fits(box: MailboxThread) -> bool:
        return label is None or label in box.labels

    return _threads(call, query, fits, lambda email: email.sender == call.user, page_index, page_limit)


@app.api(brief=_brief)
def show_starred_threads(
    call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List or search your starred threads, newest first."""
    return _threads(call, query, lambda box: box.starred, lambda email: True, page_index, page_limit)


@app.api(brief=_brief)
def show_archived_threads(
    call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List or search your archived threads, newest first."""
    return _threads(call, query, lambda box: box.archived, lambda email: True, page_index, page_limit)


@app.api(brief=_brief)
def show_spam_threads(call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List or search the threads you marked as spam, newest first."""
    return _threads(call, query, lambda box: box.spam, lambda email: True, page_index, page_limit)


@app.api()
def show_category_sizes(call: GmailCall) -> dict[str, Any]:
    """Count the threads in your inbox, outbox, archive and so on."""
    boxes = [box for box in call.state.mailboxes if box.owner == call.user and call.state.emails_in(box)]
    received, sent = set(), set()
    for email in call.state.emails:
        if call.user in email.recipients:
            received.add(email.email_thread_id)
        if email.sender == call.user:
            sent.add(email.email_thread_id)
    inbox = [box for box in boxes if box.email_thread_id in received and not (box.archived or box.spam)]
    return {
        "inbox": len(inbox),
        "unread": sum(not box.read for box in inbox),
        "outbox": sum(box.email_thread_id in sent for box in boxes),
        "starred": sum(box.starred for box in boxes),
        "archived": sum(box.archived for box in boxes),
        "drafts": sum(draft.owner == call.user for draft in call.state.drafts),
    }


@app.api()
def show_thread(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Show a thread with its emails, oldest first."""
    box = own_thread(call, email_thread_id)
    emails = call.state.emails_in(box)
    return {**thread_shown(call, box, emails), "emails": [email_shown(call, email) for email in emails]}


@app.api()
def show_email(call: GmailCall, email_id: EmailId) -> dict[str, Any]:
    """Show one email."""
    return email_shown(call, visible_email(call, email_id))


def _threads(
    call: GmailCall,
    query: str,
    fits: Callable[[MailboxThread], bool],
    counts: Callable[[Email], bool],
    page_index: int,
    page_limit: int,
) -> Page:
    """``counts``: an email that puts its thread in the list."""
    threads: dict[int, list[Email]] = {}
    for email in call.state.emails:
        threads.setdefault(email.email_thread_id or 0, []).append(email)

    def found() -> Iterator[tuple[MailboxThread, list[Email]]]:
        for number in sorted(threads, key=lambda number: max(map(sent, threads[number])), reverse=True):
            box = call.state.mailboxes.find(mailbox_key(number, call.user))
            if box is None or not fits(box):
                continue
            emails = [email for email in threads[number] if email.email_id not in box.deleted_emails]
            if any(map(counts, emails)) and _hold(emails, query):
                yield box, emails

    return paginate(found(), page_index, page_limit, lambda thread: thread_shown(call, *thread))


def _hold(emails: list[Email], query: str) -> bool:
    """Every word of the query, each in any of them."""
    texts = [(each.subject, each.body, each.sender, *each.recipients) for each in emails]
    return all(any(matches(word, *parts) for parts in texts) for word in query.split())

"""Labels and marks of threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    paginate,
)
from evaluation.tools.apps.gmail.common import (
    EmailId,
    GmailCall,
    Label,
    ThreadId,
    app,
    own_thread,
    visible_email,
)
from evaluation.tools.apps.gmail.state import MailboxThread


@app.api()
def search_labels(
    call: GmailCall,
    query: Annotated[str, Field(max_length=100, description="Part of a label; empty for all")] = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 10,
) -> Page:
    """Search the labels of your threads, with how many threads have each."""
    counts: dict[str, int] = {}
    for box in call.state.mailboxes:
        for label in box.labels if box.owner == call.user else ():
            counts[label] = counts.get(label, 0) + 1
    found = [{"label": name, "threads": counts[name]} for name in sorted(counts) if query.lower() in name.lower()]
    return paginate(found, page_index, page_limit)


@app.api()
def label_thread(call: GmailCall, email_thread_id: ThreadId, label: Label) -> dict[str, Any]:
    """Put a label on a thread."""
    box = own_thread(call, email_thread_id)
    _mark(call, box, labels=tuple(dict.fromkeys((*box.labels, label))))
    return {"message": f"The thread has the label {label!r}."}


@app.api()
def unlabel_thread(call: GmailCall, email_thread_id: ThreadId, label: Label) -> dict[str, Any]:
    """Take a label off a thread."""
    box = own_thread(call, email_thread_id)
    if label not in box.labels:
        raise InvalidError(f"The thread does not have the label {label!r}.")
    _mark(call, box, labels=tuple(each for each in box.labels if each != label))
    return {"message": f"The thread has the label {label!r} no longer."}


@app.api()
def delete_thread(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Delete a thread. Other people keep theirs."""
    box = own_thread(call, email_thread_id)
    gone = tuple(email.email_id for email in call.state.emails_of(email_thread_id))
    return _mark(call, box, "The thread was deleted.", deleted_emails=gone)


@app.api()
def delete_email_in_thread(call: GmailCall, email_thread_id: ThreadId, email_id: EmailId) -> dict[str, Any]:
    """Delete an email. Other people keep theirs."""
    box = own_thread(call, email_thread_id)
    if visible_email(call, email_id).email_thread_id != email_thread_id:
        raise NotFoundError(f"Email {email_id} is not in thread {email_thread_id}.")
    return _mark(call, box, "The email was deleted.", deleted_emails=(*box.deleted_emails, email_id))


def _add_mark(name: str, about: str, **changes: Any) -> None:
    @app.api(f"mark_thread_{name}", about)
    def mark(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
        return _mark(call, own_thread(call, email_thread_id), **changes)


_add_mark("read", "Mark a thread as read.", read=True)
_add_mark("unread", "Mark a thread as unread.", read=False)
_add_mark("starred", "Star a thread.", starred=True)
_add_mark("unstarred", "Take the star off a thread.", starred=False)
_add_mark("archived", "Archive a thread: it leaves the inbox.", archived=True)
_add_mark("unarchived", "Bring a thread back from the archive.", archived=False)
_add_mark("spam", "Mark a thread as spam: it leaves the inbox.", spam=True)
_add_mark("not_spam", "Mark a thread as no spam.", spam=False)


def _mark(call: GmailCall, box: MailboxThread, done: str = "The thread was updated.", **changes: Any) -> dict[str, Any]:
    call.state.mailboxes.put(replace(box, **changes))
    return {"message": done, "email_thread_id": box.email_thread_id}

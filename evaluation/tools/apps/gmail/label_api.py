"""Labels and marks of threads."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    InvalidError,
    Page,
    PageIndex,
    PageLimit,
    paginate,
)
from evaluation.tools.apps.gmail.common import (
    GmailCall,
    Label,
    ThreadId,
    app,
    own_thread,
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
def mark_thread_read(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Mark a thread as read."""
    return _mark(call, own_thread(call, email_thread_id), read=True)


@app.api()
def mark_thread_unread(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Mark a thread as unread."""
    return _mark(call, own_thread(call, email_thread_id), read=False)


@app.api()
def mark_thread_starred(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Star a thread."""
    return _mark(call, own_thread(call, email_thread_id), starred=True)


@app.api()
def mark_thread_unstarred(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Take the star off a thread."""
    return _mark(call, own_thread(call, email_thread_id), starred=False)


@app.api()
def mark_thread_archived(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Archive a thread: it leaves the inbox."""
    return _mark(call, own_thread(call, email_thread_id), archived=True)


@app.api()
def mark_thread_unarchived(call: GmailCall, email_thread_id: ThreadId) -> dict[str, Any]:
    """Bring a thread back from the archive."""
    return _mark(call, own_thread(call, email_thread_id), archived=False)


def _mark(call: GmailCall, box: MailboxThread, **changes: Any) -> dict[str, Any]:
    call.state.mailboxes.put(replace(box, **changes))
    return {"message": "The thread was updated.", "email_thread_id": box.email_thread_id}

"""The app, and what all its APIs use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.attachments import with_attachments
from evaluation.tools.apps.framework import (
    App,
    Call,
    NotFoundError,
    add_account_apis,
)
from evaluation.tools.apps.gmail.state import Email, GmailState, MailboxThread, mailbox_key

app = App(
    "gmail",
    GmailState,
    "Gmail",
    "Read, search, label and archive mail; write drafts, send, reply and forward.",
)
add_account_apis(app)

GmailCall = Call[GmailState]
ThreadId = Annotated[int, Field(description="From a list of threads")]
DraftId = Annotated[int, Field(description="From create_draft or show_drafts")]
EmailId = Annotated[int, Field(description="From show_thread")]
Address = Annotated[str, Field(pattern=r"^[^@\s,;]+@[^@\s,;]+\.[^@\s,;]+$", max_length=200)]
Addresses = Annotated[tuple[Address, ...], Field(min_length=1, max_length=50, description="Email addresses")]
Subject = Annotated[str, Field(max_length=500, description="Subject line")]
Body = Annotated[str, Field(max_length=100_000, description="Text of the email")]
Label = Annotated[str, Field(min_length=1, max_length=100, description="Name of a label, new or not")]
Query = Annotated[str, Field(max_length=500, description="Words of the subject, the text or an address")]


def own_thread(call: GmailCall, email_thread_id: int) -> MailboxThread:
    box = call.state.mailboxes.find(mailbox_key(email_thread_id, call.user))
    if box is None or not call.state.emails_in(box):
        raise NotFoundError(f"You have no thread with email_thread_id {email_thread_id}.")
    return box


def visible_email(call: GmailCall, email_id: int) -> Email:
    email = call.state.emails.find(email_id)
    box = call.state.mailboxes.find(mailbox_key(email.email_thread_id or 0, call.user)) if email else None
    if email is None or box is None or email_id in box.deleted_emails:
        raise NotFoundError(f"You have no email with email_id {email_id}.")
    return email


def thread_shown(call: GmailCall, box: MailboxThread, emails: list[Email]) -> dict[str, Any]:
    thread = call.state.threads.get(box.email_thread_id)
    return {
        "email_thread_id": box.email_thread_id,
        "subject": thread.subject,
        "participants": list(people_of(emails)),
        "email_ids": [email.email_id for email in emails],
        "read": box.read,
        "starred": box.starred,
        "archived": box.archived,
        "labels": list(box.labels),
        "created_at": thread.created_at,
        "updated_at": max((email.sent_at for email in emails), default=""),
    }


def people_of(emails: Iterable[Email]) -> dict[str, None]:
    return {person: None for email in emails for person in (email.sender, *email.recipients)}


def email_shown(call: GmailCall, email: Email) -> dict[str, Any]:
    return with_attachments(email, call.state.attachments)

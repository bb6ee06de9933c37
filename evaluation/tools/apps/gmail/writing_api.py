"""Sending emails, and drafts."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.framework import (
    InvalidError,
    Page,
    PageIndex,
    PageLimit,
    as_dict,
    matches,
    paginate,
)
from evaluation.tools.apps.gmail.common import (
    Address,
    Addresses,
    Body,
    DraftId,
    GmailCall,
    Query,
    Subject,
    ThreadId,
    app,
    own_thread,
    thread_shown,
    visible_email,
)
from evaluation.tools.apps.gmail.state import Draft, Email, EmailThread, MailboxThread, mailbox_key


@app.api()
def send_email(call: GmailCall, email_addresses: Addresses, subject: Subject = "", body: Body = "") -> dict[str, Any]:
    """Send an email to one or more people. It begins a new thread."""
    return _send(call, Draft(0, call.user, email_addresses, subject, body), "The email was sent.")


@app.api()
def reply_to_email(
    call: GmailCall,
    email_id: Annotated[int, Field(description="Email you answer, from show_thread")],
    body: Body,
    reply_to_all: Annotated[bool, Field(description="To everybody in it, instead of its sender alone")] = False,
) -> dict[str, Any]:
    """Reply to an email, in its thread."""
    email = visible_email(call, email_id)
    others = (email.sender, *(email.recipients if reply_to_all or email.sender == call.user else ()))
    recipients = tuple(dict.fromkeys(person for person in others if person != call.user)) or (call.user,)
    subject = email.subject if email.subject.lower().startswith("re:") else f"Re: {email.subject}".strip()
    draft = Draft(0, call.user, recipients, subject, body, email.email_thread_id, email_id)
    return _send(call, draft, "The reply was sent.")


@app.api()
def forward_email_thread(
    call: GmailCall,
    email_thread_id: ThreadId,
    email_addresses: Addresses,
    body: Annotated[Body, Field(description="What to write above it")] = "",
) -> dict[str, Any]:
    """Forward a thread to other people. It begins a new thread."""
    box = own_thread(call, email_thread_id)
    emails = call.state.emails_of(email_thread_id)
    quoted = [
        f"---------- Forwarded message ----------\nFrom: {email.sender}\nTo: {', '.join(email.recipients)}\n"
        f"Date: {email.sent_at}\nSubject: {email.subject}\n\n{email.body}"
        for email in emails
    ]
    subject = f"Fwd: {thread_shown(call, box, emails)['subject']}"
    text = "\n\n".join(part for part in (body, *quoted) if part)
    return _send(call, Draft(0, call.user, email_addresses, subject[:500], text), "The thread was forwarded.")


@app.api()
def create_draft(
    call: GmailCall,
    recipient_email_addresses: Annotated[
        tuple[Address, ...], Field(max_length=50, description="Email addresses; may be added later")
    ] = (),
    subject: Subject = "",
    body: Body = "",
    belongs_to_email_thread_id: Annotated[
        int | None, Field(description="Thread to send it in; left out: a new one")
    ] = None,
    response_to_email_id: Annotated[
        int | None, Field(description="Email it answers; it is sent in that thread")
    ] = None,
) -> dict[str, Any]:
    """Create a draft. It is not sent until send_email_from_draft."""
    thread_id = _thread_of_draft(call, belongs_to_email_thread_id, response_to_email_id)
    draft = Draft(
        call.state.drafts.next_id(),
        call.user,
        recipient_email_addresses,
        subject,
        body,
        thread_id,
        response_to_email_id,
        call.stamp,
        call.stamp,
    )
    call.state.drafts.put(draft)
    return {"message": "The draft was created.", "draft_id": draft.draft_id}


@app.api()
def update_draft(
    call: GmailCall,
    draft_id: DraftId,
    email_addresses: Annotated[
        tuple[Address, ...] | None,
        Field(
            max_length=50,
            description="Instead of all earlier recipients",
            validation_alias=AliasChoices("email_addresses", "recipient_email_addresses"),
        ),
    ] = None,
    subject: Subject | None = None,
    body: Body | None = None,
) -> dict[str, Any]:
    """Change a draft. What is left out stays as it is."""
    given = {"recipients": email_addresses, "subject": subject, "body": body}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    call.state.drafts.put(replace(call.own(call.state.drafts, draft_id), updated_at=call.stamp, **changes))
    return {"message": "The draft was updated."}


@app.api()
def show_drafts(call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List or search your drafts, latest first."""
    own = [draft for draft in call.state.drafts if draft.owner == call.user]
    found = [draft for draft in own if matches(query, draft.subject, draft.body, *draft.recipients)]
    found.sort(key=lambda draft: (draft.updated_at, draft.draft_id), reverse=True)
    return paginate(found, page_index, page_limit, _draft_shown)


@app.api()
def show_draft(call: GmailCall, draft_id: DraftId) -> dict[str, Any]:
    """Show a draft."""
    return _draft_shown(call.own(call.state.drafts, draft_id))


@app.api()
def delete_draft(call: GmailCall, draft_id: DraftId) -> dict[str, Any]:
    """Delete a draft."""
    call.state.drafts.remove(call.own(call.state.drafts, draft_id).draft_id)
    return {"message": "The draft was deleted."}


@app.api()
def send_email_from_draft(call: GmailCall, draft_id: DraftId) -> dict[str, Any]:
    """Send a draft. It is a draft no longer."""
    draft = call.own(call.state.drafts, draft_id)
    if not draft.recipients:
        raise InvalidError("The draft has no recipients. Add them with update_draft.")
    call.state.drafts.remove(draft_id)
    return _send(call, draft, "The email was sent from the draft.")


def _send(call: GmailCall, draft: Draft, message: str) -> dict[str, Any]:
    state = call.state
    thread_id = draft.belongs_to_email_thread_id
    if thread_id is None:
        thread_id = state.threads.put(EmailThread(state.threads.next_id(), draft.subject, call.stamp)).email_thread_id
    email = Email(
        state.emails.next_id(),
        call.user,
        tuple(dict.fromkeys(draft.recipients)),
        draft.subject,
        draft.body,
        call.stamp,
        thread_id,
        draft.response_to_email_id,
    )
    state.emails.put(email)
    participants = {person: None for each in state.emails_of(thread_id) for person in (each.sender, *each.recipients)}
    for person in participants:
        if person not in state.accounts:
            continue
        key = mailbox_key(thread_id, person)
        box = state.mailboxes.find(key)
        if box is None:
            state.mailboxes.put(MailboxThread(key, thread_id, person, read=person == call.user))
        elif person in email.recipients and person != call.user:
            state.mailboxes.put(replace(box, read=False, archived=False))
    return {"message": message, "sent_email_id": email.email_id, "sent_email_thread_id": thread_id}


def _thread_of_draft(call: GmailCall, thread_id: int | None, answered_id: int | None) -> int | None:
    if thread_id is not None:
        own_thread(call, thread_id)
    if answered_id is None:
        return thread_id
    answered = visible_email(call, answered_id)
    if thread_id not in (None, answered.email_thread_id):
        raise InvalidError(f"Email {answered_id} is not in thread {thread_id}, but in {answered.email_thread_id}.")
    return answered.email_thread_id


def _draft_shown(draft: Draft) -> dict[str, Any]:
    shown = as_dict(draft)
    del shown["owner"]
    shown["recipient_email_addresses"] = shown.pop("recipients")
    return shown

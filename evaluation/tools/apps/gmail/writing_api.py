"""Sending emails, and drafts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.attachments import (
    FilePaths,
    FileToken,
    Overwrite,
    SaveAs,
    attach,
    download,
    with_attachments,
)
from evaluation.tools.apps.framework import (
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    given,
    matches,
    paginate,
)
from evaluation.tools.apps.gmail.common import (
    Address,
    Addresses,
    Body,
    DraftId,
    EmailId,
    GmailCall,
    Query,
    Subject,
    ThreadId,
    app,
    own_thread,
    visible_email,
)
from evaluation.tools.apps.gmail.state import Draft, Email

AttachmentId = Annotated[int, Field(description="From show_email or show_draft")]


@app.api()
def send_email(
    call: GmailCall,
    email_addresses: Addresses,
    subject: Subject = "",
    body: Body = "",
    attachment_file_paths: FilePaths = (),
    file_system_access_token: FileToken | None = None,
) -> dict[str, Any]:
    """Send an email to one or more people. It begins a new thread."""
    attached = attach(call, call.state.attachments, attachment_file_paths, file_system_access_token)
    draft = Draft(0, call.user, email_addresses, subject, body, attachments=attached)
    return _send(call, draft, "The email was sent.")


@app.api()
def reply_to_email(
    call: GmailCall,
    email_id: Annotated[int, Field(description="Email you answer, from show_thread")],
    body: Body,
    reply_to_all: Annotated[bool, Field(description="To everybody in it, instead of its sender alone")] = False,
    attachment_file_paths: FilePaths = (),
    file_system_access_token: FileToken | None = None,
) -> dict[str, Any]:
    """Reply to an email, in its thread and under its subject. For another one, use create_draft."""
    email = visible_email(call, email_id)
    others = (email.sender, *(email.recipients if reply_to_all or email.sender == call.user else ()))
    recipients = tuple(dict.fromkeys(person for person in others if person != call.user)) or (call.user,)
    subject = email.subject if email.subject.lower().startswith("re:") else f"Re: {email.subject}".strip()
    attached = attach(call, call.state.attachments, attachment_file_paths, file_system_access_token)
    draft = Draft(0, call.user, recipients, subject, body, email.email_thread_id, email_id, attachments=attached)
    return _send(call, draft, "The reply was sent.")


@app.api()
def forward_email_from_thread(
    call: GmailCall,
    email_id: EmailId,
    email_addresses: Addresses,
    body: Annotated[Body, Field(description="What to write above it")] = "",
) -> dict[str, Any]:
    """Forward one email to other people. It begins a new thread."""
    email = visible_email(call, email_id)
    return _forward(call, [email], email.subject, email_addresses, body, "The email was forwarded.")


@app.api()
def forward_email_thread(
    call: GmailCall,
    email_thread_id: ThreadId,
    email_addresses: Addresses,
    body: Annotated[Body, Field(description="What to write above it")] = "",
) -> dict[str, Any]:
    """Forward a thread to other people. It begins a new thread."""
    emails = call.state.emails_in(own_thread(call, email_thread_id))
    subject = call.state.threads.get(email_thread_id).subject
    return _forward(call, emails, subject, email_addresses, body, "The thread was forwarded.")


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
    attachment_file_paths: FilePaths = (),
    file_system_access_token: FileToken | None = None,
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
        attach(call, call.state.attachments, attachment_file_paths, file_system_access_token),
    )
    call.state.drafts.put(draft)
    return {"message": "The draft was created.", "draft_id": draft.draft_id}


@app.api()
def upload_attachments_to_draft(
    call: GmailCall, draft_id: DraftId, attachment_file_paths: FilePaths, file_system_access_token: FileToken
) -> dict[str, Any]:
    """Attach files to a draft."""
    draft = call.own(call.state.drafts, draft_id)
    made = attach(call, call.state.attachments, attachment_file_paths, file_system_access_token)
    call.state.drafts.put(replace(draft, attachments=(*draft.attachments, *made), updated_at=call.stamp))
    return {"message": "The files were attached.", "attachment_ids": list(made)}


@app.api()
def remove_attachment_from_draft(call: GmailCall, draft_id: DraftId, attachment_id: AttachmentId) -> dict[str, Any]:
    """Take an attached file off a draft."""
    draft = call.own(call.state.drafts, draft_id)
    if attachment_id not in draft.attachments:
        raise InvalidError(f"The draft has no attachment with attachment_id {attachment_id}.")
    left = tuple(number for number in draft.attachments if number != attachment_id)
    call.state.drafts.put(replace(draft, attachments=left, updated_at=call.stamp))
    return {"message": "The attachment was removed."}


@app.api()
def download_attachment(
    call: GmailCall,
    attachment_id: AttachmentId,
    file_system_access_token: FileToken,
    download_to_file_path: SaveAs | None = None,
    overwrite: Overwrite = False,
) -> dict[str, Any]:
    """Save a file that is attached to an email or a draft."""
    mine = [draft.attachments for draft in call.state.drafts if draft.owner == call.user]
    boxes = [box for box in call.state.mailboxes if box.owner == call.user]
    mine += [email.attachments for box in boxes for email in call.state.emails_in(box)]
    if not any(attachment_id in numbers for numbers in mine):
        raise NotFoundError(f"You have no attachment with attachment_id {attachment_id}.")
    attached = call.state.attachments.get(attachment_id)
    return download(
        call.beside("file_system", file_system_access_token), attached, download_to_file_path, overwrite=overwrite
    )


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
    changes = given(recipients=email_addresses, subject=subject, body=body)
    call.state.drafts.put(replace(call.own(call.state.drafts, draft_id), updated_at=call.stamp, **changes))
    return {"message": "The draft was updated."}


@app.api()
def show_drafts(call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List or search your drafts, latest first."""
    own = [draft for draft in call.state.drafts if draft.owner == call.user]
    found = [draft for draft in own if matches(query, draft.subject, draft.body, *draft.recipients)]
    found.sort(key=lambda draft: (draft.updated_at, draft.draft_id), reverse=True)
    return paginate(found, page_index, page_limit, partial(_draft_shown, call))


@app.api()
def show_draft(call: GmailCall, draft_id: DraftId) -> dict[str, Any]:
    """Show a draft."""
    return _draft_shown(call, call.own(call.state.drafts, draft_id))


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
    email = call.state.deliver(draft, call.stamp)
    return {"message": message, "sent_email_id": email.email_id, "sent_email_thread_id": email.email_thread_id}


def _forward(
    call: GmailCall, emails: list[Email], subject: str, addresses: tuple[str, ...], body: str, done: str
) -> dict[str, Any]:
    quoted = [
        f"---------- Forwarded message ----------\nFrom: {email.sender}\nTo: {', '.join(email.recipients)}\n"
        f"Date: {email.sent_at}\nSubject: {email.subject}\n\n{email.body}"
        for email in emails
    ]
    text = "\n\n".join(part for part in (body, *quoted) if part)
    attached = tuple(number for email in emails for number in email.attachments)
    return _send(call, Draft(0, call.user, addresses, f"Fwd: {subject}"[:500], text, attachments=attached), done)


def _thread_of_draft(call: GmailCall, thread_id: int | None, answered_id: int | None) -> int | None:
    if thread_id is not None:
        own_thread(call, thread_id)
    if answered_id is None:
        return thread_id
    answered = visible_email(call, answered_id)
    if thread_id not in (None, answered.email_thread_id):
        raise InvalidError(f"Email {answered_id} is not in thread {thread_id}, but in {answered.email_thread_id}.")
    return answered.email_thread_id


def _draft_shown(call: GmailCall, draft: Draft) -> dict[str, Any]:
    shown = with_attachments(draft, call.state.attachments)
    del shown["owner"]
    shown["recipient_email_addresses"] = shown.pop("recipients")
    return shown

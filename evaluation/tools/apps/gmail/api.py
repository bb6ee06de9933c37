from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    App,
    Call,
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    add_account_apis,
    matches,
    paginate,
    rank,
)
from evaluation.tools.apps.gmail.seed import complete
from evaluation.tools.apps.gmail.state import Draft, Email, EmailThread, GmailState, MailboxThread, mailbox_key
from evaluation.tools.apps.gmail.view import VIEW

app = App("gmail", GmailState, VIEW, complete)
add_account_apis(app)

GmailCall = Call[GmailState]
Address = Annotated[str, Field(pattern=r"^[^@\s,;]+@[^@\s,;]+\.[^@\s,;]+$", max_length=200)]
Addresses = Annotated[tuple[Address, ...], Field(min_length=1, max_length=50, description="Email addresses")]
Subject = Annotated[str, Field(max_length=500)]
Body = Annotated[str, Field(max_length=100_000)]
Label = Annotated[str, Field(min_length=1, max_length=100)]
Query = Annotated[str, Field(max_length=500, description="Words of the subject, the text or an address")]


@app.api()
def search_users(
    call: GmailCall,
    query: Annotated[str, Field(max_length=200, description="Part of a name or an email address")] = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search people who use Gmail, by name or email address."""
    found = rank(query, call.state.accounts, lambda account: (account.name, account.username))
    people = [
        {"first_name": person.first_name, "last_name": person.last_name, "email": person.username} for person in found
    ]
    return paginate(people, page_index, page_limit)


@app.api()
def show_inbox_threads(
    call: GmailCall,
    query: Query = "",
    label: Annotated[Label | None, Field(description="Only threads with this label")] = None,
    read: Annotated[bool | None, Field(description="Only read, or only unread threads")] = None,
    starred: bool | None = None,
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
        )

    return _threads(call, query, fits, lambda email: call.user in email.recipients, page_index, page_limit)


@app.api()
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


@app.api()
def show_starred_threads(
    call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List or search your starred threads, newest first."""
    return _threads(call, query, lambda box: box.starred, lambda email: True, page_index, page_limit)


@app.api()
def show_archived_threads(
    call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List or search your archived threads, newest first."""
    return _threads(call, query, lambda box: box.archived, lambda email: True, page_index, page_limit)


@app.api()
def show_category_sizes(call: GmailCall) -> dict[str, Any]:
    """Count the threads in your inbox, outbox, archive and so on."""
    boxes = [box for box in call.state.mailboxes if box.owner == call.user]
    received, sent = set(), set()
    for email in call.state.emails:
        if call.user in email.recipients:
            received.add(email.email_thread_id)
        if email.sender == call.user:
            sent.add(email.email_thread_id)
    inbox = [box for box in boxes if box.email_thread_id in received and not box.archived]
    return {
        "inbox": len(inbox),
        "unread": sum(not box.read for box in inbox),
        "outbox": sum(box.email_thread_id in sent for box in boxes),
        "starred": sum(box.starred for box in boxes),
        "archived": sum(box.archived for box in boxes),
        "drafts": sum(draft.owner == call.user for draft in call.state.drafts),
    }


@app.api()
def show_thread(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Show a thread with its emails, oldest first."""
    box = _box(call, email_thread_id)
    emails = call.state.emails_of(email_thread_id)
    return {**_thread_shown(call, box, emails), "emails": [_email_shown(email) for email in emails]}


@app.api()
def show_email(call: GmailCall, email_id: int) -> dict[str, Any]:
    """Show one email."""
    return _email_shown(_email(call, email_id))


@app.api()
def send_email(call: GmailCall, email_addresses: Addresses, subject: Subject = "", body: Body = "") -> dict[str, Any]:
    """Send an email to one or more people. It begins a new thread."""
    return _send(call, Draft(0, call.user, email_addresses, subject, body), "The email was sent.")


@app.api()
def reply_to_email(
    call: GmailCall,
    email_id: Annotated[int, Field(description="The email you answer")],
    body: Body,
    reply_to_all: Annotated[bool, Field(description="To everybody in it, instead of its sender alone")] = False,
) -> dict[str, Any]:
    """Reply to an email, in its thread."""
    email = _email(call, email_id)
    others = (email.sender, *(email.recipients if reply_to_all or email.sender == call.user else ()))
    recipients = tuple(dict.fromkeys(person for person in others if person != call.user)) or (call.user,)
    subject = email.subject if email.subject.lower().startswith("re:") else f"Re: {email.subject}".strip()
    draft = Draft(0, call.user, recipients, subject, body, email.email_thread_id, email_id)
    return _send(call, draft, "The reply was sent.")


@app.api()
def forward_email_thread(
    call: GmailCall,
    email_thread_id: int,
    email_addresses: Addresses,
    body: Annotated[Body, Field(description="What to write above it")] = "",
) -> dict[str, Any]:
    """Forward a thread to other people. It begins a new thread."""
    box = _box(call, email_thread_id)
    emails = call.state.emails_of(email_thread_id)
    quoted = [
        f"---------- Forwarded message ----------\nFrom: {email.sender}\nTo: {', '.join(email.recipients)}\n"
        f"Date: {email.sent_at}\nSubject: {email.subject}\n\n{email.body}"
        for email in emails
    ]
    subject = f"Fwd: {_thread_shown(call, box, emails)['subject']}"
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
    belongs_to_email_thread_id: Annotated[int | None, Field(description="To send it in this thread")] = None,
    response_to_email_id: Annotated[int | None, Field(description="The email it answers")] = None,
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
    draft_id: int,
    recipient_email_addresses: Annotated[
        tuple[Address, ...] | None, Field(max_length=50, description="Instead of all earlier recipients")
    ] = None,
    subject: Subject | None = None,
    body: Body | None = None,
) -> dict[str, Any]:
    """Change a draft. What is left out stays as it is."""
    given = {"recipients": recipient_email_addresses, "subject": subject, "body": body}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    call.state.drafts.put(replace(_draft(call, draft_id), updated_at=call.stamp, **changes))
    return {"message": "The draft was updated."}


@app.api()
def show_drafts(call: GmailCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List or search your drafts, latest first."""
    own = [draft for draft in call.state.drafts if draft.owner == call.user]
    found = [draft for draft in own if matches(query, draft.subject, draft.body, *draft.recipients)]
    found.sort(key=lambda draft: (draft.updated_at, draft.draft_id), reverse=True)
    return paginate([_draft_shown(draft) for draft in found], page_index, page_limit)


@app.api()
def show_draft(call: GmailCall, draft_id: int) -> dict[str, Any]:
    """Show a draft."""
    return _draft_shown(_draft(call, draft_id))


@app.api()
def delete_draft(call: GmailCall, draft_id: int) -> dict[str, Any]:
    """Delete a draft."""
    call.state.drafts.remove(_draft(call, draft_id).draft_id)
    return {"message": "The draft was deleted."}


@app.api()
def send_email_from_draft(call: GmailCall, draft_id: int) -> dict[str, Any]:
    """Send a draft. It is a draft no longer."""
    draft = _draft(call, draft_id)
    if not draft.recipients:
        raise InvalidError("The draft has no recipients. Add them with update_draft.")
    call.state.drafts.remove(draft_id)
    return _send(call, draft, "The email was sent from the draft.")


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
def label_thread(call: GmailCall, email_thread_id: int, label: Label) -> dict[str, Any]:
    """Put a label on a thread."""
    box = _box(call, email_thread_id)
    _mark(call, box, labels=tuple(dict.fromkeys((*box.labels, label))))
    return {"message": f"The thread has the label {label!r}."}


@app.api()
def unlabel_thread(call: GmailCall, email_thread_id: int, label: Label) -> dict[str, Any]:
    """Take a label off a thread."""
    box = _box(call, email_thread_id)
    if label not in box.labels:
        raise InvalidError(f"The thread does not have the label {label!r}.")
    _mark(call, box, labels=tuple(each for each in box.labels if each != label))
    return {"message": f"The thread has the label {label!r} no longer."}


@app.api()
def mark_thread_read(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Mark a thread as read."""
    return _mark(call, _box(call, email_thread_id), read=True)


@app.api()
def mark_thread_unread(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Mark a thread as unread."""
    return _mark(call, _box(call, email_thread_id), read=False)


@app.api()
def mark_thread_starred(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Star a thread."""
    return _mark(call, _box(call, email_thread_id), starred=True)


@app.api()
def mark_thread_unstarred(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Take the star off a thread."""
    return _mark(call, _box(call, email_thread_id), starred=False)


@app.api()
def mark_thread_archived(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Archive a thread: it leaves the inbox."""
    return _mark(call, _box(call, email_thread_id), archived=True)


@app.api()
def mark_thread_unarchived(call: GmailCall, email_thread_id: int) -> dict[str, Any]:
    """Bring a thread back from the archive."""
    return _mark(call, _box(call, email_thread_id), archived=False)


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


def _box(call: GmailCall, email_thread_id: int) -> MailboxThread:
    box = call.state.mailboxes.find(mailbox_key(email_thread_id, call.user))
    if box is None:
        raise NotFoundError(f"You have no thread with email_thread_id {email_thread_id}.")
    return box


def _email(call: GmailCall, email_id: int) -> Email:
    email = call.state.emails.find(email_id)
    if email is None or mailbox_key(email.email_thread_id or 0, call.user) not in call.state.mailboxes:
        raise NotFoundError(f"You have no email with email_id {email_id}.")
    return email


def _draft(call: GmailCall, draft_id: int) -> Draft:
    draft = call.state.drafts.find(draft_id)
    if draft is None or draft.owner != call.user:
        raise NotFoundError(f"You have no draft with draft_id {draft_id}.")
    return draft


def _thread_of_draft(call: GmailCall, thread_id: int | None, answered_id: int | None) -> int | None:
    if thread_id is not None:
        _box(call, thread_id)
    if answered_id is None:
        return thread_id
    answered = _email(call, answered_id)
    if thread_id not in (None, answered.email_thread_id):
        raise InvalidError(f"Email {answered_id} is not in thread {thread_id}, but in {answered.email_thread_id}.")
    return answered.email_thread_id


def _mark(call: GmailCall, box: MailboxThread, **changes: Any) -> dict[str, Any]:
    call.state.mailboxes.put(replace(box, **changes))
    return {"message": "The thread was updated.", "email_thread_id": box.email_thread_id}


def _threads(
    call: GmailCall,
    query: str,
    fits: Callable[[MailboxThread], bool],
    counts: Callable[[Email], bool],
    page_index: int,
    page_limit: int,
) -> Page:
    """``counts``: an email that puts its thread in the list."""
    boxes = {box.email_thread_id: box for box in call.state.mailboxes if box.owner == call.user and fits(box)}
    emails: dict[int, list[Email]] = {}
    for email in call.state.emails:
        if email.email_thread_id in boxes:
            emails.setdefault(email.email_thread_id, []).append(email)
    found = [
        thread_id
        for thread_id, inside in emails.items()
        if any(map(counts, inside))
        and (
            not query
            or matches(query, *(text for each in inside for text in (each.subject, each.body, *_people([each]))))
        )
    ]
    found.sort(key=lambda thread_id: max((email.sent_at, email.email_id) for email in emails[thread_id]), reverse=True)
    page = paginate(found, page_index, page_limit)
    shown = (_thread_shown(call, boxes[thread_id], emails[thread_id]) for thread_id in page.items)
    return Page(tuple(shown), page.next_index)


def _thread_shown(call: GmailCall, box: MailboxThread, emails: list[Email]) -> dict[str, Any]:
    thread = call.state.threads.get(box.email_thread_id)
    return {
        "email_thread_id": box.email_thread_id,
        "subject": thread.subject,
        "participants": list(_people(emails)),
        "email_ids": [email.email_id for email in emails],
        "read": box.read,
        "starred": box.starred,
        "archived": box.archived,
        "labels": list(box.labels),
        "created_at": thread.created_at,
        "updated_at": max((email.sent_at for email in emails), default=""),
    }


def _people(emails: Iterable[Email]) -> dict[str, None]:
    return {person: None for email in emails for person in (email.sender, *email.recipients)}


def _email_shown(email: Email) -> dict[str, Any]:
    return asdict(email)


def _draft_shown(draft: Draft) -> dict[str, Any]:
    shown = asdict(draft)
    del shown["owner"]
    shown["recipient_email_addresses"] = shown.pop("recipients")
    return shown

"""Mail: threads, drafts, labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.attachments import Attachment, FilePaths, FileToken, attach, saves_file, with_attachments
from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    InvalidError,
    NotFoundError,
    PeopleQuery,
    Table,
    add_account_apis,
    given,
    matches,
    search_people,
)
from evaluation.tools.apps.framework.tables import without_empty


@dataclass(frozen=True)
class EmailThread:
    email_thread_id: int
    subject: str = ""
    created_at: str = ""


@dataclass(frozen=True)
class Email:
    email_id: int
    sender: str
    """An address, like the recipients; they need not belong to an account."""
    recipients: tuple[str, ...]
    subject: str = ""
    body: str = ""
    sent_at: str = ""
    email_thread_id: int | None = None
    """None in a persona's data: a thread of its own."""
    response_to_email_id: int | None = None
    attachments: tuple[int, ...] = ()


@dataclass(frozen=True)
class MailboxThread:
    """A thread as one of its participants has it."""

    mailbox_thread_id: str
    """``<email_thread_id> <owner>``"""
    email_thread_id: int
    owner: str
    read: bool = False
    starred: bool = False
    archived: bool = False
    labels: tuple[str, ...] = ()
    spam: bool = False
    deleted_emails: tuple[int, ...] = ()
    """Those that others may still have."""


@dataclass(frozen=True)
class Draft:
    draft_id: int
    owner: str
    recipients: tuple[str, ...] = ()
    subject: str = ""
    body: str = ""
    belongs_to_email_thread_id: int | None = None
    response_to_email_id: int | None = None
    created_at: str = ""
    updated_at: str = ""
    attachments: tuple[int, ...] = ()


ATTACHED = {"response_to_email_id": "emails", "attachments": "attachments"}


class GmailState(AppState):
    app = "gmail"
    threads = Table(EmailThread, "thread")
    attachments = Table(Attachment, "attachment", "file_name content")
    emails = Table(Email, "email", "subject sender recipients body sent_at", ATTACHED | {"email_thread_id": "threads"})
    drafts = Table(
        Draft,
        "draft",
        "subject recipients body updated_at",
        ATTACHED | OWNED | {"belongs_to_email_thread_id": "threads"},
    )
    mailboxes = Table(
        MailboxThread,
        "thread",
        "mailbox_thread_id read starred archived spam labels",
        {"email_thread_id": "threads"} | OWNED,
    )

    def complete(self) -> None:
        """Emails without a thread get one; each participant with an account has the thread in their mailbox."""
        for email in list(self.emails):
            if email.email_thread_id is None:
                thread = self.threads.put(EmailThread(self.threads.next_id(), email.subject, email.sent_at))
                self.emails.put(replace(email, email_thread_id=thread.email_thread_id))
            elif email.email_thread_id not in self.threads:
                self.threads.put(EmailThread(email.email_thread_id, email.subject, email.sent_at))
        for email in self.emails:
            for person in dict.fromkeys((email.sender, *email.recipients)):
                key = mailbox_key(email.email_thread_id or 0, person)
                if person in self.accounts and key not in self.mailboxes:
                    read = person == email.sender
                    self.mailboxes.put(MailboxThread(key, email.email_thread_id or 0, person, read=read))

    def emails_of(self, email_thread_id: int) -> list[Email]:
        """Oldest first."""
        return sorted(self.emails.having("email_thread_id", email_thread_id), key=sent)

    def emails_in(self, box: MailboxThread) -> list[Email]:
        """Those that its owner has not deleted, oldest first."""
        return [each for each in self.emails_of(box.email_thread_id) if each.email_id not in box.deleted_emails]

    def deliver(self, draft: Draft, stamp: str) -> Email:
        """Send it from its owner; without a thread it begins one."""
        thread_id = draft.belongs_to_email_thread_id
        if thread_id is None:
            thread_id = self.threads.put(EmailThread(self.threads.next_id(), draft.subject, stamp)).email_thread_id
        email = Email(
            self.emails.next_id(),
            draft.owner,
            tuple(dict.fromkeys(draft.recipients)),
            draft.subject,
            draft.body,
            stamp,
            thread_id,
            draft.response_to_email_id,
            draft.attachments,
        )
        self.emails.put(email)
        people = {person: None for each in self.emails_of(thread_id) for person in (each.sender, *each.recipients)}
        for person in (person for person in people if person in self.accounts):
            key = mailbox_key(thread_id, person)
            box = self.mailboxes.find(key)
            if box is None:
                self.mailboxes.put(MailboxThread(key, thread_id, person, read=person == draft.owner))
            elif person in email.recipients and person != draft.owner:
                self.mailboxes.put(replace(box, read=False, archived=False))
        return email

    def receive(self, sender: str, receiver: str, subject: str, text: str, stamp: str) -> None:
        self.deliver(Draft(0, sender, (receiver,), subject, text), stamp)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        used = {email.email_thread_id for email in self.emails}
        for thread in self.threads:
            if thread.email_thread_id not in used:
                yield f"threads {thread.email_thread_id}: there is no email in it."
        for email in self.emails:
            for person in {email.sender, *email.recipients}:
                if person in self.accounts and mailbox_key(email.email_thread_id or 0, person) not in self.mailboxes:
                    yield f"emails {email.email_id}: {person} does not have its thread."


def sent(email: Email) -> tuple[str, int]:
    return email.sent_at, email.email_id


def mailbox_key(email_thread_id: int, owner: str) -> str:
    return f"{email_thread_id} {owner}"


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


# Labels and marks of threads.


@app.api(page=10)
def search_labels(
    call: GmailCall, query: Annotated[str, Field(max_length=100, description="Part of a label; empty for all")] = ""
) -> Iterable[Any]:
    """Search the labels of your threads, with how many threads have each."""
    counts: dict[str, int] = {}
    for box in call.state.mailboxes:
        for label in box.labels if box.owner == call.user else ():
            counts[label] = counts.get(label, 0) + 1
    return [{"label": name, "threads": counts[name]} for name in sorted(counts) if query.lower() in name.lower()]


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


# Sending emails, and drafts.

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
        tuple[Address, ...],
        Field(
            max_length=50,
            description="Email addresses; may be added later",
            validation_alias=AliasChoices("recipient_email_addresses", "email_addresses"),
        ),
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


@saves_file(app, "download_attachment", "Save a file that is attached to an email or a draft.")
def _attached(call: GmailCall, attachment_id: AttachmentId) -> Attachment:
    mine = [draft.attachments for draft in call.state.drafts if draft.owner == call.user]
    boxes = [box for box in call.state.mailboxes if box.owner == call.user]
    mine += [email.attachments for box in boxes for email in call.state.emails_in(box)]
    if not any(attachment_id in numbers for numbers in mine):
        raise NotFoundError(f"You have no attachment with attachment_id {attachment_id}.")
    return call.state.attachments.get(attachment_id)


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


@app.api(page=5)
def show_drafts(call: GmailCall, query: Query = "") -> Iterable[Any]:
    """List or search your drafts, latest first."""
    own = [draft for draft in call.state.drafts if draft.owner == call.user]
    found = [draft for draft in own if matches(query, draft.subject, draft.body, *draft.recipients)]
    found.sort(key=lambda draft: (draft.updated_at, draft.draft_id), reverse=True)
    return map(partial(_draft_shown, call), found)


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


# Reading mail.

PREVIEW = 100
"""Characters of the latest email's text."""


def _brief(state: GmailState, thread: dict[str, Any]) -> dict[str, Any]:
    latest = state.emails.get(thread["email_ids"][-1])
    said = ("email_thread_id", "subject", "read", "starred", "labels", "email_ids", "updated_at")
    return without_empty({name: thread[name] for name in said}) | {
        "from": latest.sender,
        "preview": " ".join(latest.body.split())[:PREVIEW],
    }


@app.api(page=5)
def search_users(call: GmailCall, query: PeopleQuery = "") -> Iterable[Any]:
    """Search people who use Gmail, by name or email address."""
    return search_people(call, query)


@app.api(brief=_brief, page=5)
def show_inbox_threads(
    call: GmailCall,
    query: Query = "",
    label: Annotated[Label | None, Field(description="Only threads with this label")] = None,
    read: Annotated[bool | None, Field(description="True: only read threads; false: only unread")] = None,
    starred: Annotated[bool | None, Field(description="True: only starred threads; false: only others")] = None,
    archived: Annotated[bool | None, Field(description="False leaves archived threads out, null shows all")] = False,
) -> Iterable[Any]:
    """List or search the threads in which you received an email, newest first."""

    def fits(box: MailboxThread) -> bool:
        return (
            (label is None or label in box.labels)
            and read in (None, box.read)
            and starred in (None, box.starred)
            and archived in (None, box.archived)
            and not box.spam
        )

    return _threads(call, query, fits, lambda email: call.user in email.recipients)


@app.api(brief=_brief, page=5)
def show_outbox_threads(
    call: GmailCall,
    query: Query = "",
    label: Annotated[Label | None, Field(description="Only threads with this label")] = None,
) -> Iterable[Any]:
    """List or search the threads in which you sent an email, newest first."""

    def fits(box: MailboxThread) -> bool:
        return label is None or label in box.labels

    return _threads(call, query, fits, lambda email: email.sender == call.user)


@app.api(brief=_brief, page=5)
def show_starred_threads(call: GmailCall, query: Query = "") -> Iterable[Any]:
    """List or search your starred threads, newest first."""
    return _threads(call, query, lambda box: box.starred, lambda email: True)


@app.api(brief=_brief, page=5)
def show_archived_threads(call: GmailCall, query: Query = "") -> Iterable[Any]:
    """List or search your archived threads, newest first."""
    return _threads(call, query, lambda box: box.archived, lambda email: True)


@app.api(brief=_brief, page=5)
def show_spam_threads(call: GmailCall, query: Query = "") -> Iterable[Any]:
    """List or search the threads you marked as spam, newest first."""
    return _threads(call, query, lambda box: box.spam, lambda email: True)


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
) -> Iterator[dict[str, Any]]:
    """``counts``: an email that puts its thread in the list."""
    threads: dict[int, list[Email]] = {}
    for email in call.state.emails:
        threads.setdefault(email.email_thread_id or 0, []).append(email)

    for number in sorted(threads, key=lambda number: max(map(sent, threads[number])), reverse=True):
        box = call.state.mailboxes.find(mailbox_key(number, call.user))
        if box is None or not fits(box):
            continue
        emails = [email for email in threads[number] if email.email_id not in box.deleted_emails]
        if any(map(counts, emails)) and _hold(emails, query):
            yield thread_shown(call, box, emails)


def _hold(emails: list[Email], query: str) -> bool:
    """Every word of the query, each in any of them."""
    texts = [(each.subject, each.body, each.sender, *each.recipients) for each in emails]
    return all(any(matches(word, *parts) for parts in texts) for word in query.split())

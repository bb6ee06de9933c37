from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from evaluation.tools.apps.attachments import Attachment
from evaluation.tools.apps.framework import AppState


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


class GmailState(AppState):
    app = "gmail"

    def __init__(self) -> None:
        super().__init__()
        self.threads = self.table("threads", EmailThread, "thread")
        self.attachments = self.table("attachments", Attachment, "attachment", {}, "file_name content")
        attached = {"response_to_email_id": "emails", "attachments": "attachments"}
        of_thread = attached | {"email_thread_id": "threads"}
        self.emails = self.table("emails", Email, "email", of_thread, "subject sender recipients body sent_at")
        self.drafts = self.table(
            "drafts",
            Draft,
            "draft",
            attached | {"owner": "accounts", "belongs_to_email_thread_id": "threads"},
            "subject recipients body updated_at",
        )
        self.mailboxes = self.table(
            "mailboxes",
            MailboxThread,
            "thread",
            {"email_thread_id": "threads", "owner": "accounts"},
            "mailbox_thread_id read starred archived spam labels",
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

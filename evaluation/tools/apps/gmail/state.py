from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


class GmailState(AppState):
    app = "gmail"

    def __init__(self) -> None:
        super().__init__()
        self.threads = self.table("threads", EmailThread, "thread")
        self.emails = self.table(
            "emails", Email, "email", {"email_thread_id": "threads", "response_to_email_id": "emails"}
        )
        self.mailboxes = self.table(
            "mailboxes", MailboxThread, "thread in a mailbox", {"email_thread_id": "threads", "owner": "accounts"}
        )
        self.drafts = self.table(
            "drafts",
            Draft,
            "draft",
            {
                "owner": "accounts",
                "belongs_to_email_thread_id": "threads",
                "response_to_email_id": "emails",
            },
        )

    def emails_of(self, email_thread_id: int) -> list[Email]:
        """Oldest first."""
        return sorted(self.emails.having("email_thread_id", email_thread_id), key=sent)

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

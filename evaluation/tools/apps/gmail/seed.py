"""What a persona's mail may leave out, and data to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluation.tools.apps.gmail.state import EmailThread, GmailState, MailboxThread, mailbox_key

EXAMPLE: dict[str, Any] = {
    "accounts": [
        {"username": "ada@example.com", "password": "mail-of-ada", "first_name": "Ada", "last_name": "Berg"},
        {"username": "noor@example.com", "first_name": "Noor", "last_name": "Haddad"},
    ],
    "emails": [
        {
            "sender": "noor@example.com",
            "recipients": ["ada@example.com"],
            "subject": "Thursday's agenda",
            "body": "Could you send me your two points before noon on Wednesday?",
            "sent_at": "2026-04-10T16:20:00",
        }
    ],
}


def complete(state: GmailState) -> None:
    """Emails without a thread get one; each participant with an account has the thread in their mailbox."""
    for email in list(state.emails):
        if email.email_thread_id is None:
            thread = state.threads.put(EmailThread(state.threads.next_id(), email.subject, email.sent_at))
            state.emails.put(replace(email, email_thread_id=thread.email_thread_id))
        elif email.email_thread_id not in state.threads:
            state.threads.put(EmailThread(email.email_thread_id, email.subject, email.sent_at))
    for email in state.emails:
        for person in dict.fromkeys((email.sender, *email.recipients)):
            key = mailbox_key(email.email_thread_id or 0, person)
            if person in state.accounts and key not in state.mailboxes:
                read = person == email.sender
                state.mailboxes.put(MailboxThread(key, email.email_thread_id or 0, person, read=read))

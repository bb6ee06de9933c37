from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.tools.apps.framework import AppState


@dataclass(frozen=True)
class Contact:
    contact_id: int
    owner: str
    first_name: str
    last_name: str = ""
    phone_number: str = ""
    email: str = ""
    relationships: tuple[str, ...] = ()
    home_address: str = ""
    work_address: str = ""
    birthday: str = ""


@dataclass(frozen=True)
class TextMessage:
    text_message_id: int
    sender: str
    """A phone number, like the receiver; they need not belong to an account."""
    receiver: str
    message: str
    sent_at: str = ""


@dataclass(frozen=True)
class Alarm:
    alarm_id: int
    owner: str
    time: str
    """HH:MM"""
    label: str = ""
    repeat_days: tuple[str, ...] = ()
    """Days of the week in lower case; none: once."""
    enabled: bool = True
    snooze_minutes: int = 5
    vibration: bool = True


class PhoneState(AppState):
    app = "phone"

    def __init__(self) -> None:
        super().__init__()
        self.contacts = self.table("contacts", Contact, "contact", {"owner": "accounts"})
        self.messages = self.table("messages", TextMessage, "text message")
        self.alarms = self.table("alarms", Alarm, "alarm", {"owner": "accounts"})

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        seen: set[tuple[str, str]] = set()
        for contact in self.contacts:
            if contact.phone_number and (contact.owner, contact.phone_number) in seen:
                yield f"contacts {contact.contact_id}: {contact.owner} has two contacts with {contact.phone_number}."
            seen.add((contact.owner, contact.phone_number))

"""Contacts, text messages, alarms, the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    ConflictError,
    InvalidError,
    NotFoundError,
    Records,
    Table,
    add_account_apis,
    add_records,
    as_dict,
    rank,
    search,
    without_owner,
)


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


@dataclass(frozen=True)
class VoiceMessage:
    voice_message_id: int
    sender: str
    receiver: str
    message: str
    """What is said in it."""
    sent_at: str = ""


class PhoneState(AppState):
    app = "phone"
    contacts = Table(Contact, "contact", "first_name last_name phone_number email relationships", OWNED)
    messages = Table(TextMessage, "text message", "message sender receiver sent_at")
    voice_messages = Table(VoiceMessage, "voice message", "message sender receiver sent_at")
    alarms = Table(Alarm, "alarm", "label time repeat_days enabled", OWNED)

    def receive(self, sender: str, receiver: str, subject: str, text: str, stamp: str) -> None:
        self.messages.put(TextMessage(self.messages.next_id(), sender, receiver, text, stamp))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        seen: set[tuple[str, str]] = set()
        for contact in self.contacts:
            if contact.phone_number and (contact.owner, contact.phone_number) in seen:
                yield f"contacts {contact.contact_id}: {contact.owner} has two contacts with {contact.phone_number}."
            seen.add((contact.owner, contact.phone_number))


app = App(
    "phone",
    PhoneState,
    "Phone",
    "Look up and add contacts, read and send text messages, set alarms, tell the date and time.",
)
add_account_apis(app, by_phone=True)

PhoneCall = Call[PhoneState]
PhoneNumber = Annotated[str, Field(pattern=r"^\+?[0-9]{3,15}$", description="Digits only, e.g. 4155550100")]
Text = Annotated[str, Field(max_length=500)]


def name_of(contact: Contact) -> str:
    return f"{contact.first_name} {contact.last_name}".strip()


Time = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="HH:MM, from 00:00 to 23:59")]
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
RepeatDays = Annotated[tuple[Day, ...], Field(description="Days it rings on; none: once")]


@app.api(login=False)
def get_current_date_and_time(call: PhoneCall) -> dict[str, Any]:
    """Tell the current date and time."""
    return {"date": f"{call.now:%A, %d %B %Y}", "time": f"{call.now:%H:%M:%S}", "iso": call.stamp}


@app.api(page=5)
def search_contacts(
    call: PhoneCall,
    query: Annotated[Text, Field(description="Part of a name, number or email address; empty for all")] = "",
    relationship: Annotated[Text | None, Field(description="E.g. coworker, sibling")] = None,
) -> Iterable[Any]:
    """Search your contacts."""
    own = [
        contact
        for contact in call.state.contacts
        if contact.owner == call.user and (relationship is None or relationship.lower() in contact.relationships)
    ]
    found = rank(query, own, lambda contact: (name_of(contact), contact.phone_number, contact.email))
    return map(without_owner, found)


@app.api()
def show_contact_relationships(call: PhoneCall) -> list[str]:
    """List the relationships that your contacts have."""
    own = (contact for contact in call.state.contacts if contact.owner == call.user)
    return sorted({relationship for contact in own for relationship in contact.relationships})


@app.api(page=5)
def show_alarms(call: PhoneCall) -> Iterable[Any]:
    """List your alarms by time."""
    own = sorted((alarm for alarm in call.state.alarms if alarm.owner == call.user), key=lambda alarm: alarm.time)
    return map(without_owner, own)


def _ready_contact(call: PhoneCall, contact: Contact) -> Contact:
    others = (each for each in call.state.contacts if each.owner == call.user and each.contact_id != contact.contact_id)
    taken = next((each for each in others if contact.phone_number and each.phone_number == contact.phone_number), None)
    if taken:
        raise ConflictError(f"{name_of(taken)} has this phone number already (contact_id {taken.contact_id}).")
    relationships = tuple(each.lower() for each in contact.relationships)
    return replace(contact, relationships=relationships, phone_number=contact.phone_number or "")


CONTACT = {
    "first_name": (Annotated[Text, Field(min_length=1, description="First name")], ...),
    "last_name": (Annotated[Text, Field(description="Last name")], ""),
    "phone_number": (Annotated[PhoneNumber | None, Field(description="Digits only")], None),
    "email": (Annotated[Text, Field(description="Email address")], ""),
    "relationships": (Annotated[tuple[str, ...], Field(description="All of them, e.g. coworker, sibling")], ()),
    "home_address": (Annotated[Text, Field(description="Where they live")], ""),
    "work_address": (Annotated[Text, Field(description="Where they work")], ""),
    "birthday": (Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="YYYY-MM-DD")], ""),
}
ALARM = {
    "time": (Time, ...),
    "label": (Annotated[Text, Field(description="What it is for")], ""),
    "repeat_days": (RepeatDays, ()),
    "enabled": (Annotated[bool, Field(description="Whether it rings")], True),
    "snooze_minutes": (Annotated[int, Field(ge=0, le=60, description="0 to 60")], 5),
    "vibration": (Annotated[bool, Field(description="Whether it vibrates")], True),
}
add_records(
    app,
    Records(
        "contacts",
        "contact",
        CONTACT,
        ready=_ready_contact,
        apis=("create", "update", "delete"),
        names={"create": "add_contact", "list": "search_contacts"},
        done="added",
    ),
)
add_records(
    app,
    Records(
        "alarms",
        "alarm",
        ALARM,
        ready=lambda call, alarm: replace(alarm, repeat_days=tuple(dict.fromkeys(alarm.repeat_days))),
        apis=("show", "create", "update", "delete"),
    ),
)


def _add_message_apis(kind: str, table_name: str) -> None:
    """The same for text and for voice messages."""
    key, noun = f"{kind}_message_id", f"{kind} message"
    number = {key: (Annotated[int, Field(description=f"From search_{kind}_messages")], ...)}
    declared = PhoneState().tables[table_name].record_type

    def own(call: PhoneCall, phone_number: str | None) -> list[Any]:
        """Newest first."""
        messages = [
            message
            for message in call.state.tables[table_name]
            if call.user in (message.sender, message.receiver) and phone_number in (None, _partner(call, message))
        ]
        return sorted(messages, key=lambda message: (message.sent_at, getattr(message, key)), reverse=True)

    def shower(call: PhoneCall) -> Callable[[Any], dict[str, Any]]:
        contacts = [contact for contact in call.state.contacts if contact.owner == call.user]
        names = {contact.phone_number: name_of(contact) for contact in contacts} | {call.user: call.account.name}

        def shown(message: Any) -> dict[str, Any]:
            people = {
                side: {"name": names.get(phone, ""), "phone_number": phone}
                for side, phone in (("sender", message.sender), ("receiver", message.receiver))
            }
            return as_dict(message) | people

        return shown

    @app.api(f"search_{kind}_messages", f"Search the {noun}s you sent and received, newest first.", page=5)
    def search_messages(
        call: PhoneCall,
        query: Annotated[Text, Field(description="Words of the message; empty for all")] = "",
        phone_number: Annotated[PhoneNumber | None, Field(description="Only messages with this person")] = None,
        only_latest_per_contact: Annotated[bool, Field(description="Only the newest message with each person")] = False,
    ) -> Iterable[Any]:
        messages = search(query, own(call, phone_number), lambda message: (message.message,))
        if only_latest_per_contact:
            latest: dict[str, Any] = {}
            for message in messages:
                latest.setdefault(_partner(call, message), message)
            messages = list(latest.values())
        return map(shower(call), messages)

    @app.api(f"show_{kind}_message_window", f"Show your {noun}s with one phone number, newest first.", page=10)
    def show_message_window(
        call: PhoneCall,
        phone_number: PhoneNumber,
        min_datetime: Annotated[str | None, Field(description="Not before this, YYYY-MM-DDTHH:MM:SS")] = None,
        max_datetime: Annotated[str | None, Field(description="Not after this, YYYY-MM-DDTHH:MM:SS")] = None,
    ) -> Iterable[Any]:
        window = [
            message
            for message in own(call, phone_number)
            if (min_datetime or "") <= message.sent_at and (max_datetime is None or message.sent_at <= max_datetime)
        ]
        return map(shower(call), window)

    @app.api(f"send_{kind}_message", f"Send a {noun} to a phone number.")
    def send_message(
        call: PhoneCall,
        phone_number: PhoneNumber,
        message: Annotated[str, Field(min_length=1, max_length=5_000, description="What to tell")],
    ) -> dict[str, Any]:
        if phone_number == call.user:
            raise InvalidError(f"You cannot send a {noun} to your own number.")
        table = call.state.tables[table_name]
        sent = table.put(declared(table.next_id(), call.user, phone_number, message, call.stamp))
        return {"message": f"The {noun} was sent.", key: getattr(sent, key)}

    @app.api(f"show_{kind}_message", f"Show one {noun}.", number)
    def show_message(call: PhoneCall, **given: int) -> dict[str, Any]:
        message = call.state.tables[table_name].find(given[key])
        if message is None or call.user not in (message.sender, message.receiver):
            raise NotFoundError(f"You have no {noun} with {key} {given[key]}.")
        return shower(call)(message)

    @app.api(f"delete_{kind}_message", f"Delete a {noun}.", number)
    def delete_message(call: PhoneCall, **given: int) -> dict[str, Any]:
        show_message(call, **given)
        call.state.tables[table_name].remove(given[key])
        return {"message": f"The {noun} was deleted."}


_add_message_apis("text", "messages")
_add_message_apis("voice", "voice_messages")


def _partner(call: PhoneCall, message: Any) -> str:
    return str(message.receiver if message.sender == call.user else message.sender)

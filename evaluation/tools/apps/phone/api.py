from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.framework import (
    App,
    Call,
    ConflictError,
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
from evaluation.tools.apps.phone.state import Alarm, Contact, PhoneState, TextMessage
from evaluation.tools.apps.phone.view import VIEW

app = App("phone", PhoneState, VIEW)
add_account_apis(app, by_phone=True)

PhoneCall = Call[PhoneState]
PhoneNumber = Annotated[str, Field(pattern=r"^\+?[0-9]{3,15}$", description="Digits only, e.g. 4155550100")]
Text = Annotated[str, Field(max_length=500)]
Time = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="HH:MM, from 00:00 to 23:59")]
Day = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
RepeatDays = Annotated[tuple[Day, ...], Field(description="Days it rings on; none: once")]


@app.api(login=False)
def get_current_date_and_time(call: PhoneCall) -> dict[str, Any]:
    """Tell the current date and time."""
    return {"date": f"{call.now:%A, %d %B %Y}", "time": f"{call.now:%H:%M:%S}", "iso": call.stamp}


@app.api()
def search_contacts(
    call: PhoneCall,
    query: Annotated[Text, Field(description="Part of a name, number or email address; empty for all")] = "",
    relationship: Annotated[Text | None, Field(description="E.g. coworker, sibling")] = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search your contacts."""
    own = [
        contact
        for contact in call.state.contacts
        if contact.owner == call.user and (relationship is None or relationship.lower() in contact.relationships)
    ]
    found = rank(query, own, lambda contact: (_name(contact), contact.phone_number, contact.email))
    return paginate([_without_owner(contact) for contact in found], page_index, page_limit)


@app.api()
def add_contact(
    call: PhoneCall,
    first_name: Annotated[Text, Field(min_length=1)],
    last_name: Text = "",
    phone_number: Annotated[PhoneNumber | None, Field(description="Digits only")] = None,
    email: Text = "",
    relationships: Annotated[tuple[str, ...], Field(description="E.g. coworker, sibling")] = (),
    home_address: Text = "",
    work_address: Text = "",
    birthday: Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="YYYY-MM-DD")] = "",
) -> dict[str, Any]:
    """Add a contact."""
    _require_new_number(call, phone_number)
    contact = Contact(
        call.state.contacts.next_id(),
        call.user,
        first_name,
        last_name,
        phone_number or "",
        email,
        tuple(relationship.lower() for relationship in relationships),
        home_address,
        work_address,
        birthday,
    )
    call.state.contacts.put(contact)
    return {"message": "The contact was added.", "contact_id": contact.contact_id}


@app.api()
def update_contact(
    call: PhoneCall,
    contact_id: int,
    first_name: Annotated[Text, Field(min_length=1)] | None = None,
    last_name: Text | None = None,
    phone_number: PhoneNumber | None = None,
    email: Text | None = None,
    relationships: tuple[str, ...] | None = None,
    home_address: Text | None = None,
    work_address: Text | None = None,
    birthday: Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="YYYY-MM-DD")] | None = None,
) -> dict[str, Any]:
    """Change a contact. What is left out stays as it is."""
    contact = _contact(call, contact_id)
    if phone_number != contact.phone_number:
        _require_new_number(call, phone_number)
    given: dict[str, Any] = {
        "first_name": first_name,
        "last_name": last_name,
        "phone_number": phone_number,
        "email": email,
        "relationships": None if relationships is None else tuple(each.lower() for each in relationships),
        "home_address": home_address,
        "work_address": work_address,
        "birthday": birthday,
    }
    call.state.contacts.put(replace(contact, **{name: value for name, value in given.items() if value is not None}))
    return {"message": "The contact was updated."}


@app.api()
def delete_contact(call: PhoneCall, contact_id: int) -> dict[str, Any]:
    """Delete a contact."""
    call.state.contacts.remove(_contact(call, contact_id).contact_id)
    return {"message": "The contact was deleted."}


@app.api()
def search_text_messages(
    call: PhoneCall,
    query: Annotated[Text, Field(description="Words of the message; empty for all")] = "",
    phone_number: Annotated[PhoneNumber | None, Field(description="Only messages with this person")] = None,
    only_latest_per_contact: Annotated[bool, Field(description="Only the newest message with each person")] = False,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search the text messages you sent and received, newest first."""
    found = [message for message in _messages(call, phone_number) if matches(query, message.message)]
    if only_latest_per_contact:
        latest: dict[str, TextMessage] = {}
        for message in found:
            latest.setdefault(_partner(call, message), message)
        found = list(latest.values())
    return paginate([_shown(call, message) for message in found], page_index, page_limit)


@app.api()
def show_text_message(call: PhoneCall, text_message_id: int) -> dict[str, Any]:
    """Show one text message."""
    message = call.state.messages.find(text_message_id)
    if message is None or call.user not in (message.sender, message.receiver):
        raise NotFoundError(f"You have no text message with text_message_id {text_message_id}.")
    return _shown(call, message)


@app.api()
def show_text_message_window(
    call: PhoneCall,
    phone_number: PhoneNumber,
    min_datetime: Annotated[str | None, Field(description="Not before this, YYYY-MM-DDTHH:MM:SS")] = None,
    max_datetime: Annotated[str | None, Field(description="Not after this, YYYY-MM-DDTHH:MM:SS")] = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 10,
) -> Page:
    """Show your conversation with one phone number, newest message first."""
    window = [
        _shown(call, message)
        for message in _messages(call, phone_number)
        if (min_datetime or "") <= message.sent_at and (max_datetime is None or message.sent_at <= max_datetime)
    ]
    return paginate(window, page_index, page_limit)


@app.api()
def send_text_message(
    call: PhoneCall, phone_number: PhoneNumber, message: Annotated[str, Field(min_length=1, max_length=5_000)]
) -> dict[str, Any]:
    """Send a text message to a phone number."""
    if phone_number == call.user:
        raise InvalidError("You cannot send a text message to your own number.")
    sent = TextMessage(call.state.messages.next_id(), call.user, phone_number, message, call.stamp)
    call.state.messages.put(sent)
    return {"message": "The text message was sent.", "text_message_id": sent.text_message_id}


@app.api()
def delete_text_message(call: PhoneCall, text_message_id: int) -> dict[str, Any]:
    """Delete a text message."""
    show_text_message(call, text_message_id)
    call.state.messages.remove(text_message_id)
    return {"message": "The text message was deleted."}


@app.api()
def show_alarms(call: PhoneCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List your alarms by time."""
    own = sorted((alarm for alarm in call.state.alarms if alarm.owner == call.user), key=lambda alarm: alarm.time)
    return paginate([_without_owner(alarm) for alarm in own], page_index, page_limit)


@app.api()
def show_alarm(call: PhoneCall, alarm_id: int) -> dict[str, Any]:
    """Show an alarm."""
    return _without_owner(_alarm(call, alarm_id))


@app.api()
def create_alarm(
    call: PhoneCall,
    time: Time,
    label: Text = "",
    repeat_days: RepeatDays = (),
    enabled: bool = True,
    snooze_minutes: Annotated[int, Field(ge=0, le=60)] = 5,
    vibration: bool = True,
) -> dict[str, Any]:
    """Create an alarm."""
    days = tuple(dict.fromkeys(repeat_days))
    alarm = Alarm(call.state.alarms.next_id(), call.user, time, label, days, enabled, snooze_minutes, vibration)
    call.state.alarms.put(alarm)
    return {"message": "The alarm was created.", "alarm_id": alarm.alarm_id}


@app.api()
def update_alarm(
    call: PhoneCall,
    alarm_id: int,
    time: Time | None = None,
    label: Text | None = None,
    repeat_days: RepeatDays | None = None,
    enabled: bool | None = None,
    snooze_minutes: Annotated[int, Field(ge=0, le=60)] | None = None,
    vibration: bool | None = None,
) -> dict[str, Any]:
    """Change an alarm. What is left out stays as it is."""
    given: dict[str, Any] = {
        "time": time,
        "label": label,
        "repeat_days": None if repeat_days is None else tuple(dict.fromkeys(repeat_days)),
        "enabled": enabled,
        "snooze_minutes": snooze_minutes,
        "vibration": vibration,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    call.state.alarms.put(replace(_alarm(call, alarm_id), **changes))
    return {"message": "The alarm was updated."}


@app.api()
def delete_alarm(call: PhoneCall, alarm_id: int) -> dict[str, Any]:
    """Delete an alarm."""
    call.state.alarms.remove(_alarm(call, alarm_id).alarm_id)
    return {"message": "The alarm was deleted."}


def _contact(call: PhoneCall, contact_id: int) -> Contact:
    contact = call.state.contacts.find(contact_id)
    if contact is None or contact.owner != call.user:
        raise NotFoundError(f"You have no contact with contact_id {contact_id}.")
    return contact


def _alarm(call: PhoneCall, alarm_id: int) -> Alarm:
    alarm = call.state.alarms.find(alarm_id)
    if alarm is None or alarm.owner != call.user:
        raise NotFoundError(f"You have no alarm with alarm_id {alarm_id}.")
    return alarm


def _require_new_number(call: PhoneCall, number: str | None) -> None:
    taken = (
        contact for contact in call.state.contacts if contact.owner == call.user and contact.phone_number == number
    )
    if number and (contact := next(taken, None)):
        raise ConflictError(f"{_name(contact)} has this phone number already (contact_id {contact.contact_id}).")


def _messages(call: PhoneCall, phone_number: str | None) -> list[TextMessage]:
    found = [
        message
        for message in call.state.messages
        if call.user in (message.sender, message.receiver) and phone_number in (None, _partner(call, message))
    ]
    return sorted(found, key=lambda message: (message.sent_at, message.text_message_id), reverse=True)


def _partner(call: PhoneCall, message: TextMessage) -> str:
    return message.receiver if message.sender == call.user else message.sender


def _shown(call: PhoneCall, message: TextMessage) -> dict[str, Any]:
    names = {contact.phone_number: _name(contact) for contact in call.state.contacts if contact.owner == call.user}
    names[call.user] = call.account.name

    def person(number: str) -> dict[str, str]:
        return {"name": names.get(number, ""), "phone_number": number}

    return {
        "text_message_id": message.text_message_id,
        "sender": person(message.sender),
        "receiver": person(message.receiver),
        "message": message.message,
        "sent_at": message.sent_at,
    }


def _name(contact: Contact) -> str:
    return f"{contact.first_name} {contact.last_name}".strip()


def _without_owner(record: Contact | Alarm) -> dict[str, Any]:
    shown = asdict(record)
    del shown["owner"]
    return shown

"""Contacts, alarms and the clock; text messages are in ``message_api``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.framework import (
    ConflictError,
    Page,
    PageIndex,
    PageLimit,
    paginate,
    rank,
)
from evaluation.tools.apps.framework.records import without_owner
from evaluation.tools.apps.phone import message_api
from evaluation.tools.apps.phone.common import AlarmId, ContactId, PhoneCall, PhoneNumber, Text, app, name_of
from evaluation.tools.apps.phone.state import Alarm, Contact

__all__ = ["app", "message_api"]

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
    found = rank(query, own, lambda contact: (name_of(contact), contact.phone_number, contact.email))
    return paginate(found, page_index, page_limit, without_owner)


@app.api()
def add_contact(
    call: PhoneCall,
    first_name: Annotated[Text, Field(min_length=1, description="First name")],
    last_name: Annotated[Text, Field(description="Last name")] = "",
    phone_number: Annotated[PhoneNumber | None, Field(description="Digits only")] = None,
    email: Annotated[Text, Field(description="Email address")] = "",
    relationships: Annotated[tuple[str, ...], Field(description="E.g. coworker, sibling")] = (),
    home_address: Annotated[Text, Field(description="Where they live")] = "",
    work_address: Annotated[Text, Field(description="Where they work")] = "",
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
    contact_id: ContactId,
    first_name: Annotated[Annotated[Text, Field(min_length=1)] | None, Field(description="First name")] = None,
    last_name: Annotated[Text | None, Field(description="Last name")] = None,
    phone_number: PhoneNumber | None = None,
    email: Annotated[Text | None, Field(description="Email address")] = None,
    relationships: Annotated[tuple[str, ...] | None, Field(description="All of them, e.g. coworker, sibling")] = None,
    home_address: Annotated[Text | None, Field(description="Where they live")] = None,
    work_address: Annotated[Text | None, Field(description="Where they work")] = None,
    birthday: Annotated[str, Field(pattern=r"^(\d{4}-\d{2}-\d{2})?$", description="YYYY-MM-DD")] | None = None,
) -> dict[str, Any]:
    """Change a contact. What is left out stays as it is."""
    contact = call.own(call.state.contacts, contact_id)
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
def delete_contact(call: PhoneCall, contact_id: ContactId) -> dict[str, Any]:
    """Delete a contact."""
    call.state.contacts.remove(call.own(call.state.contacts, contact_id).contact_id)
    return {"message": "The contact was deleted."}


@app.api()
def show_alarms(call: PhoneCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List your alarms by time."""
    own = sorted((alarm for alarm in call.state.alarms if alarm.owner == call.user), key=lambda alarm: alarm.time)
    return paginate(own, page_index, page_limit, without_owner)


@app.api()
def show_alarm(call: PhoneCall, alarm_id: AlarmId) -> dict[str, Any]:
    """Show an alarm."""
    return without_owner(call.own(call.state.alarms, alarm_id))


@app.api()
def create_alarm(
    call: PhoneCall,
    time: Time,
    label: Annotated[Text, Field(description="What it is for")] = "",
    repeat_days: RepeatDays = (),
    enabled: Annotated[bool, Field(description="Whether it rings")] = True,
    snooze_minutes: Annotated[int, Field(ge=0, le=60, description="0 to 60")] = 5,
    vibration: Annotated[bool, Field(description="Whether it vibrates")] = True,
) -> dict[str, Any]:
    """Create an alarm."""
    days = tuple(dict.fromkeys(repeat_days))
    alarm = Alarm(call.state.alarms.next_id(), call.user, time, label, days, enabled, snooze_minutes, vibration)
    call.state.alarms.put(alarm)
    return {"message": "The alarm was created.", "alarm_id": alarm.alarm_id}


@app.api()
def update_alarm(
    call: PhoneCall,
    alarm_id: AlarmId,
    time: Time | None = None,
    label: Annotated[Text | None, Field(description="What it is for")] = None,
    repeat_days: RepeatDays | None = None,
    enabled: Annotated[bool | None, Field(description="Whether it rings")] = None,
    snooze_minutes: Annotated[Annotated[int, Field(ge=0, le=60)] | None, Field(description="0 to 60")] = None,
    vibration: Annotated[bool | None, Field(description="Whether it vibrates")] = None,
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
    call.state.alarms.put(replace(call.own(call.state.alarms, alarm_id), **changes))
    return {"message": "The alarm was updated."}


@app.api()
def delete_alarm(call: PhoneCall, alarm_id: AlarmId) -> dict[str, Any]:
    """Delete an alarm."""
    call.state.alarms.remove(call.own(call.state.alarms, alarm_id).alarm_id)
    return {"message": "The alarm was deleted."}


def _require_new_number(call: PhoneCall, number: str | None) -> None:
    taken = (
        contact for contact in call.state.contacts if contact.owner == call.user and contact.phone_number == number
    )
    if number and (contact := next(taken, None)):
        raise ConflictError(f"{name_of(contact)} has this phone number already (contact_id {contact.contact_id}).")

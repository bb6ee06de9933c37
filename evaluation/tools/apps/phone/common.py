"""The app, and what all its APIs use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evaluation.tools.apps.framework import (
    App,
    Call,
    add_account_apis,
)
from evaluation.tools.apps.phone.state import Contact, PhoneState
from evaluation.tools.apps.phone.view import VIEW

app = App("phone", PhoneState, VIEW)
add_account_apis(app, by_phone=True)

PhoneCall = Call[PhoneState]
AlarmId = Annotated[int, Field(description="From show_alarms")]
ContactId = Annotated[int, Field(description="From search_contacts")]
TextMessageId = Annotated[int, Field(description="From search_text_messages")]
PhoneNumber = Annotated[str, Field(pattern=r"^\+?[0-9]{3,15}$", description="Digits only, e.g. 4155550100")]
Text = Annotated[str, Field(max_length=500)]


def name_of(contact: Contact) -> str:
    return f"{contact.first_name} {contact.last_name}".strip()

"""Text messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    paginate,
    search,
)
from evaluation.tools.apps.phone.common import PhoneCall, PhoneNumber, Text, TextMessageId, app, name_of
from evaluation.tools.apps.phone.state import TextMessage


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
    if query.strip():
        found = sorted(search(query, call.state.messages, lambda message: (message.message,)), key=_sent, reverse=True)
        messages = _own(call, found, phone_number)
    else:
        messages = _own(call, call.state.messages.latest_first(_sent), phone_number)
    if only_latest_per_contact:
        latest: dict[str, TextMessage] = {}
        for message in messages:
            latest.setdefault(_partner(call, message), message)
        messages = iter(latest.values())
    return paginate(messages, page_index, page_limit, _shower(call))


@app.api()
def show_text_message(call: PhoneCall, text_message_id: TextMessageId) -> dict[str, Any]:
    """Show one text message."""
    message = call.state.messages.find(text_message_id)
    if message is None or call.user not in (message.sender, message.receiver):
        raise NotFoundError(f"You have no text message with text_message_id {text_message_id}.")
    return _shower(call)(message)


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
    window = (
        message
        for message in _own(call, call.state.messages.latest_first(_sent), phone_number)
        if (min_datetime or "") <= message.sent_at and (max_datetime is None or message.sent_at <= max_datetime)
    )
    return paginate(window, page_index, page_limit, _shower(call))


@app.api()
def send_text_message(
    call: PhoneCall,
    phone_number: PhoneNumber,
    message: Annotated[str, Field(min_length=1, max_length=5_000, description="Text to send")],
) -> dict[str, Any]:
    """Send a text message to a phone number."""
    if phone_number == call.user:
        raise InvalidError("You cannot send a text message to your own number.")
    sent = TextMessage(call.state.messages.next_id(), call.user, phone_number, message, call.stamp)
    call.state.messages.put(sent)
    return {"message": "The text message was sent.", "text_message_id": sent.text_message_id}


@app.api()
def delete_text_message(call: PhoneCall, text_message_id: TextMessageId) -> dict[str, Any]:
    """Delete a text message."""
    show_text_message(call, text_message_id)
    call.state.messages.remove(text_message_id)
    return {"message": "The text message was deleted."}


def _own(call: PhoneCall, messages: Iterable[TextMessage], phone_number: str | None) -> Iterator[TextMessage]:
    return (
        message
        for message in messages
        if call.user in (message.sender, message.receiver) and phone_number in (None, _partner(call, message))
    )


def _sent(message: TextMessage) -> tuple[str, int]:
    return message.sent_at, message.text_message_id


def _partner(call: PhoneCall, message: TextMessage) -> str:
    return message.receiver if message.sender == call.user else message.sender


def _shower(call: PhoneCall) -> Callable[[TextMessage], dict[str, Any]]:
    names = {contact.phone_number: name_of(contact) for contact in call.state.contacts if contact.owner == call.user}
    names[call.user] = call.account.name

    def person(number: str) -> dict[str, str]:
        return {"name": names.get(number, ""), "phone_number": number}

    return lambda message: {
        "text_message_id": message.text_message_id,
        "sender": person(message.sender),
        "receiver": person(message.receiver),
        "message": message.message,
        "sent_at": message.sent_at,
    }

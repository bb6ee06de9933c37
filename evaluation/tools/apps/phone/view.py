from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Phone",
    "Look up and add contacts, read and send text messages, set alarms, tell the date and time.",
    {
        "contacts": TableView("contact", ("first_name", "last_name", "phone_number", "email", "relationships")),
        "messages": TableView("text message", ("message", "sender", "receiver", "sent_at")),
        "alarms": TableView("alarm", ("label", "time", "repeat_days", "enabled")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)

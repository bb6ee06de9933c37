"""Data to start from: one account with a contact, a conversation and an alarm."""

from __future__ import annotations

from typing import Any

EXAMPLE: dict[str, Any] = {
    "accounts": [
        {"username": "4155550100", "password": "phone-of-ada", "first_name": "Ada", "last_name": "Berg"},
        {"username": "4155550101", "first_name": "Noor", "last_name": "Haddad"},
    ],
    "contacts": [
        {
            "owner": "4155550100",
            "first_name": "Noor",
            "last_name": "Haddad",
            "phone_number": "4155550101",
            "email": "noor@example.com",
            "relationships": ["coworker"],
        }
    ],
    "messages": [
        {
            "sender": "4155550101",
            "receiver": "4155550100",
            "message": "Are we still on for Thursday?",
            "sent_at": "2026-04-10T17:05:00",
        }
    ],
    "alarms": [{"owner": "4155550100", "time": "06:45", "label": "Run", "repeat_days": ["tuesday", "thursday"]}],
}

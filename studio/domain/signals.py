"""Example payloads of environment signals, by kind."""

from __future__ import annotations

from studio.domain.base import JsonDict

SIGNAL_EXAMPLES: dict[str, list[tuple[str, JsonDict]]] = {
    "webhook": [
        (
            "A booking was changed",
            {
                "event": "booking.changed",
                "booking": "B-2291",
                "guest": "Orla Finn",
                "was": {"date": "2027-06-11", "people": 6},
                "now": {"date": "2027-06-12", "people": 9},
            },
        ),
        (
            "A payment failed",
            {
                "event": "payment.failed",
                "invoice": "2027-0418",
                "customer": "Hill Street Pottery",
                "amount": 240.5,
                "currency": "EUR",
                "reason": "card expired",
            },
        ),
        (
            "A form was filled in",
            {
                "event": "form.submitted",
                "form": "Complaint",
                "from": "R. Adeyemi",
                "fields": {"about": "late delivery", "text": "The flowers came a day after the wedding."},
            },
        ),
    ],
    "heartbeat": [
        ("A weekly check-in", {"schedule": "every Monday, 08:00", "now": "2027-03-08T08:00:00+00:00"}),
        ("End of the day", {"schedule": "every day, 17:30", "now": "2027-03-11T17:30:00+00:00", "last": "ok"}),
    ],
    "feed": [
        (
            "Notices from an authority",
            {
                "feed": "Food safety notices",
                "entries": [
                    {
                        "title": "Recall: almond flour, lot 7731",
                        "published": "2027-03-09",
                        "summary": "May contain peanut. Take it off the shelf and tell buyers.",
                    },
                    {"title": "New label rules from July", "published": "2027-03-08", "summary": ""},
                ],
            },
        ),
        (
            "Unread mail",
            {
                "feed": "Inbox",
                "entries": [
                    {"from": "Ines Calder", "subject": "Thursday", "received": "2027-03-10T09:12:00+00:00"},
                    {"from": "Print shop", "subject": "Proof 3", "received": "2027-03-10T09:40:00+00:00"},
                ],
            },
        ),
    ],
    "file_drop": [
        ("One file", {"path": "incoming/scan_0412.pdf", "size": 48213, "dropped_by": "scanner"}),
        (
            "Several files",
            {"folder": "incoming", "files": ["offer_north.csv", "offer_south.csv"], "dropped_by": "Jun Okafor"},
        ),
    ],
}

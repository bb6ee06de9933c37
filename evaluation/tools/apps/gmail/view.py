from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Gmail",
    "Read, search, label and archive mail; write drafts, send, reply and forward.",
    {
        "emails": TableView("email", ("subject", "sender", "recipients", "body", "sent_at")),
        "drafts": TableView("draft", ("subject", "recipients", "body", "updated_at")),
        "mailboxes": TableView("thread", ("mailbox_thread_id", "read", "starred", "archived", "labels")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)

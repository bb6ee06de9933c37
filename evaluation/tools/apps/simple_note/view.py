from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Simple Note",
    "Find, write, change and delete notes.",
    {
        "notes": TableView("note", ("title", "content", "tags", "owner", "updated_at")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)

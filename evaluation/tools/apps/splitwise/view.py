from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Splitwise",
    "Share expenses in groups or with single people, see who owes whom, and settle up.",
    {
        "groups": TableView("group", ("name", "members")),
        "expenses": TableView("expense", ("description", "amount", "paid_by", "shares", "group_id")),
        "payments": TableView("payment", ("description", "amount", "payer", "receiver", "group_id")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)

"""What a persona's expenses may leave out, and data to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluation.tools.apps.splitwise.state import SplitwiseState, equal_shares

EXAMPLE: dict[str, Any] = {
    "accounts": [
        {"username": "ada@example.com", "password": "bills-of-ada", "first_name": "Ada", "last_name": "Berg"},
        {"username": "noor@example.com", "first_name": "Noor", "last_name": "Haddad"},
        {"username": "li@example.com", "first_name": "Li", "last_name": "Chen"},
    ],
    "groups": [{"group_id": 1, "name": "Flat", "members": ["ada@example.com", "noor@example.com", "li@example.com"]}],
    "expenses": [{"group_id": 1, "description": "Groceries", "amount": 31.0, "paid_by": "noor@example.com"}],
}


def complete(state: SplitwiseState) -> None:
    """An expense without shares is everybody's."""
    for expense in list(state.expenses):
        group = state.groups.find(expense.group_id) if expense.group_id is not None else None
        if not expense.shares and group is not None and group.members:
            state.expenses.put(replace(expense, shares=equal_shares(expense.amount, group.members)))

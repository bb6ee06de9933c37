from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.tools.apps.framework import AppState


@dataclass(frozen=True)
class Group:
    group_id: int
    name: str
    members: tuple[str, ...] = ()
    created_by: str = ""
    created_at: str = ""


@dataclass(frozen=True)
class Share:
    username: str
    amount: float


@dataclass(frozen=True)
class Expense:
    expense_id: int
    group_id: int
    description: str
    amount: float
    paid_by: str
    shares: tuple[Share, ...] = ()
    """Who owes how much of it; none in a persona's data: everybody in the group the same."""
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""


class SplitwiseState(AppState):
    app = "splitwise"

    def __init__(self) -> None:
        super().__init__()
        self.groups = self.table("groups", Group, "group", {"members": "accounts"})
        self.expenses = self.table("expenses", Expense, "expense", {"group_id": "groups", "paid_by": "accounts"})

    def balances(self, group_id: int) -> dict[str, int]:
        """Cents by member: above nothing is owed to them, below they owe."""
        cents_by = dict.fromkeys(self.groups.get(group_id).members, 0)
        for expense in self.expenses.having("group_id", group_id):
            cents_by[expense.paid_by] = cents_by.get(expense.paid_by, 0) + cents(expense.amount)
            for share in expense.shares:
                cents_by[share.username] = cents_by.get(share.username, 0) - cents(share.amount)
        return cents_by

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for expense in self.expenses:
            if sum(cents(share.amount) for share in expense.shares) != cents(expense.amount):
                yield f"expenses {expense.expense_id}: the shares do not add up to {expense.amount}."
            group = self.groups.find(expense.group_id)
            for person in {expense.paid_by, *(share.username for share in expense.shares)} if group else ():
                if group and person not in group.members:
                    yield f"expenses {expense.expense_id}: {person} is not in the group."
        for group in self.groups:
            if sum(self.balances(group.group_id).values()):
                yield f"groups {group.group_id}: what is owed does not add up."


def cents(amount: float) -> int:
    return round(amount * 100)


def equal_shares(amount: float, members: tuple[str, ...]) -> tuple[Share, ...]:
    """Cents that are left over go to the first members."""
    each, rest = divmod(cents(amount), len(members))
    return tuple(Share(member, (each + (place < rest)) / 100) for place, member in enumerate(members))

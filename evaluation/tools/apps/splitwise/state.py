from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from evaluation.tools.apps.attachments import Attachment
from evaluation.tools.apps.framework import AppState
from evaluation.tools.apps.notifications import notifications_table


@dataclass(frozen=True)
class Group:
    group_id: int
    name: str
    members: tuple[str, ...] = ()
    created_by: str = ""
    created_at: str = ""
    invitation_code: str = ""
    """Whoever has it may join."""


@dataclass(frozen=True)
class Share:
    username: str
    amount: float


@dataclass(frozen=True)
class Expense:
    expense_id: int
    description: str
    amount: float
    paid_by: str
    group_id: int | None = None
    shares: tuple[Share, ...] = ()
    """Who owes how much of it; none in a persona's data: everybody in the group the same."""
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""
    receipt_id: int | None = None


@dataclass(frozen=True)
class ExpenseComment:
    expense_comment_id: int
    expense_id: int
    author: str
    content: str
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class PaymentComment:
    payment_comment_id: int
    payment_id: int
    author: str
    content: str
    created_at: str = ""
    updated_at: str = ""


@dataclass(frozen=True)
class Payment:
    payment_id: int
    payer: str
    receiver: str
    amount: float
    group_id: int | None = None
    description: str = ""
    created_at: str = ""
    receipt_id: int | None = None


class Debt(NamedTuple):
    group_id: int | None
    debtor: str
    creditor: str
    cents: int


class SplitwiseState(AppState):
    app = "splitwise"

    def __init__(self) -> None:
        super().__init__()
        self.groups = self.table("groups", Group, "group", {"members": "accounts"}, "name members")
        of_expense = {"group_id": "groups", "paid_by": "accounts", "receipt_id": "receipts"}
        of_payment = {"group_id": "groups", "payer": "accounts", "receiver": "accounts", "receipt_id": "receipts"}
        owed, paid = "description amount paid_by shares group_id", "description amount payer receiver group_id"
        self.expenses = self.table("expenses", Expense, "expense", of_expense, owed)
        self.payments = self.table("payments", Payment, "payment", of_payment, paid)
        self.deleted_expenses = self.table("deleted_expenses", Expense, "deleted expense", of_expense)
        self.deleted_payments = self.table("deleted_payments", Payment, "deleted payment", of_payment)
        self.table("expense_comments", ExpenseComment, "comment", {"author": "accounts"}, "content author expense_id")
        self.table("payment_comments", PaymentComment, "comment", {"author": "accounts"}, "content author payment_id")
        notifications_table(self)
        self.receipts = self.table("receipts", Attachment, "receipt", {}, "file_name content")

    def complete(self) -> None:
        """An expense without shares is everybody's."""
        for expense in list(self.expenses):
            group = self.groups.find(expense.group_id) if expense.group_id is not None else None
            if not expense.shares and group is not None and group.members:
                self.expenses.put(replace(expense, shares=equal_shares(expense.amount, group.members)))

    def balances(self, group_id: int) -> dict[str, int]:
        """Cents by member: above nothing is owed to them, below they owe."""
        cents_by = dict.fromkeys(self.groups.get(group_id).members, 0)
        for debt in _debts(self.expenses.having("group_id", group_id), self.payments.having("group_id", group_id)):
            cents_by[debt.creditor] = cents_by.get(debt.creditor, 0) + debt.cents
            cents_by[debt.debtor] = cents_by.get(debt.debtor, 0) - debt.cents
        return cents_by

    def owed_to(self, person: str) -> dict[tuple[str, int | None], int]:
        """Cents by the other person and the group: above nothing is owed to ``person``, below ``person`` owes."""
        owed: dict[tuple[str, int | None], int] = {}
        for debt in _debts(self.expenses, self.payments):
            if person in (debt.debtor, debt.creditor) and debt.debtor != debt.creditor:
                lent = debt.creditor == person
                key = (debt.debtor if lent else debt.creditor, debt.group_id)
                owed[key] = owed.get(key, 0) + (debt.cents if lent else -debt.cents)
        return owed

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for expense in self.expenses:
            if sum(cents(share.amount) for share in expense.shares) != cents(expense.amount):
                yield f"expenses {expense.expense_id}: the shares do not add up to {expense.amount}."
            group = None if expense.group_id is None else self.groups.find(expense.group_id)
            for person in {expense.paid_by, *(share.username for share in expense.shares)} if group else ():
                if group and person not in group.members:
                    yield f"expenses {expense.expense_id}: {person} is not in the group."
        for group in self.groups:
            if sum(self.balances(group.group_id).values()):
                yield f"groups {group.group_id}: what is owed does not add up."


def _debts(expenses: Iterable[Expense], payments: Iterable[Payment]) -> Iterator[Debt]:
    """Who comes to owe whom. A payment makes its receiver owe the payer, which cancels what the payer owes."""
    for expense in expenses:
        for share in expense.shares:
            yield Debt(expense.group_id, share.username, expense.paid_by, cents(share.amount))
    for payment in payments:
        yield Debt(payment.group_id, payment.receiver, payment.payer, cents(payment.amount))


def cents(amount: float) -> int:
    return round(amount * 100)


def equal_shares(amount: float, members: tuple[str, ...]) -> tuple[Share, ...]:
    """Cents that are left over go to the first members."""
    each, rest = divmod(cents(amount), len(members))
    return tuple(Share(member, (each + (place < rest)) / 100) for place, member in enumerate(members))

"""The app, and what all its APIs use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.attachments import attach
from evaluation.tools.apps.framework import App, Call, InvalidError, NotFoundError, Table, add_account_apis, as_dict
from evaluation.tools.apps.splitwise.state import Expense, Group, Payment, SplitwiseState, cents

app = App(
    "splitwise",
    SplitwiseState,
    "Splitwise",
    "Share expenses in groups or with single people, see who owes whom, and settle up.",
)
add_account_apis(app)

SplitwiseCall = Call[SplitwiseState]
Email = Annotated[str, Field(min_length=1, max_length=200, description="The person's email address")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="Name of the group")]
Amount = Annotated[float, Field(gt=0, le=1_000_000)]
GroupId = Annotated[int, Field(description="From show_groups")]


def own_groups(call: SplitwiseCall) -> list[Group]:
    return [group for group in call.state.groups if call.user in group.members]


def own_group(call: SplitwiseCall, group_id: int) -> Group:
    """Raises NotFoundError."""
    group = call.state.groups.find(group_id)
    if group is None or call.user not in group.members:
        raise NotFoundError(f"You have no group with group_id {group_id}.")
    return group


def expense_of(call: SplitwiseCall, expense_id: int, table: Table[Expense] | None = None) -> Expense:
    """Of a group of yours, or outside of groups with you in it. Raises NotFoundError."""
    expense = (call.state.expenses if table is None else table).find(expense_id)
    own = {group.group_id for group in own_groups(call)}
    if expense is None or not (with_you(call, expense) or expense.group_id in own):
        raise NotFoundError(f"You have no expense with expense_id {expense_id}.")
    return expense


def with_you(call: SplitwiseCall, expense: Expense) -> bool:
    """Outside of groups."""
    people = (expense.paid_by, *(share.username for share in expense.shares))
    return expense.group_id is None and call.user in people


def payment_of(call: SplitwiseCall, payment_id: int, table: Table[Payment] | None = None) -> Payment:
    """Of a group of yours, or with you in it. Raises NotFoundError."""
    payment = (call.state.payments if table is None else table).find(payment_id)
    own = {group.group_id for group in own_groups(call)}
    if payment is None or not (call.user in (payment.payer, payment.receiver) or payment.group_id in own):
        raise NotFoundError(f"You have no payment with payment_id {payment_id}.")
    return payment


def receipt_of(call: SplitwiseCall, path: str | None, file_token: str | None) -> int | None:
    """The number of a receipt made of a file, if there is one."""
    return next(iter(attach(call, call.state.receipts, [path] if path else [], file_token)), None)


def shown(call: SplitwiseCall, record: Expense | Payment) -> dict[str, Any]:
    """With its receipt, if it has one."""
    answer = as_dict(record)
    if (number := answer.pop("receipt_id")) is not None:
        answer["receipt_file_name"] = call.state.receipts.get(number).file_name
    return answer


def require_people(call: SplitwiseCall, group: Group | None, people: tuple[str, ...]) -> None:
    """In the group if there is one, else with an account."""
    for person in people:
        if group is None:
            call.state.accounts.get(person)
        elif person not in group.members:
            raise InvalidError(f"{person} is not in the group.")


def rounded(amount: float) -> float:
    """To cents. Raises InvalidError."""
    if not cents(amount):
        raise InvalidError("The amount is less than a cent.")
    return cents(amount) / 100

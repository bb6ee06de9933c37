"""Groups and expenses; ``payment_api`` tells who owes whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.framework import (
    ConflictError,
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    PeopleQuery,
    as_dict,
    paginate,
    search,
    search_people,
)
from evaluation.tools.apps.splitwise import payment_api
from evaluation.tools.apps.splitwise.common import (
    Amount,
    Email,
    GroupId,
    Name,
    SplitwiseCall,
    app,
    own_group,
    own_groups,
    require_people,
    rounded,
)
from evaluation.tools.apps.splitwise.state import Expense, Group, Share, cents, equal_shares

__all__ = ["app", "payment_api"]

ExpenseId = Annotated[int, Field(description="From record_expense or a list of expenses")]
Debtors = Annotated[
    tuple[Email, ...],
    Field(max_length=50, description="Who share it, the payer too if so; left out: all members of the group"),
]
Part = Annotated[float, Field(ge=0, le=1_000_000)]
Amounts = Annotated[
    tuple[Part, ...], Field(max_length=50, description="What each debtor owes, in their order; left out: all the same")
]
Shares = Annotated[
    dict[str, Part], Field(description="Instead of debtor_emails and debt_amounts: email address to amount")
]


@app.api()
def search_users(
    call: SplitwiseCall,
    query: PeopleQuery = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """Search people who use Splitwise, by name or email address."""
    return search_people(call, query, page_index, page_limit)


@app.api()
def show_groups(call: SplitwiseCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List your groups."""
    return paginate(own_groups(call), page_index, page_limit, as_dict)


@app.api()
def show_group(call: SplitwiseCall, group_id: GroupId) -> dict[str, Any]:
    """Show a group with its members."""
    return as_dict(own_group(call, group_id))


@app.api()
def create_group(
    call: SplitwiseCall,
    name: Name,
    member_emails: Annotated[tuple[Email, ...], Field(max_length=50, description="Besides you")] = (),
) -> dict[str, Any]:
    """Create a group."""
    members = tuple(dict.fromkeys((call.user, *member_emails)))
    for member in members:
        call.state.accounts.get(member)
    number = call.state.groups.next_id()
    call.state.groups.put(Group(number, name, members, call.user, call.stamp))
    return {"message": "The group was created.", "group_id": number}


@app.api(alias="add_group_member")
def add_member_to_group(call: SplitwiseCall, group_id: GroupId, email: Email) -> dict[str, Any]:
    """Add a person to a group of yours."""
    group = own_group(call, group_id)
    call.state.accounts.get(email)
    if email in group.members:
        raise ConflictError(f"{email} is in the group already.")
    call.state.groups.put(replace(group, members=(*group.members, email)))
    return {"message": "The member was added."}


@app.api()
def record_expense(
    call: SplitwiseCall,
    description: Annotated[Name, Field(description="What it was for")],
    paid_amount: Annotated[
        Amount, Field(description="What was paid in all", validation_alias=AliasChoices("paid_amount", "amount"))
    ],
    payer_email: Annotated[
        Email | None,
        Field(description="Who paid; you, if left out", validation_alias=AliasChoices("payer_email", "paid_by")),
    ] = None,
    debtor_emails: Debtors = (),
    debt_amounts: Amounts = (),
    group_id: Annotated[int | None, Field(description="Left out: an expense outside of groups")] = None,
    shares: Shares | None = None,
) -> dict[str, Any]:
    """Record an expense that people share."""
    group = None if group_id is None else own_group(call, group_id)
    payer = payer_email or call.user
    require_people(call, group, (payer,))
    amount = rounded(paid_amount)
    parts = _shares(call, group, amount, *_split(shares, debtor_emails, debt_amounts))
    if group is None and call.user not in (payer, *(part.username for part in parts)):
        raise InvalidError("You must be the payer or a debtor of an expense outside of groups.")
    number = call.state.expenses.next_id()
    stamp = call.stamp
    call.state.expenses.put(Expense(number, description, amount, payer, group_id, parts, call.user, stamp, stamp))
    return {"message": "The expense was recorded.", "expense_id": number}


@app.api()
def update_expense(
    call: SplitwiseCall,
    expense_id: ExpenseId,
    description: Annotated[Name | None, Field(description="What it was for")] = None,
    paid_amount: Annotated[
        Amount | None,
        Field(description="What was paid in all", validation_alias=AliasChoices("paid_amount", "amount")),
    ] = None,
    payer_email: Annotated[
        Email | None, Field(description="Who paid", validation_alias=AliasChoices("payer_email", "paid_by"))
    ] = None,
    debtor_emails: Debtors = (),
    debt_amounts: Amounts = (),
    shares: Shares | None = None,
) -> dict[str, Any]:
    """Change an expense. What is left out stays as it is; a new amount is split the same among all debtors."""
    expense = _expense(call, expense_id)
    group = None if expense.group_id is None else own_group(call, expense.group_id)
    changes: dict[str, Any] = {"updated_at": call.stamp}
    if description is not None:
        changes["description"] = description
    if payer_email is not None:
        require_people(call, group, (payer_email,))
        changes["paid_by"] = payer_email
    debtors, amounts = _split(shares, debtor_emails, debt_amounts)
    if paid_amount is not None or debtors or amounts:
        total = expense.amount if paid_amount is None else rounded(paid_amount)
        if not debtors and group is None:
            debtors = tuple(share.username for share in expense.shares)
        changes |= {"amount": total, "shares": _shares(call, group, total, debtors, amounts)}
    call.state.expenses.put(replace(expense, **changes))
    return {"message": "The expense was updated."}


@app.api()
def delete_expense(call: SplitwiseCall, expense_id: ExpenseId) -> dict[str, Any]:
    """Delete an expense."""
    call.state.expenses.remove(_expense(call, expense_id).expense_id)
    return {"message": "The expense was deleted."}


@app.api()
def show_expense(call: SplitwiseCall, expense_id: ExpenseId) -> dict[str, Any]:
    """Show an expense with everybody's share."""
    return as_dict(_expense(call, expense_id))


@app.api()
def show_group_expenses(
    call: SplitwiseCall,
    group_id: GroupId,
    query: Annotated[str, Field(max_length=200, description="Words of the description")] = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List or search the expenses of a group, latest first."""
    own_group(call, group_id)
    own = call.state.expenses.having("group_id", group_id)
    found = search(query, own, lambda expense: (expense.description,))
    return paginate(sorted(found, key=_added, reverse=True), page_index, page_limit, as_dict)


@app.api()
def show_no_group_expenses(call: SplitwiseCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the expenses outside of groups that you share, latest first."""
    own = [each for each in call.state.expenses if _with_you(call, each)]
    return paginate(sorted(own, key=_added, reverse=True), page_index, page_limit, as_dict)


def _added(expense: Expense) -> tuple[str, int]:
    return expense.created_at, expense.expense_id


def _expense(call: SplitwiseCall, expense_id: int) -> Expense:
    """Of a group of yours, or outside of groups with you in it."""
    expense = call.state.expenses.find(expense_id)
    if expense is not None and (_with_you(call, expense) or expense.group_id in _own_numbers(call)):
        return expense
    raise NotFoundError(f"You have no expense with expense_id {expense_id}.")


def _own_numbers(call: SplitwiseCall) -> set[int]:
    return {group.group_id for group in own_groups(call)}


def _with_you(call: SplitwiseCall, expense: Expense) -> bool:
    """Outside of groups."""
    people = (expense.paid_by, *(share.username for share in expense.shares))
    return expense.group_id is None and call.user in people


def _split(
    shares: dict[str, float] | None, debtors: tuple[str, ...], amounts: tuple[float, ...]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    return (tuple(shares), tuple(shares.values())) if shares else (debtors, amounts)


def _shares(
    call: SplitwiseCall, group: Group | None, total: float, debtors: tuple[str, ...], amounts: tuple[float, ...]
) -> tuple[Share, ...]:
    people = debtors or (group.members if group else ())
    if not people:
        raise InvalidError("Name the debtor_emails, or the group_id.")
    if len(set(people)) < len(people):
        raise InvalidError("A debtor is named twice.")
    require_people(call, group, people)
    if not amounts:
        return equal_shares(total, people)
    if len(amounts) != len(debtors):
        raise InvalidError(f"There are {len(debtors)} debtor_emails, but {len(amounts)} debt_amounts.")
    if sum(map(cents, amounts)) != cents(total):
        raise InvalidError(f"The shares add up to {sum(amounts):.2f}, not to {total:.2f}.")
    return tuple(Share(person, cents(part) / 100) for person, part in zip(people, amounts, strict=True))

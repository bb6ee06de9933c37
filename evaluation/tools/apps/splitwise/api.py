"""Groups and expenses; ``payment_api`` tells who owes whom."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import AliasChoices, Field

from evaluation.tools.apps.attachments import FilePath, FileToken
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
from evaluation.tools.apps.notifications import add_notification_apis, notify
from evaluation.tools.apps.splitwise import payment_api, receipt_api
from evaluation.tools.apps.splitwise.common import (
    Amount,
    Email,
    GroupId,
    Name,
    SplitwiseCall,
    app,
    expense_of,
    own_group,
    own_groups,
    receipt_of,
    require_people,
    rounded,
    shown,
    with_you,
)
from evaluation.tools.apps.splitwise.state import Expense, Group, Share, cents, equal_shares

__all__ = ["app", "payment_api", "receipt_api"]

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


add_notification_apis(app)


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
    code = hashlib.sha256(f"{number}\n{name}\n{call.stamp}".encode()).hexdigest()[:5]
    call.state.groups.put(Group(number, name, members, call.user, call.stamp, code))
    return {"message": "The group was created.", "group_id": number}


@app.api(alias="add_group_member")
def add_member_to_group(
    call: SplitwiseCall,
    group_id: GroupId,
    user_email: Annotated[Email, Field(validation_alias=AliasChoices("user_email", "email"))],
) -> dict[str, Any]:
    """Add a person to a group of yours."""
    group = own_group(call, group_id)
    call.state.accounts.get(user_email)
    if user_email in group.members:
        raise ConflictError(f"{user_email} is in the group already.")
    call.state.groups.put(replace(group, members=(*group.members, user_email)))
    notify(call, user_email, f"{call.account.name} added you to the group {group.name!r}.")
    return {"message": "The member was added."}


@app.api()
def accept_group_invitation(
    call: SplitwiseCall,
    invitation_code: Annotated[str, Field(min_length=1, max_length=50, description="From a member of the group")],
) -> dict[str, Any]:
    """Join a group to which one of its members invited you."""
    group = next((each for each in call.state.groups if each.invitation_code == invitation_code), None)
    if group is None:
        raise NotFoundError("No group has this invitation code.")
    if call.user in group.members:
        raise ConflictError("You are in this group already.")
    call.state.groups.put(replace(group, members=(*group.members, call.user)))
    return {"message": "You have joined the group.", "group_id": group.group_id}


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
    receipt_file_path: FilePath | None = None,
    file_system_access_token: FileToken | None = None,
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
    expense = Expense(number, description, amount, payer, group_id, parts, call.user, stamp, stamp)
    receipt = receipt_of(call, receipt_file_path, file_system_access_token)
    call.state.expenses.put(replace(expense, receipt_id=receipt))
    for person in {payer: None} | {part.username: None for part in parts}:
        if person != call.user:
            notify(call, person, f"{call.account.name} recorded the expense {description!r}.")
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
    expense = expense_of(call, expense_id)
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
    """Delete an expense. undelete_expense restores it."""
    expense = expense_of(call, expense_id)
    call.state.expenses.remove(expense_id)
    call.state.deleted_expenses.put(expense)
    return {"message": "The expense was deleted."}


@app.api()
def undelete_expense(
    call: SplitwiseCall, expense_id: Annotated[int, Field(description="The number it had")]
) -> dict[str, Any]:
    """Restore a deleted expense."""
    expense = expense_of(call, expense_id, call.state.deleted_expenses)
    call.state.deleted_expenses.remove(expense_id)
    call.state.expenses.put(expense)
    return {"message": "The expense was restored."}


@app.api()
def show_expense(call: SplitwiseCall, expense_id: ExpenseId) -> dict[str, Any]:
    """Show an expense with everybody's share."""
    return shown(call, expense_of(call, expense_id))


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
    return paginate(sorted(found, key=_added, reverse=True), page_index, page_limit, partial(shown, call))


@app.api()
def show_no_group_expenses(call: SplitwiseCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the expenses outside of groups that you share, latest first."""
    own = [each for each in call.state.expenses if with_you(call, each)]
    return paginate(sorted(own, key=_added, reverse=True), page_index, page_limit, partial(shown, call))


def _added(expense: Expense) -> tuple[str, int]:
    return expense.created_at, expense.expense_id


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

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.framework import (
    App,
    Call,
    ConflictError,
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    PeopleQuery,
    add_account_apis,
    paginate,
    search,
    search_people,
)
from evaluation.tools.apps.framework.records import as_dict
from evaluation.tools.apps.splitwise.seed import complete
from evaluation.tools.apps.splitwise.state import Expense, Group, Share, SplitwiseState, cents, equal_shares
from evaluation.tools.apps.splitwise.view import VIEW

app = App("splitwise", SplitwiseState, VIEW, complete)
add_account_apis(app)

SplitwiseCall = Call[SplitwiseState]
Email = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Amount = Annotated[float, Field(gt=0, le=1_000_000)]
Shares = Annotated[
    dict[str, Annotated[float, Field(ge=0, le=1_000_000)]],
    Field(description="Email address to amount; all members the same if left out"),
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
    return paginate(_own_groups(call), page_index, page_limit, as_dict)


@app.api()
def show_group(call: SplitwiseCall, group_id: int) -> dict[str, Any]:
    """Show a group with its members."""
    return as_dict(_group(call, group_id))


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


@app.api()
def add_group_member(call: SplitwiseCall, group_id: int, email: Email) -> dict[str, Any]:
    """Add a person to a group of yours."""
    group = _group(call, group_id)
    call.state.accounts.get(email)
    if email in group.members:
        raise ConflictError(f"{email} is in the group already.")
    call.state.groups.put(replace(group, members=(*group.members, email)))
    return {"message": "The member was added."}


@app.api()
def record_expense(
    call: SplitwiseCall,
    group_id: int,
    description: Name,
    amount: Amount,
    paid_by: Annotated[Email | None, Field(description="You, if left out")] = None,
    shares: Shares | None = None,
) -> dict[str, Any]:
    """Record an expense of a group."""
    group = _group(call, group_id)
    payer = paid_by or call.user
    _require_members(group, (payer,))
    amount = cents(amount) / 100
    if not amount:
        raise InvalidError("The amount is less than a cent.")
    number = call.state.expenses.next_id()
    parts = _shares(group, amount, shares)
    stamp = call.stamp
    call.state.expenses.put(Expense(number, group_id, description, amount, payer, parts, call.user, stamp, stamp))
    return {"message": "The expense was recorded.", "expense_id": number}


@app.api()
def update_expense(
    call: SplitwiseCall,
    expense_id: int,
    description: Name | None = None,
    amount: Amount | None = None,
    paid_by: Email | None = None,
    shares: Shares | None = None,
) -> dict[str, Any]:
    """Change an expense. A new amount without shares is split the same among all members."""
    expense = _expense(call, expense_id)
    group = _group(call, expense.group_id)
    changes: dict[str, Any] = {"updated_at": call.stamp}
    if description is not None:
        changes["description"] = description
    if paid_by is not None:
        _require_members(group, (paid_by,))
        changes["paid_by"] = paid_by
    if amount is not None or shares is not None:
        total = expense.amount if amount is None else cents(amount) / 100
        if not total:
            raise InvalidError("The amount is less than a cent.")
        changes |= {"amount": total, "shares": _shares(group, total, shares)}
    call.state.expenses.put(replace(expense, **changes))
    return {"message": "The expense was updated."}


@app.api()
def delete_expense(call: SplitwiseCall, expense_id: int) -> dict[str, Any]:
    """Delete an expense."""
    call.state.expenses.remove(_expense(call, expense_id).expense_id)
    return {"message": "The expense was deleted."}


@app.api()
def show_expense(call: SplitwiseCall, expense_id: int) -> dict[str, Any]:
    """Show an expense with everybody's share."""
    return as_dict(_expense(call, expense_id))


@app.api()
def show_group_expenses(
    call: SplitwiseCall,
    group_id: int,
    query: Annotated[str, Field(max_length=200, description="Words of the description")] = "",
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List or search the expenses of a group, latest first."""
    _group(call, group_id)
    if query.strip():
        found = search(query, call.state.expenses, lambda expense: (expense.description,))
        latest = iter(sorted(found, key=_added, reverse=True))
    else:
        latest = call.state.expenses.latest_first(_added)
    return paginate((each for each in latest if each.group_id == group_id), page_index, page_limit, as_dict)


@app.api()
def show_group_balance(call: SplitwiseCall, group_id: int) -> dict[str, Any]:
    """Show what you are owed in a group; below 0, what you owe."""
    _group(call, group_id)
    return {"group_id": group_id, "balance": call.state.balances(group_id)[call.user] / 100}


@app.api()
def show_member_balances(call: SplitwiseCall, group_id: int) -> list[dict[str, Any]]:
    """Show what each member of a group is owed; below 0, what they owe."""
    _group(call, group_id)
    return [{"email": member, "balance": owed / 100} for member, owed in call.state.balances(group_id).items()]


@app.api()
def show_person_balance(call: SplitwiseCall, email: Email) -> dict[str, Any]:
    """Show what a person owes you over all groups, each expense by itself; below 0, what you owe them."""
    call.state.accounts.get(email)
    if email == call.user:
        raise InvalidError("This is yourself.")
    groups = {group.group_id for group in _own_groups(call)}
    owed = 0
    for expense in call.state.expenses:
        if expense.group_id in groups:
            by = {share.username: cents(share.amount) for share in expense.shares}
            owed += by.get(email, 0) if expense.paid_by == call.user else 0
            owed -= by.get(call.user, 0) if expense.paid_by == email else 0
    return {"email": email, "balance": owed / 100}


def _added(expense: Expense) -> tuple[str, int]:
    return expense.created_at, expense.expense_id


def _own_groups(call: SplitwiseCall) -> list[Group]:
    return [group for group in call.state.groups if call.user in group.members]


def _group(call: SplitwiseCall, group_id: int) -> Group:
    group = call.state.groups.find(group_id)
    if group is None or call.user not in group.members:
        raise NotFoundError(f"You have no group with group_id {group_id}.")
    return group


def _expense(call: SplitwiseCall, expense_id: int) -> Expense:
    expense = call.state.expenses.find(expense_id)
    if expense is None or expense.group_id not in {group.group_id for group in _own_groups(call)}:
        raise NotFoundError(f"You have no expense with expense_id {expense_id}.")
    return expense


def _require_members(group: Group, people: tuple[str, ...]) -> None:
    for person in people:
        if person not in group.members:
            raise InvalidError(f"{person} is not in the group.")


def _shares(group: Group, amount: float, shares: dict[str, float] | None) -> tuple[Share, ...]:
    if not shares:
        return equal_shares(amount, group.members)
    _require_members(group, tuple(shares))
    if sum(map(cents, shares.values())) != cents(amount):
        raise InvalidError(f"The shares add up to {sum(shares.values()):.2f}, not to {amount:.2f}.")
    return tuple(Share(person, cents(part) / 100) for person, part in shares.items())

"""Shared expenses: groups, who paid, who owes whom."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple

from pydantic import AliasChoices, Field

from evaluation.tools.apps.attachments import Attachment, FilePath, FileToken, attach, saves_file
from evaluation.tools.apps.framework import (
    App,
    AppState,
    Call,
    ConflictError,
    InvalidError,
    NotFoundError,
    PeopleQuery,
    Records,
    Table,
    add_account_apis,
    add_records,
    as_dict,
    given,
    search,
    search_people,
)
from evaluation.tools.apps.notifications import NOTIFICATIONS, add_notification_apis, notify


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


OF_EXPENSE = {"group_id": "groups", "paid_by": "accounts", "receipt_id": "receipts"}
OF_PAYMENT = {"group_id": "groups", "payer": "accounts", "receiver": "accounts", "receipt_id": "receipts"}


class SplitwiseState(AppState):
    app = "splitwise"
    groups = Table(Group, "group", "name members", {"members": "accounts"})
    expenses = Table(Expense, "expense", "description amount paid_by shares group_id", OF_EXPENSE)
    payments = Table(Payment, "payment", "description amount payer receiver group_id", OF_PAYMENT)
    deleted_expenses = Table(Expense, "deleted expense", refers=OF_EXPENSE)
    deleted_payments = Table(Payment, "deleted payment", refers=OF_PAYMENT)
    expense_comments = Table(ExpenseComment, "comment", "content author expense_id", {"author": "accounts"})
    payment_comments = Table(PaymentComment, "comment", "content author payment_id", {"author": "accounts"})
    notifications = NOTIFICATIONS
    receipts = Table(Attachment, "receipt", "file_name content")

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


def _add_deletion(noun: str, number: Any, visible: Callable[..., Any], about_show: str) -> None:
    """The same for expenses and for payments: delete, undelete, show."""
    key, some = f"{noun}_id", f"{'an' if noun == 'expense' else 'a'} {noun}"
    which, deleted = {key: (number, ...)}, {key: (Annotated[int, Field(description="The number it had")], ...)}

    def move(call: SplitwiseCall, number: int, source: str, target: str) -> None:
        tables = call.state.tables
        tables[target].put(visible(call, number, tables[source]))
        tables[source].remove(number)

    @app.api(f"delete_{noun}", f"Delete {some}. undelete_{noun} restores it.", which)
    def delete(call: SplitwiseCall, **given: int) -> dict[str, Any]:
        move(call, given[key], f"{noun}s", f"deleted_{noun}s")
        return {"message": f"The {noun} was deleted."}

    @app.api(f"undelete_{noun}", f"Restore a deleted {noun}.", deleted)
    def undelete(call: SplitwiseCall, **given: int) -> dict[str, Any]:
        move(call, given[key], f"deleted_{noun}s", f"{noun}s")
        return {"message": f"The {noun} was restored."}

    @app.api(f"show_{noun}", about_show, which)
    def show(call: SplitwiseCall, **given: int) -> dict[str, Any]:
        return shown(call, visible(call, given[key]))


# Who owes whom, and paying it back. Nothing here moves real money.

PaymentId = Annotated[int, Field(description="From show_group_payments or record_payment")]


@app.api()
def show_group_balance(call: SplitwiseCall, group_id: GroupId) -> dict[str, Any]:
    """Show what you are owed in a group; below 0, what you owe."""
    own_group(call, group_id)
    return {"group_id": group_id, "balance": call.state.balances(group_id)[call.user] / 100}


@app.api()
def show_groups_balance(call: SplitwiseCall) -> list[dict[str, Any]]:
    """Show what you are owed in each of your groups, and outside of groups; below 0, what you owe."""
    owed: dict[int | None, int] = {group.group_id: 0 for group in own_groups(call)} | {None: 0}
    for (_, number), amount in call.state.owed_to(call.user).items():
        owed[number] = owed.get(number, 0) + amount
    return [{"group_id": number, "balance": amount / 100} for number, amount in owed.items()]


@app.api()
def show_member_balances(call: SplitwiseCall, group_id: GroupId) -> list[dict[str, Any]]:
    """Show what each member of a group is owed; below 0, what they owe."""
    own_group(call, group_id)
    return [{"email": member, "balance": owed / 100} for member, owed in call.state.balances(group_id).items()]


@app.api()
def show_person_balance(call: SplitwiseCall, email: Email) -> dict[str, Any]:
    """Show what a person owes you in all groups and outside of them; below 0, what you owe them."""
    call.state.accounts.get(email)
    if email == call.user:
        raise InvalidError("This is yourself.")
    return {"email": email, "balance": _owed_by_person(call).get(email, 0) / 100}


@app.api()
def show_people_balance(call: SplitwiseCall) -> dict[str, Any]:
    """Show what you owe each person and what each owes you, in all groups and outside of them."""
    owed = {email: amount for email, amount in _owed_by_person(call).items() if amount}
    return {
        "you_owe_others": sum(-amount for amount in owed.values() if amount < 0) / 100,
        "others_owe_you": sum(amount for amount in owed.values() if amount > 0) / 100,
        "breakdown": [
            {
                "email": email,
                "name": call.state.accounts.get(email).name,
                "direction": "they_owe_you" if amount > 0 else "you_owe_them",
                "amount": abs(amount) / 100,
            }
            for email, amount in owed.items()
        ],
    }


@app.api()
def settle_up(
    call: SplitwiseCall,
    email: Email,
    group_id: Annotated[int | None, Field(description="Left out: what is owed outside of groups")] = None,
    description: Annotated[str, Field(max_length=200, description="What it was for")] = "Settle up balance.",
) -> dict[str, Any]:
    """Record that all you owe a person, or that they owe you, was paid."""
    group = None if group_id is None else own_group(call, group_id)
    require_people(call, group, (email,))
    owed = call.state.owed_to(call.user).get((email, group_id), 0)
    if not owed:
        raise InvalidError(f"You and {email} owe each other nothing here.")
    payer, receiver = (email, call.user) if owed > 0 else (call.user, email)
    number = _pay(call, Payment(0, payer, receiver, abs(owed) / 100, group_id, description, call.stamp))
    return {"message": "You are settled up.", "payment_id": number}


@app.api()
def record_payment(
    call: SplitwiseCall,
    payer_email: Annotated[Email, Field(description="Who paid")],
    receiver_email: Annotated[Email, Field(description="Who was paid; you are one of the two")],
    amount: Annotated[Amount, Field(description="How much")],
    group_id: Annotated[int | None, Field(description="If it settles what is owed in a group")] = None,
    description: Annotated[str, Field(max_length=200, description="What it was for")] = "",
    receipt_file_path: FilePath | None = None,
    file_system_access_token: FileToken | None = None,
) -> dict[str, Any]:
    """Record that a person paid another back."""
    if call.user not in (payer_email, receiver_email) or payer_email == receiver_email:
        raise InvalidError("You must be the payer or the receiver, and somebody else the other.")
    require_people(call, None if group_id is None else own_group(call, group_id), (payer_email, receiver_email))
    receipt = receipt_of(call, receipt_file_path, file_system_access_token)
    payment = Payment(0, payer_email, receiver_email, rounded(amount), group_id, description, call.stamp, receipt)
    return {"message": "The payment was recorded.", "payment_id": _pay(call, payment)}


@app.api()
def update_payment(
    call: SplitwiseCall,
    payment_id: PaymentId,
    amount: Annotated[Amount | None, Field(description="How much")] = None,
    description: Annotated[str | None, Field(max_length=200, description="What it was for")] = None,
) -> dict[str, Any]:
    """Change a payment. What is left out stays as it is."""
    payment = payment_of(call, payment_id)
    changes = given(amount=None if amount is None else rounded(amount), description=description)
    call.state.payments.put(replace(payment, **changes))
    return {"message": "The payment was updated."}


_add_deletion("payment", PaymentId, payment_of, "Show a payment.")


@app.api(page=5)
def show_group_payments(call: SplitwiseCall, group_id: GroupId) -> Iterable[Any]:
    """List the payments of a group, latest first."""
    own_group(call, group_id)
    found = call.state.payments.having("group_id", group_id)[::-1]
    return map(partial(shown, call), found)


@app.api(page=5)
def show_no_group_payments(call: SplitwiseCall) -> Iterable[Any]:
    """List the payments outside of groups with you in them, latest first."""
    outside = call.state.payments.having("group_id", None)
    found = [each for each in outside if call.user in (each.payer, each.receiver)][::-1]
    return map(partial(shown, call), found)


def _pay(call: SplitwiseCall, payment: Payment) -> int:
    number = call.state.payments.next_id()
    call.state.payments.put(replace(payment, payment_id=number))
    other = payment.receiver if payment.payer == call.user else payment.payer
    notify(call, other, f"{call.account.name} recorded a payment of {payment.amount:.2f}.")
    return number


def _owed_by_person(call: SplitwiseCall) -> dict[str, int]:
    """Cents by email address: above nothing they owe you, below you owe them."""
    owed: dict[str, int] = {}
    for (person, _), amount in call.state.owed_to(call.user).items():
        owed[person] = owed.get(person, 0) + amount
    return owed


# Comments and receipts of expenses and payments.

Content = Annotated[str, Field(min_length=1, max_length=20_000, description="Text of the comment")]


def _add(noun: str, visible: Callable[[SplitwiseCall, int], Any]) -> None:
    """The same for expenses and for payments."""
    key, some = f"{noun}_id", f"{'an' if noun == 'expense' else 'a'} {noun}"
    found = f"From record_{noun} or a list of {noun}s"
    which: dict[str, Any] = {key: (Annotated[int, Field(description=found)], ...)}
    add_records(
        app,
        Records(
            f"{noun}_comments",
            f"{noun}_comment",
            {"content": (Content, ...)},
            about=key,
            found=found,
            visible=visible,
            names={"create": f"post_{noun}_comment"},
            done="posted",
        ),
    )

    def change(call: SplitwiseCall, record: Any, receipt_id: int | None) -> None:
        call.state.tables[f"{noun}s"].put(replace(record, receipt_id=receipt_id))

    def with_receipt(call: SplitwiseCall, number: int) -> Any:
        record = visible(call, number)
        if record.receipt_id is None:
            raise NotFoundError(f"The {noun} has no receipt.")
        return record

    taken = which | {"receipt_file_path": (FilePath, ...), "file_system_access_token": (FileToken, ...)}

    @app.api(f"attach_{noun}_receipt_file", f"Attach a file as the receipt of {some}.", taken)
    def attach_receipt(
        call: SplitwiseCall, *, receipt_file_path: str, file_system_access_token: str, **given: int
    ) -> dict[str, Any]:
        record = visible(call, given[key])
        change(call, record, receipt_of(call, receipt_file_path, file_system_access_token))
        return {"message": "The receipt was attached."}

    @saves_file(app, f"download_{noun}_receipt_file", f"Save the receipt of {some}.", which)
    def receipt(call: SplitwiseCall, **given: int) -> Attachment:
        return call.state.receipts.get(with_receipt(call, given[key]).receipt_id)

    @app.api(f"delete_{noun}_receipt_file", f"Take the receipt off {some}.", which)
    def delete_receipt(call: SplitwiseCall, **given: int) -> dict[str, Any]:
        change(call, with_receipt(call, given[key]), None)
        return {"message": "The receipt was deleted."}


_add("expense", expense_of)
_add("payment", payment_of)


# Groups and expenses.

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


@app.api(page=5)
def search_users(call: SplitwiseCall, query: PeopleQuery = "") -> Iterable[Any]:
    """Search people who use Splitwise, by name or email address."""
    return search_people(call, query)


@app.api(page=5)
def show_groups(call: SplitwiseCall) -> Iterable[Any]:
    """List your groups."""
    return own_groups(call)


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


_add_deletion("expense", ExpenseId, expense_of, "Show an expense with everybody's share.")


@app.api(page=5)
def show_group_expenses(
    call: SplitwiseCall,
    group_id: GroupId,
    query: Annotated[str, Field(max_length=200, description="Words of the description")] = "",
) -> Iterable[Any]:
    """List or search the expenses of a group, latest first."""
    own_group(call, group_id)
    own = call.state.expenses.having("group_id", group_id)
    found = search(query, own, lambda expense: (expense.description,))
    return map(partial(shown, call), sorted(found, key=_added, reverse=True))


@app.api(page=5)
def show_no_group_expenses(call: SplitwiseCall) -> Iterable[Any]:
    """List the expenses outside of groups that you share, latest first."""
    own = [each for each in call.state.expenses if with_you(call, each)]
    return map(partial(shown, call), sorted(own, key=_added, reverse=True))


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

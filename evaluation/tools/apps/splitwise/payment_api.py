"""Who owes whom, and paying it back. Nothing here moves real money."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.attachments import FilePath, FileToken
from evaluation.tools.apps.framework import InvalidError, Page, PageIndex, PageLimit, given, paginate
from evaluation.tools.apps.notifications import notify
from evaluation.tools.apps.splitwise.common import (
    Amount,
    Email,
    GroupId,
    SplitwiseCall,
    app,
    own_group,
    own_groups,
    payment_of,
    receipt_of,
    require_people,
    rounded,
    shown,
)
from evaluation.tools.apps.splitwise.state import Payment

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


@app.api()
def delete_payment(call: SplitwiseCall, payment_id: PaymentId) -> dict[str, Any]:
    """Delete a payment. undelete_payment restores it."""
    payment = payment_of(call, payment_id)
    call.state.payments.remove(payment_id)
    call.state.deleted_payments.put(payment)
    return {"message": "The payment was deleted."}


@app.api()
def undelete_payment(
    call: SplitwiseCall, payment_id: Annotated[int, Field(description="The number it had")]
) -> dict[str, Any]:
    """Restore a deleted payment."""
    payment = payment_of(call, payment_id, call.state.deleted_payments)
    call.state.deleted_payments.remove(payment_id)
    call.state.payments.put(payment)
    return {"message": "The payment was restored."}


@app.api()
def show_payment(call: SplitwiseCall, payment_id: PaymentId) -> dict[str, Any]:
    """Show a payment."""
    return shown(call, payment_of(call, payment_id))


@app.api()
def show_group_payments(
    call: SplitwiseCall, group_id: GroupId, page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List the payments of a group, latest first."""
    own_group(call, group_id)
    found = call.state.payments.having("group_id", group_id)[::-1]
    return paginate(found, page_index, page_limit, partial(shown, call))


@app.api()
def show_no_group_payments(call: SplitwiseCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the payments outside of groups with you in them, latest first."""
    outside = call.state.payments.having("group_id", None)
    found = [each for each in outside if call.user in (each.payer, each.receiver)][::-1]
    return paginate(found, page_index, page_limit, partial(shown, call))


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

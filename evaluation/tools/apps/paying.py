"""Payment cards of an app, and a subscription that is paid with one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.attachments import Attachment, saves_file
from evaluation.tools.apps.framework import OWNED, App, Call, InvalidError, Records, Table, add_records, without_owner

Text = Annotated[str, Field(min_length=1, max_length=200)]
PaymentCardId = Annotated[int, Field(description="From show_payment_cards")]
CARD = {
    "card_name": (Annotated[Text, Field(description="What to call it")], ...),
    "owner_name": (Annotated[Text, Field(description="Name on it")], ...),
    "card_number": (Annotated[str, Field(pattern=r"^[0-9]{12,19}$", description="12 to 19 digits")], ...),
    "expiry_year": (Annotated[int, Field(ge=2000, le=2100, description="Four digits")], ...),
    "expiry_month": (Annotated[int, Field(ge=1, le=12, description="1 to 12")], ...),
    "cvv_number": (Annotated[str, Field(pattern=r"^[0-9]{3,4}$", description="3 or 4 digits")], ...),
}


@dataclass(frozen=True)
class PaymentCard:
    payment_card_id: int
    owner: str
    card_name: str
    owner_name: str = ""
    card_number: str = ""
    expiry_year: int = 2030
    expiry_month: int = 12
    cvv_number: str = ""
    balance: float | None = None
    """None: as much as needed."""


CARDS = Table(PaymentCard, "payment card", "card_name owner card_number balance", OWNED)
"""For the states of such apps, as ``payment_cards``."""


def overdrawn(cards: Table[PaymentCard]) -> Iterator[str]:
    for card in cards:
        if card.balance is not None and card.balance < 0:
            yield f"payment_cards {card.payment_card_id}: its balance is below nothing."


def charge(call: Call[Any], card: PaymentCard, amount: float) -> None:
    """Raises InvalidError."""
    valid(call, card)
    if card.balance is not None:
        if card.balance < amount:
            raise InvalidError(f"The payment card does not cover {amount:.2f}.")
        call.state.tables["payment_cards"].put(replace(card, balance=round(card.balance - amount, 2)))


def valid(call: Call[Any], card: PaymentCard) -> PaymentCard:
    """Raises InvalidError."""
    if (card.expiry_year, card.expiry_month) < (call.now.year, call.now.month):
        raise InvalidError("The payment card has expired.")
    return card


def add_card_apis(app: App[Any]) -> None:
    @app.api()
    def show_payment_cards(call: Call[Any]) -> list[dict[str, Any]]:
        """List your payment cards."""
        return [_shown(call, card) for card in call.state.tables["payment_cards"].having("owner", call.user)]

    add_records(
        app,
        Records(
            "payment_cards",
            "payment_card",
            CARD,
            ready=valid,
            shown=_shown,
            apis=("show", "create", "update", "delete"),
            names={"create": "add_payment_card"},
            done="saved",
        ),
    )


def _shown(call: Call[Any], card: PaymentCard) -> dict[str, Any]:
    """As shops show it: neither the whole number nor the code."""
    shown = without_owner(card)
    del shown["cvv_number"], shown["balance"]
    return {**shown, "card_number": f"**** {card.card_number[-4:]}"}


def add_subscription_apis(app: App[Any], name: str, plans: Mapping[str, tuple[float, int]]) -> None:
    """``plans``: price and days of each. The state has a table ``<name>_subscriptions``."""
    table_name, title = f"{name}_subscriptions", name.capitalize()
    key = f"{name}_subscription_id"
    plan_type: Any = Annotated[Literal[tuple(plans)], Field(description=f"From show_{name}_plans")]

    @app.api(f"show_{name}_plans", f"List the plans of {title}.")
    def show_plans(call: Call[Any]) -> list[dict[str, Any]]:
        return [{"plan": plan, "price": price, "days": days} for plan, (price, days) in plans.items()]

    @app.api(f"show_{table_name}", f"List your subscriptions to {title}, latest first.", page=5)
    def show_subscriptions(call: Call[Any]) -> Iterable[Any]:
        own = call.state.tables[table_name].having("owner", call.user)[::-1]
        return map(without_owner, own)

    paid_by: dict[str, Any] = {"payment_card_id": (PaymentCardId, ...), f"{name}_plan": (plan_type, next(iter(plans)))}

    @app.api(f"subscribe_{name}", f"Subscribe to {title}.", paid_by)
    def subscribe(call: Call[Any], *, payment_card_id: int, **given: str) -> dict[str, Any]:
        table = call.state.tables[table_name]
        if any(each.ends_at > call.stamp for each in table.having("owner", call.user)):
            raise InvalidError("You have a subscription already.")
        plan = given[f"{name}_plan"]
        price, days = plans[plan]
        charge(call, call.own(call.state.tables["payment_cards"], payment_card_id), price)
        number, ends = table.next_id(), call.stamp_in(days=days)
        table.put(table.record_type(number, call.user, plan, price, call.stamp, ends))
        return {"message": f"You are subscribed to {title}.", key: number, "ends_at": ends}

    which: dict[str, Any] = {key: (Annotated[int, Field(description=f"From show_{table_name}")], ...)}

    @saves_file(app, f"download_{name}_subscription_receipt", f"Save the receipt of a subscription to {title}.", which)
    def receipt(call: Call[Any], **given: int) -> Attachment:
        paid = call.own(call.state.tables[table_name], given[key])
        text = f"{title}, {paid.plan}, from {paid.started_at} to {paid.ends_at}\nTotal: {paid.price:.2f}"
        return Attachment(0, f"{app.name}_{name}_{given[key]}.txt", text)

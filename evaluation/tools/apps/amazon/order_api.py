"""Addresses, payment cards and orders."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.amazon.cart_api import (
    GIFT_WRAP_FEE,
    discount,
    own_cart,
    promo_in_cart,
    remove_promo_code_from_cart,
)
from evaluation.tools.apps.amazon.common import AddressId, AmazonCall, OrderId, ProductId, Query, app
from evaluation.tools.apps.amazon.state import Address, Order, OrderItem, cost_of
from evaluation.tools.apps.framework import (
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    Records,
    add_records,
    as_dict,
    matches,
    paginate,
    without_owner,
)
from evaluation.tools.apps.paying import PaymentCardId, add_card_apis, charge, valid

Text = Annotated[str, Field(min_length=1, max_length=200)]


@app.api()
def show_addresses(call: AmazonCall, query: Query = "") -> list[dict[str, Any]]:
    """List or search your saved addresses."""
    own = [each for each in call.state.addresses if each.owner == call.user]
    return [without_owner(each) for each in own if matches(query, each.name, one_line(each))]


ADDRESS = {
    "name": (Annotated[Text, Field(description="E.g. Home, Work")], ...),
    "street_address": (Annotated[Text, Field(description="Street and number")], ...),
    "city": (Annotated[Text, Field(description="City")], ...),
    "state": (Annotated[Text, Field(description="State or region")], ...),
    "country": (Annotated[Text, Field(description="Country")], ...),
    "zip_code": (Annotated[Text, Field(description="Postal code")], ...),
}


@app.api()
def place_order(call: AmazonCall, payment_card_id: PaymentCardId, address_id: AddressId) -> dict[str, Any]:
    """Buy everything in your cart."""
    card = call.own(call.state.cards, payment_card_id)
    address = call.own(call.state.addresses, address_id)
    cart = own_cart(call)
    if not cart:
        raise InvalidError("Your cart is empty.")
    valid(call, card)
    promo = promo_in_cart(call)
    off = discount(call, promo) if promo else 0.0
    products = {item.product_id: call.state.products.get(item.product_id) for item in cart}
    for item in cart:
        product = products[item.product_id]
        if product.stock < item.quantity:
            left = f"has only {product.stock} left" if product.stock else "is out of stock"
            raise InvalidError(f"{product.name} {left}. Change your cart.")
        call.state.products.put(replace(product, stock=product.stock - item.quantity))
        call.state.cart.remove(item.cart_item_id)
    items = tuple(OrderItem(item.product_id, item.quantity, products[item.product_id].price) for item in cart)
    wrapping = GIFT_WRAP_FEE * sum(item.gift_wrap_quantity for item in cart)
    total = round(cost_of(items) + wrapping - off, 2)
    charge(call, card, total)
    order = Order(
        call.state.orders.next_id(),
        call.user,
        items,
        one_line(address),
        card.card_name,
        total,
        call.stamp,
        call.stamp_in(days=max(product.delivery_days for product in products.values())),
        wrapping,
        off,
    )
    call.state.orders.put(order)
    if promo:
        remove_promo_code_from_cart(call)
    return {"message": "The order was placed.", "order_id": order.order_id, "total_cost": total}


@app.api()
def show_orders(call: AmazonCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List or search your orders, latest first."""
    found = [order for order in _own_orders(call) if matches(query, *_names(call, order))]
    return paginate(found, page_index, page_limit, lambda order: order_shown(call, order))


@app.api()
def show_order(call: AmazonCall, order_id: OrderId) -> dict[str, Any]:
    """Show an order."""
    return order_shown(call, call.own(call.state.orders, order_id))


@app.api()
def show_product_purchases(
    call: AmazonCall, product_id: ProductId, page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List your past purchases of a product, latest first."""
    return paginate(_purchases(call, product_id), page_index, page_limit)


@app.api()
def show_last_product_purchase(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Show your latest purchase of a product."""
    purchases = _purchases(call, product_id)
    if not purchases:
        raise NotFoundError(f"You have never bought product {product_id}.")
    return purchases[0]


def one_line(address: Address) -> str:
    parts = (address.street_address, address.city, address.state, address.zip_code, address.country)
    return ", ".join(part for part in parts if part)


def _own_orders(call: AmazonCall) -> list[Order]:
    own = [order for order in call.state.orders if order.owner == call.user]
    return sorted(own, key=lambda order: (order.placed_at, order.order_id), reverse=True)


def _purchases(call: AmazonCall, product_id: int) -> list[dict[str, Any]]:
    call.state.products.get(product_id)
    return [
        {"order_id": order.order_id, "placed_at": order.placed_at, "quantity": item.quantity, "price": item.price}
        for order in _own_orders(call)
        for item in order.items
        if item.product_id == product_id
    ]


def _names(call: AmazonCall, order: Order) -> list[str]:
    return [call.state.products.get(item.product_id).name for item in order.items]


def order_shown(call: AmazonCall, order: Order) -> dict[str, Any]:
    shown = without_owner(order)
    for part in ("gift_wrap_fee", "discount"):
        if not shown[part]:
            del shown[part]
    shown["items"] = [{**as_dict(item), "name": call.state.products.get(item.product_id).name} for item in order.items]
    return shown


add_card_apis(app)
add_records(
    app,
    Records(
        "addresses",
        "address",
        ADDRESS,
        apis=("show", "create", "update", "delete"),
        names={"create": "add_address", "list": "show_addresses"},
        done="saved",
    ),
)

"""The cart, the wish list and the browsing history."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.amazon.common import AmazonCall, ProductId, Quantity, app, product_summary
from evaluation.tools.apps.amazon.state import CartItem, PromoCode, Viewed, WishListItem
from evaluation.tools.apps.framework import (
    ConflictError,
    InvalidError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    paginate,
)

GIFT_WRAP_FEE = 5.0
"""For each product that is wrapped."""


@app.api()
def show_cart(call: AmazonCall) -> dict[str, Any]:
    """Show your cart."""
    items = [_shown(call, item) for item in own_cart(call)]
    total = sum(item["total_price"] for item in items)
    promo = promo_in_cart(call)
    if promo is None:
        return {"cart_items": items, "total_cost": round(total, 2)}
    off = discount(call, promo)
    return {
        "cart_items": items,
        "promo_code": promo.promo_code,
        "discount": off,
        "total_cost": round(total - off, 2),
    }


@app.api()
def apply_promo_code_to_cart(
    call: AmazonCall, promo_code: Annotated[str, Field(min_length=1, max_length=50, description="As you got it")]
) -> dict[str, Any]:
    """Give your cart a promo code, instead of the one it has."""
    promo = call.state.promo_codes.find(promo_code)
    if promo is None or (promo.valid_until and promo.valid_until < call.stamp[:10]):
        raise InvalidError("This promo code is not valid" + (f" after {promo.valid_until}." if promo else "."))
    _take_promo_off(call)
    call.state.promo_codes.put(replace(promo, carts=(*(each for each in promo.carts if each != call.user), call.user)))
    return {"message": f"Your cart has the promo code: {promo.percent:g} % off its products."}


@app.api()
def remove_promo_code_from_cart(call: AmazonCall) -> dict[str, Any]:
    """Take the promo code off your cart."""
    if not _take_promo_off(call):
        raise NotFoundError("Your cart has no promo code.")
    return {"message": "The promo code was removed."}


def promo_in_cart(call: AmazonCall) -> PromoCode | None:
    return next((each for each in call.state.promo_codes if call.user in each.carts), None)


def discount(call: AmazonCall, promo: PromoCode) -> float:
    """What it takes off the products in the cart."""
    cost = sum(call.state.products.get(item.product_id).price * item.quantity for item in own_cart(call))
    return round(cost * promo.percent / 100, 2)


def _take_promo_off(call: AmazonCall) -> bool:
    """Whether there was one."""
    promo = promo_in_cart(call)
    if promo is not None:
        carts = tuple(each for each in promo.carts if each != call.user)
        call.state.promo_codes.put(replace(promo, carts=carts))
    return promo is not None


@app.api()
def add_product_to_cart(call: AmazonCall, product_id: ProductId, quantity: Quantity = 1) -> dict[str, Any]:
    """Put a product into your cart, or more of it."""
    item = _in_cart(call, product_id)
    wanted = quantity + (item.quantity if item else 0)
    _require_stock(call, product_id, wanted)
    number = item.cart_item_id if item else call.state.cart.next_id()
    call.state.cart.put(CartItem(number, call.user, product_id, wanted, item.gift_wrap_quantity if item else 0))
    return {"message": "The product is in your cart.", "quantity": wanted}


@app.api()
def update_product_quantity_in_cart(
    call: AmazonCall, product_id: ProductId, quantity: Annotated[int, Field(ge=0, le=100, description="0 removes it")]
) -> dict[str, Any]:
    """Change how many of a product are in your cart."""
    item = _require_in_cart(call, product_id)
    if quantity == 0:
        call.state.cart.remove(item.cart_item_id)
    else:
        _require_stock(call, product_id, quantity)
        wrapped = min(item.gift_wrap_quantity, quantity)
        call.state.cart.put(replace(item, quantity=quantity, gift_wrap_quantity=wrapped))
    return {"message": "The cart was updated."}


@app.api()
def delete_product_from_cart(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Remove a product from your cart."""
    call.state.cart.remove(_require_in_cart(call, product_id).cart_item_id)
    return {"message": "The product was removed from your cart."}


@app.api()
def add_gift_wrapping_to_product(
    call: AmazonCall,
    product_id: ProductId,
    quantity: Annotated[int | None, Field(ge=1, le=100, description="How many of them; all if left out")] = None,
) -> dict[str, Any]:
    """Have a product in your cart wrapped as a gift, or another number of it."""
    item = _require_in_cart(call, product_id)
    wrapped = item.quantity if quantity is None else quantity
    if wrapped > item.quantity:
        raise InvalidError(f"There are only {item.quantity} in your cart.")
    call.state.cart.put(replace(item, gift_wrap_quantity=wrapped))
    return {"message": f"{wrapped} will be wrapped, for {GIFT_WRAP_FEE:.2f} each."}


@app.api()
def remove_gift_wrapping_from_product(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Have a product in your cart not wrapped."""
    item = _require_in_cart(call, product_id)
    if not item.gift_wrap_quantity:
        raise InvalidError("The product is not to be wrapped.")
    call.state.cart.put(replace(item, gift_wrap_quantity=0))
    return {"message": "The product will not be wrapped."}


@app.api()
def clear_cart(call: AmazonCall) -> dict[str, Any]:
    """Empty your cart."""
    for item in own_cart(call):
        call.state.cart.remove(item.cart_item_id)
    return {"message": "Your cart is empty."}


@app.api()
def show_wish_list(call: AmazonCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """Show your wish list."""
    return paginate([_shown(call, item) for item in _own_wishes(call)], page_index, page_limit)


@app.api()
def add_product_to_wish_list(call: AmazonCall, product_id: ProductId, quantity: Quantity = 1) -> dict[str, Any]:
    """Put a product on your wish list."""
    call.state.products.get(product_id)
    if any(item.product_id == product_id for item in _own_wishes(call)):
        raise ConflictError("The product is on your wish list already.")
    number = call.state.wish_list.next_id()
    call.state.wish_list.put(WishListItem(number, call.user, product_id, quantity, call.stamp))
    return {"message": "The product is on your wish list."}


@app.api()
def update_product_quantity_in_wish_list(
    call: AmazonCall, product_id: ProductId, quantity: Annotated[int, Field(ge=0, le=100, description="0 removes it")]
) -> dict[str, Any]:
    """Change how many of a product are on your wish list."""
    wish = _wish(call, product_id)
    if quantity == 0:
        call.state.wish_list.remove(wish.wish_list_item_id)
    else:
        call.state.wish_list.put(replace(wish, quantity=quantity))
    return {"message": "The wish list was updated."}


@app.api()
def clear_wish_list(call: AmazonCall) -> dict[str, Any]:
    """Empty your wish list."""
    for wish in _own_wishes(call):
        call.state.wish_list.remove(wish.wish_list_item_id)
    return {"message": "Your wish list is empty."}


@app.api()
def delete_product_from_wish_list(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Remove a product from your wish list."""
    call.state.wish_list.remove(_wish(call, product_id).wish_list_item_id)
    return {"message": "The product was removed from your wish list."}


@app.api()
def move_product_from_cart_to_wish_list(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Move a product from your cart to your wish list."""
    item = _require_in_cart(call, product_id)
    add_product_to_wish_list(call, product_id, item.quantity)
    call.state.cart.remove(item.cart_item_id)
    return {"message": "The product was moved to your wish list."}


@app.api()
def move_product_from_wish_list_to_cart(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Move a product from your wish list to your cart."""
    wish = _wish(call, product_id)
    add_product_to_cart(call, product_id, wish.quantity)
    call.state.wish_list.remove(wish.wish_list_item_id)
    return {"message": "The product was moved to your cart."}


@app.api()
def add_product_to_browsing_history(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Put a product into your browsing history."""
    call.state.products.get(product_id)
    call.state.history.put(Viewed(call.state.history.next_id(), call.user, product_id, call.stamp))
    return {"message": "The product is in your browsing history."}


@app.api()
def show_browsing_history(call: AmazonCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List the products you have looked at, latest first."""
    own = [each for each in call.state.history if each.owner == call.user]
    shown = [
        {**product_summary(call.state.products.get(each.product_id)), "viewed_at": each.viewed_at}
        for each in reversed(own)
    ]
    return paginate(shown, page_index, page_limit)


def own_cart(call: AmazonCall) -> list[CartItem]:
    return [item for item in call.state.cart if item.owner == call.user]


def _in_cart(call: AmazonCall, product_id: int) -> CartItem | None:
    return next((item for item in own_cart(call) if item.product_id == product_id), None)


def _require_in_cart(call: AmazonCall, product_id: int) -> CartItem:
    item = _in_cart(call, product_id)
    if item is None:
        raise NotFoundError(f"Product {product_id} is not in your cart.")
    return item


def _own_wishes(call: AmazonCall) -> list[WishListItem]:
    return [item for item in call.state.wish_list if item.owner == call.user]


def _wish(call: AmazonCall, product_id: int) -> WishListItem:
    wish = next((item for item in _own_wishes(call) if item.product_id == product_id), None)
    if wish is None:
        raise NotFoundError(f"Product {product_id} is not on your wish list.")
    return wish


def _require_stock(call: AmazonCall, product_id: int, quantity: int) -> None:
    product = call.state.products.get(product_id)
    if product.stock < quantity:
        left = f"only {product.stock} left" if product.stock else "out of stock"
        raise InvalidError(f"{product.name} is {left}." if not product.stock else f"{product.name}: {left}.")


def _shown(call: AmazonCall, item: CartItem | WishListItem) -> dict[str, Any]:
    product = call.state.products.get(item.product_id)
    shown = {
        **product_summary(product),
        "quantity": item.quantity,
        "total_price": round(product.price * item.quantity, 2),
    }
    wrapped = item.gift_wrap_quantity if isinstance(item, CartItem) else 0
    return {**shown, "gift_wrap_quantity": wrapped} if wrapped else shown

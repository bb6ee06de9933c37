"""A shop: products with reviews and questions, a cart, a wish list, orders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.attachments import Attachment, saves_file
from evaluation.tools.apps.framework import (
    OWNED,
    App,
    AppState,
    Call,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    Records,
    Table,
    add_account_apis,
    add_records,
    as_dict,
    matches,
    rank,
    without_owner,
)
from evaluation.tools.apps.paying import (
    CARDS,
    PaymentCardId,
    add_card_apis,
    add_subscription_apis,
    charge,
    overdrawn,
    valid,
)


@dataclass(frozen=True)
class Seller:
    seller_id: int
    name: str
    rating: float = 0.0
    email: str = ""


@dataclass(frozen=True)
class Product:
    product_id: int
    name: str
    product_type: str = ""
    price: float = 0.0
    rating: float = 0.0
    brand: str = ""
    description: str = ""
    seller_id: int | None = None
    stock: int = 10
    delivery_days: int = 3
    features: dict[str, str] = field(default_factory=dict)
    """E.g. color, size, material."""


@dataclass(frozen=True)
class Review:
    review_id: int
    product_id: int
    author: str
    rating: int
    title: str = ""
    text: str = ""
    is_verified: bool = False
    created_at: str = ""


@dataclass(frozen=True)
class Question:
    question_id: int
    product_id: int
    author: str
    question: str
    created_at: str = ""


@dataclass(frozen=True)
class Answer:
    answer_id: int
    question_id: int
    author: str
    answer: str
    created_at: str = ""


@dataclass(frozen=True)
class CartItem:
    cart_item_id: int
    owner: str
    product_id: int
    quantity: int = 1
    gift_wrap_quantity: int = 0


@dataclass(frozen=True)
class PromoCode:
    promo_code: str
    percent: float
    """Off the price of the products."""
    valid_until: str = ""
    """A date; empty: for ever."""
    carts: tuple[str, ...] = ()
    """Whose carts have it."""


@dataclass(frozen=True)
class WishListItem:
    wish_list_item_id: int
    owner: str
    product_id: int
    quantity: int = 1
    added_at: str = ""


@dataclass(frozen=True)
class Viewed:
    viewed_id: int
    owner: str
    product_id: int
    viewed_at: str = ""


@dataclass(frozen=True)
class Address:
    address_id: int
    owner: str
    name: str
    """E.g. Home."""
    street_address: str
    city: str = ""
    state: str = ""
    country: str = ""
    zip_code: str = ""


@dataclass(frozen=True)
class OrderItem:
    product_id: int
    quantity: int
    price: float
    """Of one piece, when it was bought."""


@dataclass(frozen=True)
class Order:
    order_id: int
    owner: str
    items: tuple[OrderItem, ...]
    shipping_address: str = ""
    payment_card: str = ""
    total_cost: float = 0.0
    placed_at: str = ""
    arrives_at: str = ""
    gift_wrap_fee: float = 0.0
    """Part of the total cost."""
    discount: float = 0.0
    """Likewise taken off."""


@dataclass(frozen=True)
class Return:
    return_id: int
    owner: str
    order_id: int
    product_id: int
    quantity: int
    deliverer: str
    """Who collects it."""
    refund: float
    initiated_at: str = ""


@dataclass(frozen=True)
class PrimeSubscription:
    prime_subscription_id: int
    owner: str
    plan: str
    price: float
    started_at: str
    ends_at: str


OF_PRODUCT = {"product_id": "products"}


class AmazonState(AppState):
    app = "amazon"
    products = Table(Product, "product", "name product_type price rating stock description", {"seller_id": "sellers"})
    sellers = Table(Seller, "seller", "name rating")
    reviews = Table(Review, "review", "title product_id rating text author", OF_PRODUCT)
    questions = Table(Question, "question", "question product_id author", OF_PRODUCT)
    answers = Table(Answer, "answer", "answer question_id author", {"question_id": "questions"})
    cart = Table(CartItem, "cart item", "cart_item_id owner product_id quantity", OWNED | OF_PRODUCT)
    promo_codes = Table(PromoCode, "promo code", "promo_code percent valid_until", {"carts": "accounts"})
    wish_list = Table(WishListItem, "wish list item", "wish_list_item_id owner product_id quantity", OWNED | OF_PRODUCT)
    browsing_history = Table(Viewed, "viewed product", "viewed_id owner product_id", OWNED | OF_PRODUCT)
    addresses = Table(Address, "address", "name street_address city owner", OWNED)
    payment_cards = CARDS
    orders = Table(Order, "order", "order_id owner items shipping_address total_cost placed_at", OWNED)
    returns = Table(
        Return, "return", "return_id order_id product_id quantity refund", OWNED | OF_PRODUCT | {"order_id": "orders"}
    )
    prime_subscriptions = Table(PrimeSubscription, "prime subscription", "plan owner price ends_at", OWNED)

    def complete(self) -> None:
        """Orders cost what their items cost; products without a rating get the mean of their reviews."""
        for order in list(self.orders):
            if not order.total_cost:
                self.orders.put(replace(order, total_cost=cost_of(order.items)))
        ratings: dict[int, list[int]] = {}
        for review in self.reviews:
            ratings.setdefault(review.product_id, []).append(review.rating)
        for product in list(self.products):
            stars = ratings.get(product.product_id, [])
            if not product.rating and stars:
                self.products.put(replace(product, rating=round(sum(stars) / len(stars), 1)))

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for product in self.products:
            if product.stock < 0:
                yield f"products {product.product_id}: its stock is below nothing."
        yield from overdrawn(self.payment_cards)
        for table in (self.cart, self.wish_list):
            seen: set[tuple[str, int]] = set()
            for item in table:
                if (item.owner, item.product_id) in seen:
                    yield f"{table.name}: {item.owner} has product {item.product_id} twice."
                if item.quantity < 1:
                    yield f"{table.name}: {item.owner} has none of product {item.product_id}."
                seen.add((item.owner, item.product_id))
        for order in self.orders:
            for bought in order.items:
                if bought.product_id not in self.products:
                    yield f"orders {order.order_id}: there is no product {bought.product_id}."
            cost = cost_of(order.items) + order.gift_wrap_fee - order.discount
            if order.total_cost and abs(order.total_cost - cost) > 0.005:
                yield f"orders {order.order_id}: its items cost {cost_of(order.items)}, not {order.total_cost}."


def cost_of(items: tuple[OrderItem, ...]) -> float:
    return round(sum(item.price * item.quantity for item in items), 2)


app = App(
    "amazon",
    AmazonState,
    "Amazon",
    "Find products, read reviews and questions, fill the cart and wish list, order, look at orders.",
)
add_account_apis(app)

AmazonCall = Call[AmazonState]
ProductId = Annotated[int, Field(description="From search_products")]
AddressId = Annotated[int, Field(description="From show_addresses")]
OrderId = Annotated[int, Field(description="From show_orders")]
SellerId = Annotated[int, Field(description="From search_sellers")]
QuestionId = Annotated[int, Field(description="From show_product_questions")]
ProductType = Annotated[str, Field(description="One of search_product_types")]
Query = Annotated[str, Field(max_length=200, description="Words to look for; empty for all")]
Quantity = Annotated[int, Field(ge=1, le=100, description="How many")]


def product_shown(call: AmazonCall, product: Product) -> dict[str, Any]:
    shown = as_dict(product)
    seller = call.state.sellers.find(product.seller_id) if product.seller_id is not None else None
    shown["seller_name"] = seller.name if seller else ""
    shown["in_stock"] = product.stock > 0
    return shown


def product_summary(product: Product) -> dict[str, Any]:
    return {
        "product_id": product.product_id,
        "name": product.name,
        "product_type": product.product_type,
        "price": product.price,
        "rating": product.rating,
        "in_stock": product.stock > 0,
    }


# The cart, the wish list and the browsing history.

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


@app.api(page=5)
def show_wish_list(call: AmazonCall) -> Iterable[Any]:
    """Show your wish list."""
    return [_shown(call, item) for item in _own_wishes(call)]


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
    call.state.browsing_history.put(Viewed(call.state.browsing_history.next_id(), call.user, product_id, call.stamp))
    return {"message": "The product is in your browsing history."}


@app.api(page=5)
def show_browsing_history(call: AmazonCall) -> Iterable[Any]:
    """List the products you have looked at, latest first."""
    own = [each for each in call.state.browsing_history if each.owner == call.user]
    return [
        {**product_summary(call.state.products.get(each.product_id)), "viewed_at": each.viewed_at}
        for each in reversed(own)
    ]


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


# Addresses, payment cards and orders.

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
    card = call.own(call.state.payment_cards, payment_card_id)
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


@app.api(page=5)
def show_orders(call: AmazonCall, query: Query = "") -> Iterable[Any]:
    """List or search your orders, latest first."""
    found = [order for order in _own_orders(call) if matches(query, *_names(call, order))]
    return (order_shown(call, order) for order in found)


@app.api()
def show_order(call: AmazonCall, order_id: OrderId) -> dict[str, Any]:
    """Show an order."""
    return order_shown(call, call.own(call.state.orders, order_id))


@app.api(page=5)
def show_product_purchases(call: AmazonCall, product_id: ProductId) -> Iterable[Any]:
    """List your past purchases of a product, latest first."""
    return _purchases(call, product_id)


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


# Returning what was ordered, Prime, receipts.

DELIVERERS = ("FedEx", "UPS", "USPS")
Deliverer = Annotated[Literal["FedEx", "UPS", "USPS"], Field(description="Who collects it")]


@app.api()
def show_return_deliverers(call: AmazonCall) -> list[str]:
    """List who can collect what you return."""
    return list(DELIVERERS)


@app.api()
def initiate_return(
    call: AmazonCall,
    order_id: OrderId,
    product_id: ProductId,
    deliverer: Deliverer,
    quantity: Annotated[int | None, Field(ge=1, le=100, description="How many; all if left out")] = None,
) -> dict[str, Any]:
    """Return a product that you ordered. Its price is refunded."""
    order = call.own(call.state.orders, order_id)
    bought = [item for item in order.items if item.product_id == product_id]
    returns = call.state.returns.having("order_id", order_id)
    left = sum(item.quantity for item in bought)
    left -= sum(each.quantity for each in returns if each.product_id == product_id)
    if not left or (quantity or left) > left:
        raise InvalidError(f"There are {left} of product {product_id} to return in order {order_id}.")
    number = call.state.returns.next_id()
    paid = 1 - order.discount / cost_of(order.items) if order.discount else 1
    refund = round(bought[0].price * (quantity or left) * paid, 2)
    call.state.returns.put(
        Return(number, call.user, order_id, product_id, quantity or left, deliverer, refund, call.stamp)
    )
    return {"message": "The return was initiated.", "return_id": number, "refund": refund}


@app.api(page=5)
def show_returns(call: AmazonCall) -> Iterable[Any]:
    """List your returns, latest first."""
    return map(without_owner, call.state.returns.having("owner", call.user)[::-1])


@app.api()
def show_return(call: AmazonCall, return_id: Annotated[int, Field(description="From show_returns")]) -> dict[str, Any]:
    """Show a return."""
    return without_owner(call.own(call.state.returns, return_id))


@saves_file(app, "download_order_receipt", "Save the receipt of an order.")
def _receipt(call: AmazonCall, order_id: OrderId) -> Attachment:
    order = call.own(call.state.orders, order_id)
    lines = [
        f"{item.quantity} x {call.state.products.get(item.product_id).name}: {item.price * item.quantity:.2f}"
        for item in order.items
    ]
    text = "\n".join((f"Order {order_id} of {order.placed_at}", *lines, f"Total: {order.total_cost:.2f}"))
    return Attachment(0, f"amazon_order_{order_id}.txt", text)


add_subscription_apis(app, "prime", {"monthly": (14.99, 30), "yearly": (139.0, 365)})


# Products, their reviews and questions.

Rating = Annotated[float, Field(ge=0, le=5, description="Lowest rating, 0 to 5")]
Stars = Annotated[int, Field(ge=1, le=5, description="Stars, 1 to 5")]
Headline = Annotated[str, Field(max_length=200, description="Headline")]
Opinion = Annotated[str, Field(max_length=10_000, description="What you think of it")]
SORTS: dict[str, tuple[str, bool]] = {
    "price_low_to_high": ("price", False),
    "price_high_to_low": ("price", True),
    "rating": ("rating", True),
}


@app.api()
def search_product_types(call: AmazonCall, query: Query = "") -> list[str]:
    """Search the types of products there are."""
    types = sorted({product.product_type for product in call.state.products if product.product_type})
    return rank(query, types, lambda name: (name,))


@app.api()
def show_product_feature_choices(call: AmazonCall, product_type: ProductType) -> dict[str, list[str]]:
    """Show what can be chosen among products of a type, such as colors and sizes."""
    products = [product for product in call.state.products if product.product_type == product_type]
    if not products:
        raise NotFoundError(f"There is no product type {product_type!r}.")
    choices: dict[str, set[str]] = {}
    for product in products:
        for feature, value in product.features.items():
            choices.setdefault(feature, set()).add(value)
    return {feature: sorted(values) for feature, values in sorted(choices.items())}


@app.api(page=5)
def search_products(
    call: AmazonCall,
    query: Query = "",
    product_type: ProductType | None = None,
    min_price: Annotated[float, Field(ge=0, description="Lowest price")] = 0,
    max_price: Annotated[float | None, Field(ge=0, description="Highest price")] = None,
    min_rating: Rating = 0,
    seller_id: SellerId | None = None,
    only_in_stock: Annotated[bool, Field(description="Leave out what is sold out")] = False,
    sort_by: Annotated[
        Literal["relevance", "price_low_to_high", "price_high_to_low", "rating"],
        Field(description="Order of the results"),
    ] = "relevance",
) -> Iterable[Any]:
    """Search products by name, type, brand, price and rating."""
    texts = lambda each: (each.name, each.product_type, each.brand, each.description)  # noqa: E731
    found = [
        product
        for product in rank(query, call.state.products, texts)
        if product_type in (None, product.product_type)
        and product.price >= min_price
        and (max_price is None or product.price <= max_price)
        and product.rating >= min_rating
        and seller_id in (None, product.seller_id)
        and (product.stock > 0 or not only_in_stock)
    ]
    if sort_by in SORTS:
        field, descending = SORTS[sort_by]
        found.sort(key=lambda product: getattr(product, field), reverse=descending)
    return map(product_summary, found)


@app.api()
def show_product(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Show a product."""
    return product_shown(call, call.state.products.get(product_id))


@app.api(alias="show_recommendations", page=5)
def show_recommended_products(call: AmazonCall) -> Iterable[Any]:
    """List products for you: the best rated of the types you have looked at or bought, then all others."""
    seen = {each.product_id for each in call.state.browsing_history if each.owner == call.user}
    bought = {item.product_id for order in call.state.orders if order.owner == call.user for item in order.items}
    known = [call.state.products.get(number) for number in seen | bought]
    types = {product.product_type for product in known}
    found = [product for product in call.state.products if product.product_id not in bought and product.stock > 0]
    found.sort(key=lambda each: (each.product_type not in types, -each.rating, each.product_id))
    return map(product_summary, found)


@app.api(page=5)
def search_sellers(call: AmazonCall, query: Query = "") -> Iterable[Any]:
    """Search sellers by name."""
    return rank(query, call.state.sellers, lambda seller: (seller.name,))


@app.api()
def show_seller(call: AmazonCall, seller_id: SellerId) -> dict[str, Any]:
    """Show a seller."""
    return as_dict(call.state.sellers.get(seller_id))


@app.api(page=5)
def show_product_reviews(
    call: AmazonCall,
    product_id: ProductId,
    query: Query = "",
    rating: Annotated[int | None, Field(ge=1, le=5, description="Only reviews with so many stars")] = None,
) -> Iterable[Any]:
    """List or search the reviews of a product."""
    call.state.products.get(product_id)
    of_it = [each for each in call.state.reviews.having("product_id", product_id) if rating in (None, each.rating)]
    return rank(query, of_it, lambda review: (review.title, review.text))


@app.api()
def write_product_review(
    call: AmazonCall,
    product_id: ProductId,
    rating: Stars,
    title: Headline = "",
    text: Opinion = "",
) -> dict[str, Any]:
    """Write a review of a product; one for each product."""
    call.state.products.get(product_id)
    if any(each.product_id == product_id and each.author == call.user for each in call.state.reviews):
        raise ConflictError("You have reviewed this product already.")
    bought = any(
        item.product_id == product_id for order in call.state.orders if order.owner == call.user for item in order.items
    )
    number = call.state.reviews.next_id()
    call.state.reviews.put(Review(number, product_id, call.user, rating, title, text, bought, call.stamp))
    return {"message": "The review was written.", "review_id": number}


@app.api(page=5)
def show_product_questions(call: AmazonCall, product_id: ProductId, query: Query = "") -> Iterable[Any]:
    """List or search the questions about a product."""
    call.state.products.get(product_id)
    of_it = call.state.questions.having("product_id", product_id)
    return rank(query, of_it, lambda question: (question.question,))


@app.api(alias="post_product_question")
def write_product_question(
    call: AmazonCall,
    product_id: ProductId,
    question: Annotated[str, Field(min_length=1, max_length=2_000, description="What you ask")],
) -> dict[str, Any]:
    """Ask a question about a product."""
    call.state.products.get(product_id)
    number = call.state.questions.next_id()
    call.state.questions.put(Question(number, product_id, call.user, question, call.stamp))
    return {"message": "The question was posted.", "question_id": number}


@app.api()
def delete_product_question(call: AmazonCall, question_id: QuestionId) -> dict[str, Any]:
    """Delete a question of yours with its answers."""
    if call.state.questions.get(question_id).author != call.user:
        raise ForbiddenError("This question is somebody else's.")
    for answer in call.state.answers.having("question_id", question_id):
        call.state.answers.remove(answer.answer_id)
    call.state.questions.remove(question_id)
    return {"message": "The question was deleted."}


REVIEW = {"rating": (Stars, ...), "title": (Headline, ""), "text": (Opinion, "")}
QUESTION = {"question": (Annotated[str, Field(min_length=1, max_length=2_000, description="What you ask")], ...)}
ANSWER = {"answer": (Annotated[str, Field(min_length=1, max_length=2_000, description="What you answer")], ...)}
for records in (
    Records("reviews", "product_review", REVIEW, about="product_id", apis=("update", "delete")),
    Records("questions", "product_question", QUESTION, about="product_id", apis=("update",)),
    Records(
        "answers",
        "product_question_answer",
        ANSWER,
        about="question_id",
        found="From show_product_questions",
        visible=lambda call, number: call.state.questions.get(number),
        apis=("list", "create", "update", "delete"),
        names={"create": "write_product_question_answer"},
        done="posted",
    ),
):
    add_records(app, records)

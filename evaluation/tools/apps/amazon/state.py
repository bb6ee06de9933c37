from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from evaluation.tools.apps.framework import AppState
from evaluation.tools.apps.paying import cards_table, overdrawn


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


class AmazonState(AppState):
    app = "amazon"

    def __init__(self) -> None:
        super().__init__()
        owned = {"owner": "accounts"}
        of_product = {"product_id": "products"}
        self.products = self.table(
            "products", Product, "product", {"seller_id": "sellers"}, "name product_type price rating stock description"
        )
        self.sellers = self.table("sellers", Seller, "seller", {}, "name rating")
        self.reviews = self.table("reviews", Review, "review", of_product, "title product_id rating text author")
        self.questions = self.table("questions", Question, "question", of_product, "question product_id author")
        self.answers = self.table(
            "answers", Answer, "answer", {"question_id": "questions"}, "answer question_id author"
        )
        self.cart = self.table(
            "cart", CartItem, "cart item", owned | of_product, "cart_item_id owner product_id quantity"
        )
        self.promo_codes = self.table(
            "promo_codes", PromoCode, "promo code", {"carts": "accounts"}, "promo_code percent valid_until"
        )
        self.wish_list = self.table(
            "wish_list",
            WishListItem,
            "wish list item",
            owned | of_product,
            "wish_list_item_id owner product_id quantity",
        )
        self.history = self.table(
            "browsing_history", Viewed, "viewed product", owned | of_product, "viewed_id owner product_id"
        )
        self.addresses = self.table("addresses", Address, "address", owned, "name street_address city owner")
        self.cards = cards_table(self)
        self.orders = self.table(
            "orders", Order, "order", owned, "order_id owner items shipping_address total_cost placed_at"
        )
        self.returns = self.table(
            "returns",
            Return,
            "return",
            owned | of_product | {"order_id": "orders"},
            "return_id order_id product_id quantity refund",
        )
        self.prime = self.table(
            "prime_subscriptions", PrimeSubscription, "prime subscription", owned, "plan owner price ends_at"
        )

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
        yield from overdrawn(self.cards)
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

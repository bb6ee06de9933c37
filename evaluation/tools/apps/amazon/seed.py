"""What a persona's shop may leave out, and data to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evaluation.tools.apps.amazon.state import AmazonState, cost_of

EXAMPLE: dict[str, Any] = {
    "accounts": [{"username": "ada@example.com", "password": "shop-of-ada", "first_name": "Ada", "last_name": "Berg"}],
    "sellers": [{"seller_id": 1, "name": "Lakeside Goods", "rating": 4.6}],
    "products": [
        {
            "product_id": 1,
            "name": "Enamel kettle",
            "product_type": "kettle",
            "price": 34.5,
            "rating": 4.4,
            "seller_id": 1,
            "features": {"color": "blue"},
        },
        {"product_id": 2, "name": "Tea towel", "product_type": "towel", "price": 6.25, "seller_id": 1, "stock": 2},
    ],
    "reviews": [{"product_id": 1, "author": "Noor", "rating": 5, "title": "Boils fast", "text": "And looks good."}],
    "cart": [{"owner": "ada@example.com", "product_id": 2, "quantity": 1}],
    "addresses": [
        {"owner": "ada@example.com", "name": "Home", "street_address": "4 Mill Lane", "city": "Ely", "zip_code": "101"}
    ],
    "payment_cards": [
        {"owner": "ada@example.com", "card_name": "Debit", "card_number": "4000123412341234", "balance": 500}
    ],
    "orders": [
        {
            "owner": "ada@example.com",
            "items": [{"product_id": 1, "quantity": 1, "price": 31.0}],
            "placed_at": "2026-02-20T12:00:00",
        }
    ],
}


def complete(state: AmazonState) -> None:
    """Orders cost what their items cost; products without a rating get the mean of their reviews."""
    for order in list(state.orders):
        if not order.total_cost:
            state.orders.put(replace(order, total_cost=cost_of(order.items)))
    ratings: dict[int, list[int]] = {}
    for review in state.reviews:
        ratings.setdefault(review.product_id, []).append(review.rating)
    for product in list(state.products):
        stars = ratings.get(product.product_id, [])
        if not product.rating and stars:
            state.products.put(replace(product, rating=round(sum(stars) / len(stars), 1)))

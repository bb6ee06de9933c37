from __future__ import annotations

from evaluation.tools.apps.framework import AppView, TableView

VIEW = AppView(
    "Amazon",
    "Find products, read reviews and questions, fill the cart and wish list, order, look at orders.",
    {
        "products": TableView("product", ("name", "product_type", "price", "rating", "stock", "description")),
        "sellers": TableView("seller", ("name", "rating")),
        "reviews": TableView("review", ("title", "product_id", "rating", "text", "author")),
        "questions": TableView("question", ("question", "product_id", "author")),
        "answers": TableView("answer", ("answer", "question_id", "author")),
        "cart": TableView("cart item", ("cart_item_id", "owner", "product_id", "quantity")),
        "wish_list": TableView("wish list item", ("wish_list_item_id", "owner", "product_id", "quantity")),
        "browsing_history": TableView("viewed product", ("viewed_id", "owner", "product_id")),
        "addresses": TableView("address", ("name", "street_address", "city", "owner")),
        "payment_cards": TableView("payment card", ("card_name", "owner", "card_number", "balance")),
        "orders": TableView("order", ("order_id", "owner", "items", "shipping_address", "total_cost", "placed_at")),
        "accounts": TableView("account", ("username", "password", "first_name", "last_name")),
    },
)

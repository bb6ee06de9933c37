"""The app, and what all its APIs use."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from evaluation.tools.apps.amazon.state import AmazonState, Product
from evaluation.tools.apps.framework import App, Call, add_account_apis, as_dict

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

"""Products, their reviews and questions; ``cart_api`` and ``order_api`` buy them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.amazon import cart_api, order_api, return_api
from evaluation.tools.apps.amazon.common import (
    AmazonCall,
    ProductId,
    ProductType,
    Query,
    QuestionId,
    SellerId,
    app,
    product_shown,
    product_summary,
)
from evaluation.tools.apps.amazon.state import Question, Review
from evaluation.tools.apps.framework import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    Page,
    PageIndex,
    PageLimit,
    Records,
    add_records,
    as_dict,
    paginate,
    rank,
)

__all__ = ["app", "cart_api", "order_api", "return_api"]

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


@app.api()
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
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
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
    return paginate(found, page_index, page_limit, product_summary)


@app.api()
def show_product(call: AmazonCall, product_id: ProductId) -> dict[str, Any]:
    """Show a product."""
    return product_shown(call, call.state.products.get(product_id))


@app.api(alias="show_recommendations")
def show_recommended_products(call: AmazonCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List products for you: the best rated of the types you have looked at or bought, then all others."""
    seen = {each.product_id for each in call.state.history if each.owner == call.user}
    bought = {item.product_id for order in call.state.orders if order.owner == call.user for item in order.items}
    known = [call.state.products.get(number) for number in seen | bought]
    types = {product.product_type for product in known}
    found = [product for product in call.state.products if product.product_id not in bought and product.stock > 0]
    found.sort(key=lambda each: (each.product_type not in types, -each.rating, each.product_id))
    return paginate(found, page_index, page_limit, product_summary)


@app.api()
def search_sellers(call: AmazonCall, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """Search sellers by name."""
    found = rank(query, call.state.sellers, lambda seller: (seller.name,))
    return paginate(found, page_index, page_limit, as_dict)


@app.api()
def show_seller(call: AmazonCall, seller_id: SellerId) -> dict[str, Any]:
    """Show a seller."""
    return as_dict(call.state.sellers.get(seller_id))


@app.api()
def show_product_reviews(
    call: AmazonCall,
    product_id: ProductId,
    query: Query = "",
    rating: Annotated[int | None, Field(ge=1, le=5, description="Only reviews with so many stars")] = None,
    page_index: PageIndex = 0,
    page_limit: PageLimit = 5,
) -> Page:
    """List or search the reviews of a product."""
    call.state.products.get(product_id)
    of_it = [each for each in call.state.reviews.having("product_id", product_id) if rating in (None, each.rating)]
    found = rank(query, of_it, lambda review: (review.title, review.text))
    return paginate(found, page_index, page_limit, as_dict)


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


@app.api()
def show_product_questions(
    call: AmazonCall, product_id: ProductId, query: Query = "", page_index: PageIndex = 0, page_limit: PageLimit = 5
) -> Page:
    """List or search the questions about a product."""
    call.state.products.get(product_id)
    of_it = call.state.questions.having("product_id", product_id)
    found = rank(query, of_it, lambda question: (question.question,))
    return paginate(found, page_index, page_limit, as_dict)


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

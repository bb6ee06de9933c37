"""Returning what was ordered, Prime, receipts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.apps.amazon.common import AmazonCall, OrderId, ProductId, app
from evaluation.tools.apps.amazon.state import Return, cost_of
from evaluation.tools.apps.attachments import Attachment, FileToken, Overwrite, SaveAs, download
from evaluation.tools.apps.framework import InvalidError, Page, PageIndex, PageLimit, paginate, without_owner
from evaluation.tools.apps.paying import add_subscription_apis

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


@app.api()
def show_returns(call: AmazonCall, page_index: PageIndex = 0, page_limit: PageLimit = 5) -> Page:
    """List your returns, latest first."""
    return paginate(call.state.returns.having("owner", call.user)[::-1], page_index, page_limit, without_owner)


@app.api()
def show_return(call: AmazonCall, return_id: Annotated[int, Field(description="From show_returns")]) -> dict[str, Any]:
    """Show a return."""
    return without_owner(call.own(call.state.returns, return_id))


@app.api()
def download_order_receipt(
    call: AmazonCall,
    order_id: OrderId,
    file_system_access_token: FileToken,
    download_to_file_path: SaveAs | None = None,
    overwrite: Overwrite = False,
) -> dict[str, Any]:
    """Save the receipt of an order."""
    order = call.own(call.state.orders, order_id)
    lines = [
        f"{item.quantity} x {call.state.products.get(item.product_id).name}: {item.price * item.quantity:.2f}"
        for item in order.items
    ]
    text = "\n".join((f"Order {order_id} of {order.placed_at}", *lines, f"Total: {order.total_cost:.2f}"))
    files = call.beside("file_system", file_system_access_token)
    receipt = Attachment(0, f"amazon_order_{order_id}.txt", text)
    return download(files, receipt, download_to_file_path, overwrite=overwrite)


add_subscription_apis(app, "prime", {"monthly": (14.99, 30), "yearly": (139.0, 365)})

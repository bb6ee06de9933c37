"""The app, and what all its APIs use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evaluation.tools.apps.framework import App, Call, InvalidError, NotFoundError, add_account_apis
from evaluation.tools.apps.splitwise.state import Group, SplitwiseState, cents

app = App(
    "splitwise",
    SplitwiseState,
    "Splitwise",
    "Share expenses in groups or with single people, see who owes whom, and settle up.",
)
add_account_apis(app)

SplitwiseCall = Call[SplitwiseState]
Email = Annotated[str, Field(min_length=1, max_length=200, description="The person's email address")]
Name = Annotated[str, Field(min_length=1, max_length=200, description="Name of the group")]
Amount = Annotated[float, Field(gt=0, le=1_000_000)]
GroupId = Annotated[int, Field(description="From show_groups")]


def own_groups(call: SplitwiseCall) -> list[Group]:
    return [group for group in call.state.groups if call.user in group.members]


def own_group(call: SplitwiseCall, group_id: int) -> Group:
    """Raises NotFoundError."""
    group = call.state.groups.find(group_id)
    if group is None or call.user not in group.members:
        raise NotFoundError(f"You have no group with group_id {group_id}.")
    return group


def require_people(call: SplitwiseCall, group: Group | None, people: tuple[str, ...]) -> None:
    """In the group if there is one, else with an account."""
    for person in people:
        if group is None:
            call.state.accounts.get(person)
        elif person not in group.members:
            raise InvalidError(f"{person} is not in the group.")


def rounded(amount: float) -> float:
    """To cents. Raises InvalidError."""
    if not cents(amount):
        raise InvalidError("The amount is less than a cent.")
    return cents(amount) / 100

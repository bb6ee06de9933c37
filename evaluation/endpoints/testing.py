"""Testing a model: requested on a page, played by a worker, stored line by line."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from evaluation.endpoints.catalog import find_listed
from evaluation.endpoints.connection import set_list_price
from evaluation.endpoints.services import service_at
from evaluation.endpoints.tryout import CHECKS, NOT_USABLE, SEATS, Line, Tryout
from evaluation.leases import renewing, wake_workers
from evaluation.llm import Budget, Endpoint, EndpointError, ModelClient, Prices, RetryPolicy
from evaluation.model_access import endpoint_of
from evaluation.models import ModelEndpoint
from evaluation.models.endpoint_tests import EndpointTest, settings_of
from evaluation.models.endpoints import PRICES
from evaluation.models.leased import LeasedRows, LeaseLostError, free
from evaluation.protocol.participants import Tokens
from studio.domain.storable import storable
from studio.models import User

logger = logging.getLogger(__name__)
RETRY_POLICY = RetryPolicy(attempts=2, max_pause=10, max_seconds=30)
"""Short: somebody is looking at it."""
MAX_ATTEMPTS = 3
"""Workers that may die on one test."""
_BROKEN_OFF: dict[str, Any] = {
    "lines": [Line("answers", "fails", "broke off", "The studio stopped several times in it. Test again.").to_json()]
}


def request_test(endpoint: ModelEndpoint, *, by: User | None) -> EndpointTest:
    """The one that is going on, if one is."""
    with transaction.atomic():
        ModelEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
        newest = endpoint.tests.first()
        if newest is not None and newest.is_going_on:
            return newest
        test = EndpointTest.objects.create(endpoint=endpoint, settings=settings_of(endpoint), requested_by=by)
        wake_workers()
    return test


def due_tests() -> LeasedRows[EndpointTest]:
    return EndpointTest.objects.filter(free(), state=EndpointTest.State.ASKED)


def play_test(pk: int, *, retry_policy: RetryPolicy = RETRY_POLICY) -> None:
    """Play what was requested, from its first line on. A second call for the same test does nothing."""
    token = due_tests().claim(pk, lines=[])
    test = EndpointTest.objects.select_related("endpoint").filter(claimed_by=token).first() if token else None
    if test is None:
        return
    with renewing(test):
        try:
            played = _BROKEN_OFF if test.attempts > MAX_ATTEMPTS else _play(test, retry_policy)
            test.write(**played, **test.finished())
        except LeaseLostError:
            logger.info("Test %d of a model was taken over.", pk)


def _play(test: EndpointTest, retry_policy: RetryPolicy) -> dict[str, Any]:
    """What the whole exchange showed; each line is stored as it comes. Raises LeaseLostError."""
    endpoint = test.endpoint
    service = service_at(endpoint.base_url)
    try:
        asked = endpoint_of(endpoint)
    except ValueError as problem:
        return {"lines": [Line("answers", "fails", "not usable", NOT_USABLE, str(problem)).to_json()]}
    tryout = Tryout(
        ModelClient(asked, budget=Budget(), retry_policy=retry_policy),
        effort=endpoint.effort,
        context=_take_what_is_listed(endpoint, asked),
        advice=service.note if service and service.is_local else "",
    )
    lines: list[Any] = []
    for line in tryout.lines():
        lines.append(storable(line.to_json()))
        test.write(lines=lines)
    cost = endpoint.cost_of(tryout.tokens)
    usage = {"tokens": asdict(tryout.tokens), "cost": None if cost is None else str(cost)}
    return {"answered_by": storable(dict(tryout.answered_by)), "usage": usage}


def _take_what_is_listed(row: ModelEndpoint, endpoint: Endpoint) -> int | None:
    """The context length that the service lists for the model. Its price is kept if none is known."""
    try:
        listed = find_listed(endpoint)
    except EndpointError:
        return None
    if listed and listed.price and row.prices == Prices():
        set_list_price(row, listed.price, "as listed by the service")
        row.save(update_fields=[*PRICES, "price_date", "price_source"])
    return listed.context if listed else None


@dataclass(frozen=True)
class Tested:
    """The newest test of an endpoint, as a person reads it."""

    test: EndpointTest
    is_current: bool
    """Whether the endpoint is still set as it was tested."""
    lines: list[tuple[str, Line | None]]
    """Every check's label, with its line once it was played."""
    failed: list[Line]

    @property
    def fit_for(self) -> list[str]:
        """Seats of a pilot that it can take."""
        return [
            name for seat, name in SEATS.items() if not any(seat in CHECKS[line.name].needed for line in self.failed)
        ]

    @property
    def seconds(self) -> float:
        return sum(line.milliseconds for _, line in self.lines if line) / 1000

    @property
    def tokens(self) -> Tokens | None:
        """By kind; None before it has ended."""
        return Tokens(**self.test.usage["tokens"]) if self.test.usage else None


def read_test(test: EndpointTest, endpoint: ModelEndpoint) -> Tested:
    by_name = {entry["name"]: Line(**entry) for entry in test.lines}
    lines = [(check.label, by_name.get(name)) for name, check in CHECKS.items()]
    return Tested(test, test.is_of(endpoint), lines, [line for line in by_name.values() if line.outcome == "fails"])


def newest_tests(endpoints: list[ModelEndpoint]) -> Mapping[int, Tested]:
    """By endpoint."""
    rows = EndpointTest.objects.filter(endpoint__in=endpoints).order_by("endpoint_id", "-pk").distinct("endpoint_id")
    newest = {row.endpoint_id: row for row in rows}
    return {row.pk: read_test(newest[row.pk], row) for row in endpoints if row.pk in newest}


def failures_for(endpoint: ModelEndpoint, seat: str) -> list[Line]:
    """Lines that the seat (``agent``, ``user_model``, ``judge``) needs and the model failed as it is set now."""
    tested = newest_tests([endpoint]).get(endpoint.pk)
    if tested is None or not tested.is_current:
        return []
    return [line for line in tested.failed if seat in CHECKS[line.name].needed]

"""What a pilot will cost, before it starts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from evaluation.models import ModelCall, ModelEndpoint, Pilot, Session
from evaluation.pilots.estimate import estimate_pilot
from evaluation.protocol.participants import Tokens
from studio.models import Task
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, task
from tests.evaluation.factories import person

pytestmark = pytest.mark.django_db
PRICES = {"input_price": 2, "cached_price": Decimal("0.2"), "cache_write_price": 3, "output_price": 10}


@pytest.fixture
def model() -> ModelEndpoint:
    return endpoint("paid", base_url="https://models.example/v1", scripted=False, **PRICES)


@pytest.fixture
def pilot(model: ModelEndpoint) -> Pilot:
    """One session of its first task has finished, which had two calls of the agent."""
    pilot = pilot_of(benchmark_of(task("a"), task("b")), agent=model, user_model=model, judge=model)
    session = Session.objects.get(position=1)
    Session.objects.filter(pk=session.pk).update(state="finished", calls=2)
    call(session, model, cached_tokens=0)
    call(session, model, cached_tokens=900_000, reasoning_tokens=50_000)
    return pilot


def call(session: Session, model: ModelEndpoint, **counts: Any) -> None:
    told = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "cost": 1} | counts
    ModelCall.objects.create(
        session=session, endpoint=model, purpose="agent", turn=1, answered=True, content=b"",
        request_hash=f"{ModelCall.objects.count():064x}", **told,
    )  # fmt: skip


def tasks() -> list[int]:
    return list(Task.objects.values_list("pk", flat=True))


def seats(model: ModelEndpoint) -> dict[str, ModelEndpoint]:
    return dict.fromkeys(("agent", "user_model", "judge"), model)


def test_earlier_sessions_tell_calls_tokens_and_their_cached_share(pilot: Pilot, model: ModelEndpoint):
    found = estimate_pilot(pilot.benchmark, tasks(), 3, seats(model), protocol="release")

    assert (found.sessions, found.tasks, found.known, found.same_agent, found.calls) == (6, 2, 1, True, 12)
    assert found.tokens == Tokens(12_000_000, 1_200_000, 5_400_000, None, 300_000)
    # 6.6 million at $2, 5.4 at $0.20, and 1.2 at $10: in place of $36 without a cache
    assert found.cost == Decimal("26.28")


def test_another_model_is_estimated_by_what_others_used_at_its_own_prices(pilot: Pilot):
    cheap = endpoint("cheap", base_url="https://cheap.example/v1", scripted=False, input_price=1, output_price=1)

    found = estimate_pilot(pilot.benchmark, tasks(), 3, seats(cheap), protocol="release")

    assert (found.same_agent, found.cost) == (False, Decimal("13.2"))


def test_other_effort_is_another_model(pilot: Pilot, model: ModelEndpoint):
    model.effort = "high"

    assert not estimate_pilot(pilot.benchmark, tasks(), 1, seats(model), protocol="release").same_agent


def test_without_a_price_the_cost_is_unknown_and_not_nothing(pilot: Pilot, model: ModelEndpoint, client: Client):
    model.input_price = None
    model.save()
    found = estimate_pilot(pilot.benchmark, tasks(), 1, seats(model), protocol="release")
    client.force_login(person(pilot.benchmark, "owner"))
    chosen = {"agent": model.name, "user_model": model.name, "judge": model.name, "runs": 1, "protocol": "release"}
    page = client.get(f"/benchmarks/{pilot.benchmark.slug}/pilots/estimate/", chosen).content.decode()

    assert (found.cost, found.unpriced) == (None, ("paid",))
    assert "Cost unknown, since no price of paid is known" in " ".join(page.split())
    assert "4,000,000 tokens of input (45 % from a cache) and 400,000 of output (100,000 of them thoughts)" in page


def test_calls_that_tell_no_tokens_make_the_cost_unknown(pilot: Pilot, model: ModelEndpoint):
    call(Session.objects.get(position=1), model, prompt_tokens=None, cost=None)

    assert estimate_pilot(pilot.benchmark, tasks(), 1, seats(model), protocol="release").cost is None


def test_nothing_is_estimated_before_a_session_has_finished(pilot: Pilot, model: ModelEndpoint):
    Session.objects.update(state="waiting")

    assert estimate_pilot(pilot.benchmark, tasks(), 1, seats(model), protocol="release").known == 0


def test_page_shows_tokens_and_cost_by_kind_and_says_what_is_unknown(
    pilot: Pilot, model: ModelEndpoint, client: Client
):
    session = Session.objects.get(position=1)
    call(session, model, prompt_tokens=None, completion_tokens=None, cost=None)
    client.force_login(person(pilot.benchmark, "owner"))

    page = client.get(f"/pilots/{pilot.pk}/usage/").content.decode()

    row = HTMLParser(page).css_first("tbody tr")
    assert [" ".join(cell.text().split()) for cell in row.css("th, td")] == [
        "agent paid", "3", "2,000,000", "900,000", "unknown", "200,000", "50,000", "$2.00 1 of unknown cost",
    ]  # fmt: skip
    assert "1 call did not tell all tokens" in " ".join(page.split())

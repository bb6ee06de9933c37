"""Budgets stop sessions, pilots and benchmarks cleanly, and can be raised."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from functools import partial

import pytest
from django.core.management import call_command
from django.db import OperationalError, transaction
from django.test import Client

from evaluation.engine.budgets import BudgetSpentError, Spent
from evaluation.models import ModelCall, Pilot, Session, Turn
from evaluation.pilots.budgets import (
    SharedSpending,
    reserve,
    set_benchmark_budget,
    set_budgets,
    shared_spending,
    validate_budgets,
)
from evaluation.pilots.control import ControlError, control_pilot
from evaluation.pilots.queue import claim_session
from studio.domain.options import OptionsError
from studio.models import Benchmark
from tests.at_once import beside
from tests.evaluation.builders import intents, task
from tests.evaluation.factories import person, pilot_row
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


@pytest.fixture(autouse=True)
def _fresh_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.pilots.budgets.FRESH_SECONDS", 0)
    shared_spending._known.clear()


def two_pilots(stub: StubModel) -> tuple[Pilot, Pilot]:
    """Of one benchmark."""
    first, second = (start(stub, task("a", intents=intents("one"))) for _ in range(2))
    Pilot.objects.filter(pk=second.pk).update(benchmark=first.benchmark, number=2)
    second.refresh_from_db()
    return first, second


@pytest.mark.slow
@pytest.mark.parametrize(
    ("budget", "amount", "calls"),
    [({"calls": 5}, "5 model calls", 5), ({"tokens": 30}, "30 tokens", 3), ({"cost": 0.00004}, "$0.00004", 4)],
)
def test_spent_budget_pauses_the_pilot_with_the_reason_and_goes_on_once_raised(
    stub: StubModel, budget: dict[str, float], amount: str, calls: int
):
    pilot = start(stub, task("a", intents=intents("one", "two")), task("b"), budgets={"pilot": budget})
    for role in ("agent", "user_model", "judge"):
        pilot.config[role] |= {"input_price": "1", "output_price": "0"}
    pilot.save()

    work_through(pilot)

    assert (pilot.state, pilot.reason) == ("paused", f"The pilot’s budget of {amount} is spent. Raise it to go on.")
    assert (stub.asked.total(), set(Session.objects.values_list("state", flat=True))) == (calls, {"waiting"})
    set_budgets(pilot, {"pilot": {}}, by=None)
    control_pilot(pilot.pk, "resume", by=None)
    work_through(pilot)
    assert (pilot.state, pilot.reason, pilot.budgets) == ("finished", "", {})
    assert stub.asked.total() == ModelCall.objects.count()


def test_a_call_that_may_cost_more_than_is_left_is_not_sent(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("one")), budgets={"pilot": {"cost": 0.0001}})
    for role in ("agent", "user_model", "judge"):
        pilot.config[role] |= {"input_price": "1", "output_price": "1", "params": {"max_tokens": 200}}
    pilot.save()

    work_through(pilot)

    assert (pilot.state, stub.asked.total()) == ("paused", 0)
    assert re.fullmatch(
        r"What is left of the pilot’s budget of \$0\.0001, \$0\.0001, does not cover the next call, which may cost "
        r"\$0\.\d+\. Raise it to go on\.",
        pilot.reason,
    )


def test_the_page_names_models_for_whose_calls_nothing_can_be_kept_free(stub: StubModel, client: Client):
    pilot = start(stub, task("a", intents=intents("one")), budgets={"pilot": {"cost": 1.0}})
    for role in ("user_model", "judge"):
        pilot.config[role] |= {"input_price": "1", "output_price": "1", "params": {"max_tokens": 200}}
    pilot.save()
    client.force_login(person(pilot.benchmark, "author"))

    page = " ".join(client.get(f"/pilots/{pilot.pk}/").content.decode().split())
    set_budgets(pilot, {"pilot": {"cost": 0, "calls": 5}}, by=None)

    assert f"Not kept to the cent: {pilot.endpoint('agent').label} has no" in page
    assert "Not kept to the cent" not in client.get(f"/pilots/{pilot.pk}/").content.decode()


def test_what_a_call_may_cost_is_kept_free_until_it_is_stored_or_its_lease_ends():
    pilot = pilot_row(runs=2)
    Pilot.objects.filter(pk=pilot.pk).update(budgets={"pilot": {"cost": 3.0}, "session": {"cost": 2.9}})
    first, second = (claim_session(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True))
    assert first and second

    assert reserve(first, Decimal(2)) and not reserve(second, Decimal(2)) and reserve(second, Decimal(1))
    Session.objects.filter(pk=first.pk).update(cost=Decimal("0.5"))
    with pytest.raises(BudgetSpentError, match=r"session’s budget of \$2\.9, \$2\.4, does not cover"):
        reserve(first, Decimal("2.6"))
    first.release(state="waiting")
    assert reserve(second, Decimal("2.5"))
    with pytest.raises(BudgetSpentError, match=r"pilot’s budget of \$3, \$2\.5, does not cover"):
        reserve(second, Decimal("2.6"))


def test_what_a_dead_worker_kept_free_is_free_once_its_lease_has_expired():
    pilot = pilot_row(runs=2)
    Pilot.objects.filter(pk=pilot.pk).update(budgets={"pilot": {"cost": 5.0}})
    dead, alive = (claim_session(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True))
    assert dead and alive and reserve(dead, Decimal(4)) and not reserve(alive, Decimal(2))

    Session.objects.filter(pk=dead.pk).update(lease_until="2000-01-01T00:00Z")

    assert reserve(alive, Decimal(2))


def test_what_another_benchmark_spends_and_keeps_free_leaves_this_one_its_budget():
    for pilot, limit in ((pilot_row(), 3), (pilot_row(), 5)):
        set_benchmark_budget(pilot.benchmark, {"cost": limit}, by=None)
    ours, other = (claim_session(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True))
    assert ours and other and ours.pilot.benchmark_id != other.pilot.benchmark_id

    Session.objects.filter(pk=other.pk).update(cost=Decimal(1))

    assert reserve(other, Decimal(4)) and reserve(ours, Decimal(3))
    with pytest.raises(BudgetSpentError, match=r"benchmark’s budget of \$3, \$3, does not cover"):
        reserve(ours, Decimal("3.1"))


def test_who_lost_a_session_keeps_nothing_free():
    Pilot.objects.filter(pk=pilot_row().pk).update(budgets={"pilot": {"cost": 3.0}})
    session = claim_session(Session.objects.get().pk)
    assert session
    Session.objects.update(claimed_by="another")

    reserve(session, Decimal(2))

    assert Session.objects.get().reserved == 0


@pytest.mark.django_db(transaction=True)
def test_who_holds_the_benchmark_for_long_keeps_no_call_waiting():
    pilot = pilot_row()
    Pilot.objects.update(budgets={"pilot": {"cost": 3.0}})
    set_benchmark_budget(pilot.benchmark, {"cost": 3}, by=None)
    session = claim_session(Session.objects.get().pk)
    assert session

    with transaction.atomic():
        Benchmark.objects.select_for_update(no_key=True).get(pk=pilot.benchmark_id)
        assert beside(partial(reserve, session, Decimal(1)))


@pytest.mark.django_db(transaction=True)
def test_of_two_pilots_that_use_a_budget_at_once_the_second_sees_what_the_first_keeps_free(stub: StubModel):
    first, second = two_pilots(stub)
    set_benchmark_budget(first.benchmark, {"cost": 3}, by=None)
    ours, other = (claim_session(Session.objects.get(run__pilot=pilot).pk) for pilot in (first, second))
    assert ours and other

    with transaction.atomic():
        assert reserve(ours, Decimal(2))
        with pytest.raises(OperationalError, match="lock timeout"):
            beside(partial(reserve, other, Decimal(2)))
    assert not reserve(other, Decimal(2))


@pytest.mark.django_db(transaction=True)
def test_of_two_sessions_of_a_pilot_at_once_the_second_sees_what_the_first_keeps_free():
    pilot = pilot_row(runs=2)
    Pilot.objects.update(budgets={"pilot": {"cost": 3.0}})
    first, second = (claim_session(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True))
    assert first and second and first.pilot == pilot

    with transaction.atomic():
        assert reserve(first, Decimal(2))
        with pytest.raises(OperationalError, match="lock timeout"):
            beside(partial(reserve, second, Decimal(2)))
    assert not reserve(second, Decimal(2))


@pytest.mark.parametrize(("state", "reason"), [("running", ""), ("paused", ""), ("stopped", "It failed.")])
def test_a_budget_gives_no_reason_to_a_pilot_that_none_has_paused(state: str, reason: str):
    pilot = pilot_row()
    Pilot.objects.update(state=state, reason=reason)
    pilot.refresh_from_db()

    set_budgets(pilot, {"pilot": {"calls": 9}}, by=None)
    set_benchmark_budget(pilot.benchmark, {"calls": 9}, by=None)

    assert Pilot.objects.get().reason == reason


def test_a_budget_of_one_scope_leaves_those_of_others():
    pilot = pilot_row()

    set_budgets(pilot, {"pilot": {"calls": 9}, "session": {"cost": 2}}, by=None)
    set_budgets(pilot, {"pilot": {"tokens": 50, "cost": 0}}, by=None)
    assert pilot.budgets == {"pilot": {"tokens": 50}, "session": {"cost": 2.0}}
    set_budgets(pilot, {"session": {"cost": 0}}, by=None)
    assert Pilot.objects.get().budgets == {"pilot": {"tokens": 50}}


def test_a_call_too_dear_for_what_a_benchmark_has_left_pauses_its_pilot_alone(stub: StubModel):
    dear, cheap = two_pilots(stub)
    for role in ("agent", "user_model", "judge"):
        dear.config[role] |= {"input_price": "1", "output_price": "1", "params": {"max_tokens": 200}}
    dear.save()
    set_benchmark_budget(dear.benchmark, {"cost": 0.0001}, by=None)

    work_through(dear)

    assert dear.state == "paused" and "the benchmark’s budget of $0.0001, $0.0001, does not cover" in dear.reason
    assert work_through(cheap).state == "finished"


@pytest.mark.slow
def test_a_stored_call_gives_back_what_was_kept_free_for_it(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("one")), budgets={"pilot": {"cost": 1.0}})
    for role in ("agent", "user_model", "judge"):
        pilot.config[role] |= {"input_price": "1", "output_price": "1", "params": {"max_tokens": 200}}
    pilot.save()

    assert work_through(pilot).state == "finished"

    assert {row.reserved for row in Session.objects.all()} == {Decimal(0)} and stub.asked.total() > 0


@pytest.mark.slow
def test_spent_budget_of_a_session_stops_it_alone(stub: StubModel):
    pilot = start(stub, task("a", intents=intents("one", "two")), runs=2, budgets={"session": {"calls": 4}})

    work_through(pilot)

    assert (pilot.state, stub.asked.total(), Turn.objects.count()) == ("stopped", 8, 2)
    assert {row.reason for row in Session.objects.all()} == {
        "The session’s budget of 4 model calls is spent. Raise it to go on."
    }
    set_budgets(pilot, {"session": {"calls": 100}}, by=None)
    control_pilot(pilot.pk, "retry", by=None)
    assert work_through(pilot).state == "finished"


@pytest.mark.slow
def test_a_budget_that_is_still_spent_resumes_nothing_and_the_page_says_why(stub: StubModel, client: Client):
    pilot = start(stub, task("a", intents=intents("one")), budgets={"pilot": {"calls": 3}})
    work_through(pilot)
    client.force_login(person(pilot.benchmark, "author"))
    page = f"/pilots/{pilot.pk}/"

    lowered = client.post(f"{page}budget/", {"budget_calls": "2"}, follow=True).content.decode()
    refused = client.post(f"{page}resume/", follow=True).content.decode()
    with pytest.raises(ControlError, match="budget of 2 model calls is spent"):
        control_pilot(pilot.pk, "resume", by=None)
    raised = client.post(f"{page}budget/", {"budget_calls": "200"}, follow=True).content.decode()
    resumed = client.post(f"{page}resume/", follow=True).content.decode()

    assert "The pilot’s budget of 2 model calls is spent. Raise it to go on." in lowered
    assert "The pilot’s budget of 2 model calls is spent. Raise it to go on." in refused
    assert "Resumed." not in refused
    assert "Budget raised. Resume the pilot to go on." in raised and "is spent" not in raised
    assert "Resumed." in resumed


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/pilots/{pk}/budget/", "/benchmarks/{slug}/pilots/budget/"])
def test_an_impossible_budget_is_named_beside_its_field_and_stays_there_to_be_mended(client: Client, path: str):
    pilot = pilot_row()
    Pilot.objects.update(state="paused")
    client.force_login(person(pilot.benchmark, "author"))
    name = "budget_calls" if "{pk}" in path else "calls"

    for value in ("-4", "9" * 20):
        answer = client.post(path.format(pk=pilot.pk, slug=pilot.benchmark.slug), {name: value})
        text = answer.content.decode()
        assert (answer.status_code, f'value="{value}"' in text, "Enter a whole number between 0 and" in text) == (
            200, True, True,
        )  # fmt: skip
    assert Pilot.objects.get().budgets == {}


def test_budget_of_a_benchmark_holds_for_all_its_pilots(stub: StubModel):
    first, second = two_pilots(stub)
    set_benchmark_budget(first.benchmark, {"calls": 3}, by=None)

    work_through(first)
    work_through(second)

    states = set(Pilot.objects.values_list("state", "reason"))
    assert states == {("paused", "The benchmark’s budget of 3 model calls is spent. Raise it to go on.")}
    assert stub.asked.total() == 3
    set_benchmark_budget(first.benchmark, {"calls": 100}, by=None)
    assert set(Pilot.objects.values_list("reason", flat=True)) == {"The budget was raised."}


def test_calls_of_this_process_count_at_once_and_those_of_others_within_a_second(monkeypatch: pytest.MonkeyPatch):
    pilot, now = pilot_row(), 100.0
    Pilot.objects.update(budgets={"pilot": {"calls": 5}})
    monkeypatch.setattr("evaluation.pilots.budgets.FRESH_SECONDS", 1.0)
    monkeypatch.setattr("evaluation.pilots.budgets.time.monotonic", lambda: now)
    spending = SharedSpending()

    def check() -> None:
        spending.check(pilot, Spent())

    check()
    spending.add(pilot, Spent(calls=5))
    with pytest.raises(BudgetSpentError, match="5 model calls"):
        check()
    now += 1.5  # nothing of it is stored, so that the database tells the others' calls alone
    check()
    Session.objects.filter(run__pilot=pilot).update(calls=5)
    check()
    now += 1.5
    with pytest.raises(BudgetSpentError, match="5 model calls"):
        check()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pilot": {"moons": 1}}, "no budget of “moons”"),
        ({"run": {"calls": 1}}, "no budget of a “run”"),
        ({"pilot": {"calls": -1}}, "not a number from 0 up"),
        ({"pilot": {"cost": float("nan")}}, "not a number from 0 up"),
    ],
)
def test_invalid_budget_is_refused(given: dict, message: str):
    with pytest.raises(OptionsError, match=message):
        validate_budgets(given)


@pytest.mark.slow
def test_budget_is_shown_and_changed_on_the_page_in_the_api_and_by_command(
    stub: StubModel, client: Client, capsys: pytest.CaptureFixture[str]
):
    pilot = start(stub, task("a"), budgets={"pilot": {"cost": 5}})
    Session.objects.update(cost="1.25", calls=7)
    client.force_login(person(pilot.benchmark, "author"))

    page = client.get(f"/pilots/{pilot.pk}/").content.decode()
    client.post(f"/pilots/{pilot.pk}/budget/", {"budget_calls": "9", "budget_cost": "5"})
    by_page = Pilot.objects.get().budgets
    api = client.post(
        f"/api/pilots/{pilot.pk}/budget/", {"budgets": {"session": {"tokens": 50}}}, content_type="application/json"
    ).json()
    call_command("pilot_control", str(pilot.pk), "pause", "--budget", "cost=8", "--json")
    client.post(f"/benchmarks/{pilot.benchmark.slug}/pilots/budget/", {"calls": "70"})
    pilots = client.get(f"/benchmarks/{pilot.benchmark.slug}/pilots/").content.decode()
    estimate = client.get(
        f"/benchmarks/{pilot.benchmark.slug}/pilots/estimate/", {"agent": pilot.agent.name, "runs": 2}
    ).content.decode()

    assert "$1.25 of $5.00 spent, $3.75 left" in " ".join(page.split())
    assert by_page == {"pilot": {"calls": 9, "cost": 5.0}}
    assert api == {"budgets": {"pilot": {"calls": 9, "cost": 5.0}, "session": {"tokens": 50}}}
    assert json.loads(capsys.readouterr().out) == {"pilot": pilot.pk, "state": "paused"}
    assert Pilot.objects.get().budgets["pilot"] == {"cost": 8.0}
    assert "7 of 70 model calls used, 63 left" in " ".join(pilots.split())
    assert "2 sessions. No estimate yet" in " ".join(estimate.split())

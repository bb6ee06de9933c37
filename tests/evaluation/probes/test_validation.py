"""Validations: what is probed, within which budget, what is known afterwards, and that nothing of it is asked twice."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial

import pytest
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, transaction

from evaluation.engine.budgets import BudgetSpentError
from evaluation.models import ModelCall, ModelEndpoint, Probe, ReferenceSolution, Session, Validation
from evaluation.pilots.budgets import reserve, spent_in
from evaluation.pilots.queue import claim_session, due_in_probes, due_in_rehearsals
from evaluation.probes.cost import likely_cost, told_before
from evaluation.probes.solutions import record_solution, write_solution
from evaluation.probes.standing import TaskStanding, standings
from evaluation.probes.validation import (
    ValidationOptions,
    cancel_validation,
    plan_validation,
    resume_validation,
    start_validation,
    sweep_validations,
    work_on_probe,
)
from evaluation.protocol.given import GivenTurn
from evaluation.rehearsals import lifecycle
from studio.domain.options import OptionsError
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from studio.models import Benchmark, Task
from studio.tasks.save import save_task
from tests.at_once import beside
from tests.evaluation.builders import benchmark_of, endpoint, intents, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import after_reply
from tests.evaluation.stub_model import StubModel, decisions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]
ANSWERS = {"told": "With the fee.", "other": "Something."}


@pytest.fixture
def quick_retries(settings: pytest.FixtureRequest) -> None:
    settings.SESSION_RETRY_SECONDS = 0  # type: ignore[attr-defined]
    settings.SESSION_ATTEMPTS = 2  # type: ignore[attr-defined]


@pytest.fixture
def stub_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", "none")


@pytest.fixture
def model(stub: StubModel) -> ModelEndpoint:
    """Writes “With the fee.” where it is told of the fee, and its judge finds the criterion met where that stands."""
    stub.agent = lambda body: "With the fee." if "harbour fee" in json.dumps(body["messages"]) else "A note."
    stub.checklist = lambda body: decisions(body, lambda _: "With the fee." in json.dumps(body["messages"]))
    return endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")


def note(name: str = "b", *needs: str, **fields: object) -> TaskSpec:
    values = {"checklist": (rubric("The note says the fee."),), "intents": intents("It says the harbour fee.")}
    return task(name, *needs, **(values | fields))


def started(benchmark: Benchmark, **options: object) -> Validation:
    return start_validation(benchmark, ValidationOptions.read({"agent": "stub", "judge": "stub"} | options), by=None)


def work_through(validation: Validation) -> Validation:
    for pk in list(due_in_probes().order_by("pk").values_list("pk", flat=True)):
        work_on_probe(pk)
    validation.refresh_from_db()
    return validation


def of(benchmark: Benchmark, name: str = "b") -> TaskStanding:
    return next(each for each in standings(benchmark) if each.task.task_id == name)


def states(benchmark: Benchmark, name: str = "b") -> dict[str, str]:
    return {each.kind.name: each.state for each in of(benchmark, name).kinds}


def solve(benchmark: Benchmark, reply: str = "With the fee.", name: str = "b") -> ReferenceSolution:
    row = Task.objects.select_related("persona__benchmark").get(persona__benchmark=benchmark, task_id=name)
    return write_solution(row, GivenTurn(reply), by=None)


@pytest.mark.slow
def test_task_is_validated_by_three_steps_its_solution_and_answers_without_work(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(task("a", intents=intents("Name the harbour fee.")), note("b", "a"))
    solve(benchmark)
    plan = plan_validation(benchmark, ValidationOptions(agent="stub", judge="stub"))
    assert plan.sentence == "9 probes of 1 task: 3 answers by stub with tools, 9 judgings by stub."

    validation = work_through(started(benchmark))

    assert (validation.state, validation.reason) == ("finished", "")
    assert states(benchmark) == dict.fromkeys(
        ("told", "built-on", "alone", "reference", "nothing", "repeats", "done", "asks", "other"), "passed"
    )
    assert of(benchmark).validated
    assert of(benchmark, "a").exempt


@pytest.mark.slow
def test_candidates_never_see_the_checklist_and_hear_only_what_their_step_tells(
    stub: StubModel, model: ModelEndpoint
) -> None:
    benchmark = benchmark_of(task("a", intents=intents("In metres.")), note("b", "a", checklist=(rubric("Zebra."),)))
    work_through(started(benchmark))

    seen = [json.dumps(body) for body in stub.bodies if body.get("tools")]
    assert len(seen) == 3
    assert not any("Zebra" in text for text in seen)
    assert [("harbour fee" in text, "In metres" in text) for text in seen] == [
        (True, False),
        (False, True),
        (False, False),
    ]


@pytest.mark.slow
def test_same_content_is_not_probed_twice_and_a_changed_one_is(stub: StubModel, model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    solve(benchmark)
    work_through(started(benchmark))
    asked = stub.asked.total()
    with pytest.raises(OptionsError, match="Nothing is left to probe"):
        started(benchmark)

    row = Task.objects.get(persona__benchmark=benchmark)
    save_task(row.pk, load_task(row).model_copy(update={"initial_request": "Please write it."}), by=None)

    assert set(states(benchmark).values()) == {"missing"}
    work_through(started(benchmark))
    assert stub.asked.total() == 2 * asked
    assert of(benchmark).validated


@pytest.mark.slow
def test_another_solution_is_judged_anew_and_alone(stub: StubModel, model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    solve(benchmark)
    work_through(started(benchmark))
    solve(benchmark, "No such thing.")
    assert states(benchmark)["reference"] == "missing"

    validation = work_through(started(benchmark))

    assert list(validation.probes.values_list("kind", flat=True)) == ["reference"]
    assert states(benchmark)["reference"] == "failed"
    assert of(benchmark).why == "Not as it should be: reference solution."


@pytest.mark.slow
def test_item_that_takes_no_work_is_named_with_who_meets_it(stub: StubModel, model: ModelEndpoint) -> None:
    stub.checklist = lambda body: decisions(body, lambda _: True)
    benchmark = benchmark_of(note())
    work_through(started(benchmark))
    [(item, by), *_] = of(benchmark).met_without_work
    assert item.index == 1 and "an agent that only says “Done.”" in by
    assert states(benchmark)["done"] == "failed"
    assert states(benchmark)["alone"] == "failed"


@pytest.mark.slow
def test_without_a_reference_solution_a_task_is_not_validated(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    work_through(started(benchmark))
    assert (of(benchmark).validated, of(benchmark).why) == (False, "It has no reference solution.")


def test_scripted_models_never_count(scripted: object) -> None:
    benchmark = benchmark_of(note())
    solve(benchmark)
    for name in ("scripted-helpful", "scripted-judge"):
        endpoint(name)
    validation = start_validation(benchmark, ValidationOptions(), by=None)
    assert (validation.agent.name, validation.judge.name) == ("scripted-helpful", "scripted-judge")
    assert set(Probe.objects.values_list("scripted", flat=True)) == {True}
    Probe.objects.update(items=[{"index": 1, "text": "x", "met": True}])
    assert set(states(benchmark).values()) == {"scripted"}
    assert not of(benchmark).validated


@pytest.mark.slow
def test_answer_of_a_scripted_model_marks_its_probe(scripted: object, stub: StubModel) -> None:
    url = scripted.url  # type: ignore[attr-defined]
    endpoint("secretly", base_url=url, model="scripted-helpful", scripted=False)
    endpoint("judge", base_url=url, model="scripted-judge", scripted=False)
    benchmark = benchmark_of(note())
    work_through(started(benchmark, agent="secretly", judge="judge"))
    assert set(Probe.objects.values_list("scripted", flat=True)) == {True}


@pytest.mark.slow
def test_spent_budget_stops_it_and_a_higher_one_goes_on_without_asking_twice(
    stub: StubModel, model: ModelEndpoint
) -> None:
    benchmark = benchmark_of(note())
    solve(benchmark)

    validation = work_through(started(benchmark, calls=3))

    assert validation.state == "stopped"
    assert validation.reason == "The validation’s budget of 3 model calls is spent. Raise it to go on."
    assert stub.asked.total() == 3
    assert not due_in_probes().exists()
    resume_validation(validation, budget={})
    assert work_through(validation).state == "finished"
    assert stub.asked.total() == ModelCall.objects.count()
    assert of(benchmark).validated


def test_budget_in_tokens_stops_it(stub: StubModel, model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    solve(benchmark)
    validation = work_through(started(benchmark, cost=0, tokens=1))
    assert (validation.state, validation.budget) == ("stopped", {"tokens": 1})
    assert "budget of 1 token" in validation.reason
    assert stub.asked.total() == 1


def test_a_call_too_dear_for_what_a_validation_has_left_is_not_sent(stub: StubModel, model: ModelEndpoint) -> None:
    model.input_price, model.output_price, model.params = Decimal(1_000), Decimal(1_000), {"max_tokens": 200}
    model.save()
    benchmark = benchmark_of(note())
    solve(benchmark)

    validation = work_through(started(benchmark, cost=0.1))

    assert (validation.state, stub.asked.total()) == ("stopped", 0)
    assert validation.reason.startswith("What is left of the validation’s budget of $0.1, $0.1, does not cover the")


def test_of_two_sessions_of_a_validation_the_second_waits_for_what_the_first_keeps_free(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note("a"), note("b"))
    solve(benchmark)
    started(benchmark, cost=3)
    first, second = (claim_session(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True)[:2])
    assert first and second

    assert reserve(first, Decimal(2)) and not reserve(second, Decimal(2)) and reserve(second, Decimal(1))
    with pytest.raises(BudgetSpentError, match=r"validation’s budget of \$3, \$3, does not cover"):
        reserve(second, Decimal(4))
    first.release(state="waiting")
    assert reserve(second, Decimal(2))


@pytest.mark.django_db(transaction=True)
def test_of_two_sessions_of_a_validation_at_once_the_second_sees_what_the_first_keeps_free(
    model: ModelEndpoint,
) -> None:
    benchmark = benchmark_of(note("a"), note("b"))
    solve(benchmark)
    started(benchmark, cost=3)
    first, second = (claim_session(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True)[:2])
    assert first and second

    with transaction.atomic():
        assert reserve(first, Decimal(2))
        with pytest.raises(OperationalError, match="lock timeout"):
            beside(partial(reserve, second, Decimal(2)))
    assert not reserve(second, Decimal(2))


@pytest.mark.slow
def test_what_the_next_one_will_cost_is_told_by_what_its_models_used_before(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note("a"), note("b"))
    model.input_price, model.output_price = Decimal(1_000), Decimal(2_000)
    model.save()
    options = ValidationOptions(agent="stub", judge="stub")
    assert "What it will cost is not known: stub answered nothing here before." in told_before(benchmark, options)
    work_through(started(benchmark, task="a"))
    spent = spent_in(Session.objects.filter(probe__validation=Validation.objects.get()))
    plan = plan_validation(benchmark, options)
    likely = likely_cost(benchmark, plan)
    assert (likely.tokens.total, likely.cost) == (spent.tokens, spent.cost)  # b is as a is
    assert f"About {spent.tokens:,} tokens, ${spent.cost:.2f}, by what" in told_before(benchmark, options)


@pytest.mark.slow
def test_failing_service_stops_it_with_the_reason_and_it_can_be_resumed(stub: StubModel, model: ModelEndpoint) -> None:
    works, stub.checklist = stub.checklist, lambda body: (400, "no")
    benchmark = benchmark_of(note())
    validation = work_through(work_through(started(benchmark)))
    assert validation.state == "stopped"
    assert validation.reason
    stub.checklist = works
    resume_validation(validation)
    assert work_through(validation).state == "finished"


def test_cancelled_validation_keeps_what_was_probed_and_asks_nothing_more(
    stub: StubModel, model: ModelEndpoint
) -> None:
    validation = started(benchmark_of(note()))
    first = due_in_probes().order_by("pk").first()
    assert first is not None
    work_on_probe(first.pk)
    asked = stub.asked.total()
    cancel_validation(validation)
    assert work_through(validation).state == "cancelled"
    assert stub.asked.total() == asked
    assert Probe.objects.filter(items__isnull=False).count() == 1


@pytest.mark.slow
def test_worker_that_died_after_grading_leaves_the_rest_to_the_sweep(model: ModelEndpoint) -> None:
    from evaluation.pilots.session_work import work_on

    validation = started(benchmark_of(note()))
    for pk in list(due_in_probes().values_list("pk", flat=True)):
        work_on(pk)
    assert not Probe.objects.filter(items__isnull=False).exists()
    sweep_validations()
    validation.refresh_from_db()
    assert validation.state == "finished"


def test_only_one_validation_of_a_benchmark_runs_at_a_time(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    started(benchmark)
    with pytest.raises(OptionsError, match="running"):
        started(benchmark)


def test_probes_are_no_rehearsals_and_no_pilots(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    started(benchmark)
    assert not due_in_rehearsals().exists()
    assert not benchmark.pilots.exists()
    assert not Session.objects.filter(run__pilot__isnull=False).exists()


@pytest.mark.slow
def test_stored_results_and_solutions_are_never_changed(model: ModelEndpoint) -> None:
    benchmark = benchmark_of(note())
    solution = solve(benchmark)
    work_through(started(benchmark))
    for change in (
        lambda: Probe.objects.update(items=[]),
        lambda: ReferenceSolution.objects.filter(pk=solution.pk).update(reply="Other."),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def test_solution_needs_something_and_stays_in_the_workspace() -> None:
    benchmark = benchmark_of(note())
    row = Task.objects.select_related("persona__benchmark").get(persona__benchmark=benchmark)
    before = row.content
    for turn in (GivenTurn(" "), GivenTurn("x", files={"../a": "0" * 64}), GivenTurn("x" * 100_001)):
        with pytest.raises(OptionsError):
            write_solution(row, turn, by=None)
    write_solution(row, GivenTurn("Here."), by=None)
    row.refresh_from_db()
    assert row.content == before


@pytest.mark.slow
def test_rehearsal_in_the_agents_seat_becomes_the_solution(model: ModelEndpoint, stub: StubModel) -> None:
    benchmark = benchmark_of(note())
    row = Task.objects.select_related("persona__benchmark").get(persona__benchmark=benchmark)
    author = person(benchmark, "author")
    rehearsal = lifecycle.start_rehearsal(row, by=author, seat="agent", judge=model)
    with pytest.raises(OptionsError, match="finished"):
        record_solution(rehearsal, by=author)
    lifecycle.write_file(rehearsal.pk, "note.md", b"The fee is 12.")
    stub.satisfaction = lambda body: decisions(body, lambda _: True)
    rehearsal = after_reply(rehearsal, "With the fee.")

    solution = record_solution(rehearsal, by=author)

    assert (solution.recorded, solution.reply, list(solution.files)) == (True, "With the fee.", ["note.md"])
    work_through(started(benchmark))
    assert states(benchmark)["reference"] == "passed"


@pytest.mark.slow
def test_command_says_what_is_validated_and_exits_by_it(
    model: ModelEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = benchmark_of(note())
    options = {"benchmark": benchmark.slug, "agent": "stub", "judge": "stub"}
    with pytest.raises(SystemExit) as stopped:
        call_command("probe", "--json", "--dry-run", **options)
    assert stopped.value.code == 1
    assert json.loads(capsys.readouterr().out)["validation"] is None
    solve(benchmark)
    validation = started(benchmark)
    work_through(validation)
    call_command("probe", "--json", **options)
    (found,) = json.loads(capsys.readouterr().out)["tasks"]
    assert (found["validated"], {each["state"] for each in found["probes"]}) == (True, {"passed"})
    with pytest.raises(SystemExit) as stopped:
        call_command("probe", task="none", **options)
    assert stopped.value.code == 2

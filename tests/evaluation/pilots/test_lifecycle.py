from __future__ import annotations

import pytest

from evaluation.models import Pilot, Session
from evaluation.pilots.control import control_pilot
from evaluation.results.scores import read_scores
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.models import Revision, Task, TaskState
from tests.evaluation.builders import benchmark_of, pilot_of, rubric, task
from tests.factories import mark_approved

pytestmark = pytest.mark.django_db


def plan(pilot: Pilot) -> list[tuple[int, list[str]]]:
    return [
        (run.number, [session.revision.task.task_id for session in run.sessions.order_by("position")])
        for run in pilot.runs.order_by("number")
    ]


def test_pilot_runs_the_episode_in_order_once_per_run():
    benchmark = benchmark_of(task("b"), task("a"), task("c", "b", checklist=(rubric("x"),)))

    pilot = pilot_of(benchmark, runs=2)

    assert plan(pilot) == [(1, ["b", "a", "c"]), (2, ["b", "a", "c"])]
    assert (pilot.number, pilot.state, pilot.scripted, pilot.drafts) == (1, "waiting", True, True)
    assert set(Session.objects.values_list("state", "intent_count")) == {("waiting", 2)}


def test_dependencies_of_a_chosen_task_run_too():
    benchmark = benchmark_of(task("a"), task("b"), task("c", "a", checklist=(rubric("x"),)), task("d"))

    assert plan(pilot_of(benchmark, tasks=["c"])) == [(1, ["a", "c"])]


def test_pilot_keeps_its_revisions():
    benchmark = benchmark_of(task("a"))
    mark_approved()

    pilot = pilot_of(benchmark)

    assert pilot.drafts is False
    assert Session.objects.get().revision == Revision.objects.get()


def test_retired_task_runs_only_if_chosen():
    benchmark = benchmark_of(task("a"), task("b"))
    Task.objects.filter(task_id="b").update(state=TaskState.RETIRED)

    assert plan(pilot_of(benchmark)) == [(1, ["a"])]
    assert plan(pilot_of(benchmark, tasks=["b"])) == [(1, ["b"])]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"persona": "nobody"}, "persona"),
        ({"tasks": ["a", "nothing"]}, "tasks"),
        ({"runs": 0}, "runs"),
        ({"limits": {"moons": 3}}, "limits"),
        ({"limits": {"turns": 31}}, "limits"),
        ({"limits": {"tokens": -1}}, "limits"),
    ],
)
def test_invalid_choice_names_its_field_and_stores_nothing(options: dict, field: str):
    benchmark = benchmark_of(task("a"))

    with pytest.raises(OptionsError) as refused:
        pilot_of(benchmark, **options)

    assert (refused.value.field, Pilot.objects.count()) == (field, 0)


def test_empty_episode_cannot_run():
    with pytest.raises(OptionsError, match="empty"):
        pilot_of(benchmark_of())


def test_every_persona_has_its_own_runs():
    benchmark = benchmark_of(task("a"), persona=PersonaSpec(user_id="one"))
    benchmark_of(task("b"), persona=PersonaSpec(user_id="Two"), into=benchmark)

    pilot = pilot_of(benchmark)

    assert [run.persona_revision.persona.user_id for run in pilot.runs.all()] == ["one", "Two"]


def test_cancelled_pilot_stays_cancelled():
    pilot = pilot_of(benchmark_of(task("a"), task("b")))

    cancelled = control_pilot(pilot.pk, "cancel", by=None)

    assert cancelled.state == "cancelled"
    assert set(Session.objects.values_list("state", flat=True)) == {"cancelled"}
    assert read_scores(cancelled)["strict"]["proc"] is None


@pytest.mark.parametrize("tasks", [1, 3])
def test_queries_of_starting_do_not_grow_with_tasks(tasks: int, django_assert_max_num_queries):
    benchmark = benchmark_of(*(task(f"t{n}") for n in range(tasks)))

    with django_assert_max_num_queries(30):
        pilot_of(benchmark)

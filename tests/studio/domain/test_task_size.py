from __future__ import annotations

import time

import pytest
from django.db import IntegrityError

from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.problems import Report
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec
from studio.drafts.validate import DraftError, validate_storable
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, rewrite


def intents(count: int) -> tuple[HiddenIntent, ...]:
    return tuple(
        HiddenIntent(uid=str(n), content=f"Wants thing {n} in the report, by page {n + 7}.") for n in range(count)
    )


def items(count: int) -> tuple[ChecklistItem, ...]:
    return tuple(ChecklistItem(uid=str(n), criterion=f"The report names thing {n * 3} on time.") for n in range(count))


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [("title", "x" * 301, "300"), ("intents", intents(301), "300"), ("checklist", items(501), "500")],
)
def test_task_beyond_a_limit_is_not_stored_and_the_field_is_named(field: str, value: object, limit: str) -> None:
    task = TaskSpec(task_id="t", title="Title").model_copy(update={field: value})

    with pytest.raises(DraftError, match=limit) as refusal:
        validate_storable(task)

    assert refusal.value.field == field


def test_largest_allowed_task_has_no_size_problem() -> None:
    task = TaskSpec(task_id="t", title="x" * 300, intents=intents(300), checklist=items(500))

    assert list(task.size_problems()) == []


@pytest.mark.slow
def test_spent_time_budget_stops_the_checks_and_is_an_error_of_each_unchecked_task() -> None:
    tasks = tuple(
        TaskSpec(task_id=name, title="Report", initial_request="Write it.", intents=intents(300), checklist=items(500))
        for name in ("a", "b")
    )
    episode = EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks)

    started = time.process_time()
    findings = find_problems(episode, seconds=0.2)

    assert time.process_time() - started < 2
    stopped = [each for each in findings if each.rule == "checks-stopped"]
    assert [(each.task, each.severity) for each in stopped] == [("a", "error"), ("b", "error")]
    assert "Checks stopped after 0.2 s" in stopped[0].message


@pytest.mark.parametrize(
    "number", ["9" * 4_301, "0x" + "f" * 4_000, "0b" + "1" * 20_000, "1" + ":59" * 40_000, "1." + "0" * 9_000]
)
def test_yaml_number_of_thousands_of_digits_is_refused_with_its_line(number: str) -> None:
    report = Report("task.yaml")

    parse_yaml(f"title: x\nweight: {number}\n".encode(), report)

    assert [error.line for error in report.errors] == [2]
    assert "at most 3,500 are read" in report.errors[0].message


def test_yaml_number_within_the_limit_can_be_written_in_decimal() -> None:
    node = parse_yaml(f"n: 0x{'f' * 3_490}\n".encode(), Report("task.yaml"))

    assert node is not None
    assert len(str(node.value["n"])) > 4_000


@pytest.mark.django_db
def test_database_refuses_a_title_beyond_the_limit() -> None:
    task = a_task(a_persona(BenchmarkFactory(), by=UserFactory()), by=UserFactory())

    with pytest.raises(IntegrityError, match="task_title_length"):
        rewrite([task], title="x" * 301)

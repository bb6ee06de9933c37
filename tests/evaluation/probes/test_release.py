"""Validation in releases: what blocks one, what its card says; and what rules say of every saved version."""

from __future__ import annotations

import pytest

from evaluation.models import Probe
from evaluation.probes.rules import probe_rules, sweep_rules
from evaluation.probes.solutions import write_solution
from evaluation.probes.standing import TaskStanding, standings
from evaluation.protocol.given import GivenTurn
from evaluation.releases.blocker_kinds import readiness_of
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.documents.data_card import data_card_file
from evaluation.releases.readiness import Blocker
from studio.domain.task import ExactCheck, TaskSpec
from studio.drafts.load import load_task
from studio.models import Benchmark, Task
from studio.tasks.save import save_task
from tests.evaluation.builders import benchmark_of, release_blockers, rule, task
from tests.evaluation.factories import person

pytestmark = pytest.mark.django_db


def checked(name: str, text: str = "12 crowns") -> TaskSpec:
    check = ExactCheck(kind="reply_contains", text=text)
    return task(name, checklist=(rule("The reply says it.", check),))


def row_of(benchmark: Benchmark, name: str) -> Task:
    return Task.objects.select_related("persona__benchmark").get(persona__benchmark=benchmark, task_id=name)


def probe_all(benchmark: Benchmark) -> None:
    probe_rules(Task.objects.filter(persona__benchmark=benchmark).values_list("pk", flat=True))


def of(benchmark: Benchmark, name: str) -> TaskStanding:
    return next(each for each in standings(benchmark) if each.task.task_id == name)


def states(benchmark: Benchmark, name: str) -> dict[str, str]:
    return {each.kind.name: each.state for each in of(benchmark, name).kinds}


def validation_blockers(benchmark: Benchmark) -> list[Blocker]:
    found = [each for each in release_blockers(benchmark) if each.code == "task-not-validated"]
    counted = [each for kind in readiness_of(benchmark).kinds if kind.code == "task-not-validated" for each in kind[:]]
    assert counted == found
    return found


@pytest.mark.slow
def test_rules_are_tried_on_each_saved_version_without_a_model_and_once() -> None:
    benchmark = benchmark_of(checked("a"), task("b"))
    write_solution(row_of(benchmark, "a"), GivenTurn("It is 12 crowns."), by=None)
    sweep_rules()
    assert states(benchmark, "a") == dict.fromkeys(("told", "alone"), "missing") | dict.fromkeys(
        ("reference", "nothing", "repeats", "done", "asks", "other"), "passed"
    )
    stored = Probe.objects.count()
    sweep_rules()
    probe_all(benchmark)
    assert Probe.objects.count() == stored

    row = row_of(benchmark, "a")
    spec = load_task(row)
    easy = rule("It names the note.", ExactCheck(kind="reply_contains", text="the note a."))
    save_task(row.pk, spec.model_copy(update={"checklist": (*spec.checklist, easy)}), by=None)
    sweep_rules()

    assert states(benchmark, "a")["repeats"] == "failed"
    [(item, by)] = of(benchmark, "a").met_without_work
    assert (item.index, by) == (2, ["an agent that repeats the request"])


def test_task_that_is_not_validated_blocks_a_release_where_that_is_wanted() -> None:
    benchmark = benchmark_of(checked("a"), task("b"))
    assert validation_blockers(benchmark) == []
    benchmark.validated_releases = True
    benchmark.save()

    (blocker,) = validation_blockers(benchmark)

    assert (blocker.task, blocker.acceptable) == ("a", True)
    assert blocker.message == "“a” is not validated. Nothing has been probed yet. It has no reference solution."


def card_of(benchmark: Benchmark, version: str) -> str:
    author = person(benchmark, "release_manager")
    release = cut_release(benchmark, ReleaseOptions(version=version, accept="A first look."), by=author)
    return " ".join(data_card_file(release.manifest).decode().split())


@pytest.mark.slow
def test_card_says_which_tasks_are_validated_and_why_others_are_not() -> None:
    benchmark = benchmark_of(checked("a"), checked("c", text="by ferry"))
    assert "Not validated: no feasibility check" in card_of(benchmark, "1.0")
    write_solution(row_of(benchmark, "a"), GivenTurn("It is 12 crowns."), by=None)
    probe_all(benchmark)
    for kind, met in (("told", True), ("alone", False)):
        items = [{"index": 1, "text": "The reply says the fee.", "met": met}]
        row = row_of(benchmark, "a")
        Probe.objects.create(task=row, content=row.content, kind=kind, items=items)

    card = card_of(benchmark, "1.1")

    assert "Of 2 tasks that score, 1 are validated" in card
    assert "Not validated: - clerk" in card
    assert "Not probed yet: told its own intents, the request alone, reference solution." in card

"""Which items are planted: of another persona, far from the record, each once."""

from __future__ import annotations

import pytest

from annotations.packets import NO, YES
from evaluation.audits.planted_questions import Owner, Planter
from studio.domain.options import OptionsError
from studio.models import Task
from tests.annotations.builders import make_decision, make_session
from tests.evaluation.builders import rubric
from tests.factories import BenchmarkFactory, a_persona, a_task

pytestmark = pytest.mark.django_db

JUDGE = {"intent-1": "inferred", "item-1": "yes"}
OVEN, FLOUR, STRIPES = "Ovens stay below ninety.", "Flour gets sieved twice.", "Zebras keep their stripes."
RECORDED = "Send papers by five tomorrow."
"""What the record of each session says."""


def two_tasks() -> tuple[Task, Task]:
    """Of one persona: the one whose sessions are audited, and another."""
    clerk = a_persona(BenchmarkFactory(), "clerk")
    return a_task(clerk, "own", checklist=(rubric("Own papers count."),)), a_task(
        clerk, "near", checklist=(rubric(STRIPES), rubric(RECORDED))
    )


def planted(task: Task, *, names: tuple[str, ...] = (), seed: int = 1, count: int = 2) -> list[str]:
    sessions = [make_session(number, JUDGE) for number in (1, 2)]
    owners = dict.fromkeys(("session:1", "session:2"), Owner(task.pk, task.persona_id))
    found = Planter(task.persona.benchmark, owners, names, seed).plant(sessions, count)
    for row in found:
        assert all((row.sealed.answers[key], answer) == (YES, NO) for key, answer in row.known.items())
    return [each.subject for row in found for each in row.content.questions if each.key in row.known]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_items_of_another_persona_are_planted_where_there_are_any_and_none_twice(seed: int) -> None:
    own, _ = two_tasks()
    a_task(a_persona(own.persona.benchmark, "baker"), "far", checklist=(rubric(OVEN), rubric(FLOUR)))

    assert sorted(planted(own, seed=seed)) == [FLOUR, OVEN]
    assert len(planted(own, seed=seed, count=1)) == 1


def test_else_those_of_another_task_that_the_record_does_not_hold() -> None:
    own, _ = two_tasks()

    assert planted(own) == [STRIPES]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_planted_items_stand_beside_decisions_on_items_first(seed: int) -> None:
    own, _ = two_tasks()
    kinds = enumerate(("follow_up", "checklist", "satisfaction"), start=1)
    decisions = [make_decision(number, kind=kind) for number, kind in kinds]
    owners = {row.source: Owner(own.pk, own.persona_id) for row in decisions}

    *asked, found = Planter(own.persona.benchmark, owners, (), seed).plant(decisions, 1)

    assert asked == decisions
    assert (found.content.kind, found.content.subject, found.origin) == ("checklist", STRIPES, "verdict:2")
    assert (found.sealed.answers, found.known, found.control) == ({"decision": YES}, {"decision": NO}, "planted")


def test_names_of_models_are_hidden_in_what_is_planted() -> None:
    own, _ = two_tasks()

    assert set(planted(own, names=("Zebras",))) == {"▮▮▮ keep their stripes."}


def test_nothing_is_planted_where_the_record_holds_every_item() -> None:
    own = a_task(a_persona(BenchmarkFactory(), "clerk"), "own", checklist=(rubric(STRIPES),))
    a_task(own.persona, "near", checklist=(rubric(RECORDED),))

    with pytest.raises(OptionsError, match="Nothing can be planted"):
        planted(own)

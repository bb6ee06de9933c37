"""The plan of an episode, and deviations from it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.plan import PAPER_PLAN, PlacedTask, Plan, episode_shape, find_gaps, shape_of_tasks
from studio.domain.task import Dependency, TaskSpec, Trigger

SMALL = Plan(sessions=5, groups=1, group_least=2, group_most=3, standalone=2, signals=1)


def placed_tasks(*names: str, **needs: str) -> list[PlacedTask]:
    """One-letter tasks in run order; ``b="a"`` makes b depend on a; a capital letter is started by a signal."""
    return [PlacedTask(name, tuple(needs.get(name, "")), by_signal=name.isupper()) for name in names]


def kinds_of(gaps):
    return [gap.kind for gap in gaps]


def test_default_plan_is_the_papers():
    assert PAPER_PLAN.to_json() == {
        "sessions": 20, "groups": 6, "group_least": 2, "group_most": 3, "standalone": 5, "signals": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sessions": 30}, "6 groups of 2 to 3 tasks and 5 standalone make 17 to 23 tasks, not 30."),
        ({"groups": 0}, "0 groups of 2 to 3 tasks and 5 standalone make 5 tasks, not 20."),
        ({"group_least": 4}, "A group cannot have at least 4 and at most 3 tasks."),
        ({"signals": 21}, "Of 20 tasks, 21 cannot be started by an event."),
        ({}, ""),
    ],
)
def test_impossible_plan_is_rejected(change, problem):
    assert Plan.model_construct(**(PAPER_PLAN.to_json() | change)).problem() == problem
    if problem:
        with pytest.raises(ValidationError, match=problem[:20]):
            Plan(**(PAPER_PLAN.to_json() | change))


def test_episode_that_matches_its_plan_has_no_gap():
    assert find_gaps(shape_of_tasks(placed_tasks(*"abcdE", b="a", d="b")), SMALL) == []


def test_groups_are_connected_tasks_and_named_groups():
    shape = shape_of_tasks(
        [
            *placed_tasks(*"abcd", c="ab"),
            PlacedTask("e", group="Move"),
            PlacedTask("f", group="Move"),
            PlacedTask("g", group="x"),
        ]
    )

    assert shape.groups == (("a", "b", "c"), ("e", "f"), ("g",))
    assert shape.standalone == ("d",)


def test_unfinished_episode_is_told_what_to_write():
    gaps = find_gaps(shape_of_tasks(placed_tasks(*"ab", b="a")), SMALL)

    assert kinds_of(gaps) == ["sessions", "standalone", "signals"]
    assert all(gap.unfinished for gap in gaps)
    assert [gap.message for gap in gaps] == [
        "2 of 5 planned tasks written.",
        "None of 2 planned standalone tasks written.",
        "No task is started by an event.",
    ]
    assert gaps[0].fix == "Write 3 more tasks."


def test_empty_episode_lacks_everything():
    gaps = find_gaps(shape_of_tasks([]), PAPER_PLAN)

    assert kinds_of(gaps) == ["sessions", "groups", "standalone", "signals"]
    assert gaps[0].message == "None of 20 planned tasks written."


def test_gaps_name_the_tasks_of_oversized_groups():
    gaps = find_gaps(shape_of_tasks(placed_tasks(*"abcdeFgh", b="a", c="b", d="c", F="e", h="g")), SMALL)

    assert [(gap.kind, gap.tasks, gap.unfinished) for gap in gaps] == [
        ("sessions", (), False),
        ("groups", (), False),
        ("group-size", ("a", "b", "c", "d"), False),
        ("standalone", (), False),
    ]
    assert gaps[2].message == "A group has 4 tasks, but the plan allows at most 3."


def test_dependency_on_an_unplaced_task_forms_no_group():
    assert shape_of_tasks(placed_tasks("b", b="a")).groups == ()


def test_shape_of_a_spec_covers_its_placed_tasks():
    tasks = (
        TaskSpec(task_id="a", trigger=Trigger(kind="feed")),
        TaskSpec(task_id="b", depends_on=(Dependency(task_id="a"),)),
        TaskSpec(task_id="c"),
    )
    episode = EpisodeSpec(
        episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks, unplaced=(TaskSpec(task_id="z"),)
    )

    shape = episode_shape(episode)

    assert (shape.sessions, shape.groups, shape.standalone, shape.signals) == (
        ("a", "b", "c"), (("a", "b"),), ("c",), ("a",),
    )  # fmt: skip

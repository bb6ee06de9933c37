"""What an episode shall hold, and what is said where one departs from it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.plan import PAPER_PLAN, PlacedTask, Plan, episode_shape, find_gaps, plan_problem, shape_of_tasks
from studio.domain.task import Dependency, TaskSpec, Trigger

SMALL = Plan(sessions=5, groups=1, group_least=2, group_most=3, standalone=2, signals=1)


def places(*names: str, **needs: str) -> list[PlacedTask]:
    """Tasks of one letter in run order; ``b="a"`` lets b build on a; a capital letter begins with a signal."""
    return [PlacedTask(name, tuple(needs.get(name, "")), by_signal=name.isupper()) for name in names]


def kinds(found):
    return [gap.kind for gap in found]


def test_the_papers_plan_is_the_default_and_adds_up():
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
def test_a_plan_no_episode_could_follow_is_refused_with_the_sum(change, problem):
    assert plan_problem(**(PAPER_PLAN.to_json() | change)) == problem
    if problem:
        with pytest.raises(ValidationError, match=problem[:20]):
            Plan(**(PAPER_PLAN.to_json() | change))


def test_an_episode_that_follows_its_plan_has_no_gap():
    assert find_gaps(shape_of_tasks(places(*"abcdE", b="a", d="b")), SMALL) == []


def test_what_hangs_together_is_a_group_whatever_the_direction_and_a_named_group_counts_too():
    found = shape_of_tasks(
        [
            *places(*"abcd", c="ab"),
            PlacedTask("e", group="Move"),
            PlacedTask("f", group="Move"),
            PlacedTask("g", group="x"),
        ]
    )

    assert found.groups == (("a", "b", "c"), ("e", "f"), ("g",))
    assert found.standalone == ("d",)


def test_an_unfinished_episode_is_told_what_to_write_and_not_blamed():
    found = find_gaps(shape_of_tasks(places(*"ab", b="a")), SMALL)

    assert kinds(found) == ["sessions", "standalone", "signals"]
    assert all(gap.unfinished for gap in found)
    assert [gap.message for gap in found] == [
        "2 of 5 planned tasks written.",
        "None of 2 planned standalone tasks written.",
        "No task is started by an event.",
    ]
    assert found[0].fix == "Write 3 more tasks."


def test_an_empty_episode_misses_everything():
    found = find_gaps(shape_of_tasks([]), PAPER_PLAN)

    assert kinds(found) == ["sessions", "groups", "standalone", "signals"]
    assert found[0].message == "None of 20 planned tasks written."


def test_too_many_and_too_large_groups_name_their_tasks():
    found = find_gaps(shape_of_tasks(places(*"abcdeFgh", b="a", c="b", d="c", F="e", h="g")), SMALL)

    assert [(gap.kind, gap.tasks, gap.unfinished) for gap in found] == [
        ("sessions", (), False),
        ("groups", (), False),
        ("group-size", ("a", "b", "c", "d"), False),
        ("standalone", (), False),
    ]
    assert found[2].message == "A group has 4 tasks, but the plan allows at most 3."


def test_a_dependency_on_an_unplaced_task_makes_no_group():
    assert shape_of_tasks(places("b", b="a")).groups == ()


def test_a_spec_has_the_shape_of_its_placed_tasks():
    tasks = (
        TaskSpec(task_id="a", trigger=Trigger(kind="feed")),
        TaskSpec(task_id="b", depends_on=(Dependency(task_id="a"),)),
        TaskSpec(task_id="c"),
    )
    episode = EpisodeSpec(
        episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks, unplaced=(TaskSpec(task_id="z"),)
    )

    found = episode_shape(episode)

    assert (found.sessions, found.groups, found.standalone, found.signals) == (
        ("a", "b", "c"), (("a", "b"),), ("c",), ("a",),
    )  # fmt: skip

"""The planner: tasks, dependencies and a mode become chains of sessions with their starts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.protocol.modes import (
    NOTHING_TO_RUN,
    TEXTS,
    Arm,
    Chain,
    PilotMode,
    PlanError,
    PlannedTask,
    RunPlan,
    Start,
    groups_of,
    plan_run,
    with_dependencies,
)

LAW = [PlannedTask(name) for name in "abcd"] + [PlannedTask("e", ("a", "c")), PlannedTask("f", ("d",))]


@st.composite
def episodes(draw: st.DrawFn) -> list[PlannedTask]:
    """Each task depends on some of those before it."""
    names = [f"t{at}" for at in range(draw(st.integers(1, 9)))]
    return [
        PlannedTask(name, tuple(draw(st.lists(st.sampled_from(names[:at]), unique=True, max_size=3))) if at else ())
        for at, name in enumerate(names)
    ]


def in_order(names: tuple[str, ...], tasks: list[PlannedTask]) -> bool:
    order = [task.name for task in tasks]
    return list(names) == sorted(names, key=order.index)


@given(episodes())
def test_an_episode_is_one_chain_of_all_tasks_in_order(tasks):
    assert plan_run(tasks, PilotMode.EPISODE) == RunPlan((Chain(tuple(task.name for task in tasks)),))


@pytest.mark.slow
@given(episodes())
def test_groups_hold_every_task_once_with_all_that_it_depends_on_before_it(tasks):
    plan = plan_run(tasks, PilotMode.GROUPS)
    needs = {task.name: task.depends_on for task in tasks}
    assert sorted(plan.sessions) == sorted(needs)
    for chain in plan.chains:
        assert chain.start == Start.INITIAL
        assert in_order(chain.tasks, tasks)
        for at, name in enumerate(chain.tasks):
            assert set(needs[name]) <= set(chain.tasks[:at])


@pytest.mark.slow
@given(episodes(), st.data())
def test_one_task_runs_after_exactly_what_it_depends_on(tasks, data):
    name = data.draw(st.sampled_from(tasks)).name
    (chain,) = plan_run(tasks, PilotMode.TASK, [name]).chains
    assert chain.tasks[-1] == name
    assert set(chain.tasks) == with_dependencies([name], tasks)
    assert in_order(chain.tasks, tasks)


@pytest.mark.slow
@given(episodes())
def test_an_ablation_pairs_each_last_task_with_itself_alone(tasks):
    groups = [group for group in groups_of(tasks) if len(group) > 1]
    chains = plan_run(tasks, PilotMode.ABLATION).chains
    needed = {need for task in tasks for need in task.depends_on}
    assert [chain.tasks for chain in chains if chain.arm == Arm.WITH] == groups
    alone = [chain.tasks for chain in chains if chain.arm == Arm.WITHOUT]
    assert alone == [(name,) for group in groups for name in group if name not in needed]
    assert all(chain.start == Start.INITIAL for chain in chains)


@pytest.mark.slow
@given(episodes(), st.data())
def test_changed_runs_every_task_or_takes_it_over_and_nothing_runs_on_an_old_dependency(tasks, data):
    stale = data.draw(st.sets(st.sampled_from([task.name for task in tasks]), min_size=1))
    plan = plan_run(tasks, PilotMode.CHANGED, stale=stale)
    order = [task.name for task in tasks]
    runs = set(plan.sessions)
    assert stale <= runs
    assert sorted([*plan.sessions, *plan.taken]) == sorted(order)
    for chain in plan.chains:
        assert in_order(chain.tasks, tasks)
        assert chain.start == Start.BEFORE
        first = order.index(chain.tasks[0])
        for task in tasks:
            if task.name in chain.tasks:
                for need in task.depends_on:  # run again before it in this chain, or in the state it starts from
                    assert need in chain.tasks or (need in plan.taken and order.index(need) < first)
    for task in tasks:
        if task.name in plan.taken:
            assert not set(task.depends_on) & runs


@pytest.mark.slow
@given(episodes(), st.sampled_from([mode for mode in PilotMode if mode != PilotMode.TASK]), st.data())
def test_chosen_tasks_bring_what_they_depend_on_and_nothing_else(tasks, mode, data):
    chosen = data.draw(st.lists(st.sampled_from([task.name for task in tasks]), min_size=1))
    plan = plan_run(tasks, mode, chosen, stale=[chosen[0]])
    assert set(plan.sessions) | set(plan.taken) <= with_dependencies(chosen, tasks)


@pytest.mark.parametrize(
    ("stale", "chains", "taken"),
    [
        ({"f"}, [("f",)], "abcde"),
        ({"d"}, [("d", "f")], "abce"),
        ({"a"}, [("a", "c", "e")], "bdf"),  # c came after the state before a, and e needs it
        ({"c", "b"}, [("c", "e"), ("b",)], "adf"),
    ],
)
def test_an_edit_runs_the_fewest_tasks_again(stale, chains, taken):
    plan = plan_run(LAW, PilotMode.CHANGED, stale=stale)
    assert sorted(chain.tasks for chain in plan.chains) == sorted(chains)
    assert plan.taken == tuple(taken)


@pytest.mark.parametrize("chosen", [(), ("a", "b")])
def test_the_mode_of_one_task_runs_no_other_number_of_tasks(chosen):
    with pytest.raises(PlanError, match="exactly one"):
        plan_run(LAW, PilotMode.TASK, chosen)


@pytest.mark.parametrize(("mode", "chosen"), [(PilotMode.ABLATION, ("a",)), (PilotMode.CHANGED, ())])
def test_a_mode_that_has_nothing_to_run_can_say_why(mode, chosen):
    assert not plan_run(LAW, mode, chosen).chains
    assert NOTHING_TO_RUN[mode]


def test_every_mode_is_explained_with_its_cost():
    assert set(TEXTS) == set(PilotMode)
    assert all(text.sentence and text.cost for text in TEXTS.values())

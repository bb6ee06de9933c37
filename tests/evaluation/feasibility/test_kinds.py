"""What each kind of probe must earn, or may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evaluation.feasibility.kinds import IDLE_KINDS, KINDS, Outcome, ProbedItem, kinds_for
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, Dependency, TaskSpec

weights = st.floats(0.1, 10)
items = st.lists(
    st.builds(ProbedItem, st.just(1), st.just("x"), weights, st.sampled_from([True, False, None])), min_size=1
)
kinds = st.sampled_from(list(KINDS.values()))
shares = st.floats(0, 1)


def episode_of(*tasks: TaskSpec) -> EpisodeSpec:
    return EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=tasks)


def scored(task_id: str, **fields: object) -> TaskSpec:
    item = ChecklistItem(uid="11111111-1111-4111-8111-111111111111", criterion="The sheet has a title.")
    return TaskSpec(task_id=task_id, checklist=(item,), **fields)  # type: ignore[arg-type]


def one(kind: str, met: bool | None, **limits: float) -> bool | None:
    return Outcome(KINDS[kind], [ProbedItem(1, "x", 1.0, met)], limits).passed


def test_reference_solution_must_earn_every_item_and_idle_agents_none() -> None:
    assert one("reference", True) is True
    assert one("reference", False) is False
    for kind in IDLE_KINDS:
        assert one(kind, False) is True
        assert one(kind, True) is False


def test_candidate_with_the_request_alone_may_earn_as_much_as_the_limit_says() -> None:
    half = [ProbedItem(1, "x", 1.0, True), ProbedItem(2, "y", 1.0, False)]
    assert Outcome(KINDS["alone"], half, {}).passed is True
    assert Outcome(KINDS["alone"], half, {"probe_alone": 0.4}).passed is False
    assert Outcome(KINDS["told"], half, {}).passed is False
    assert Outcome(KINDS["told"], half, {"probe_told": 0.5}).passed is True


def test_probe_without_items_says_nothing() -> None:
    assert Outcome(KINDS["told"], [], {}).passed is None


@given(kinds, items, shares)
def test_undecided_items_leave_it_open_only_while_they_could_change_it(
    kind: object, found: list[ProbedItem], share: float
) -> None:
    assert isinstance(kind, type(KINDS["told"]))
    limits = {kind.limit.name: share}
    said = Outcome(kind, found, limits).passed
    decided = [
        Outcome(
            kind, [ProbedItem(1, "x", item.weight, fill if item.met is None else item.met) for item in found], limits
        )
        for fill in (True, False)
    ]
    ends = {outcome.passed for outcome in decided}
    assert said == (ends.pop() if len(ends) == 1 else None)


@given(kinds, items, shares, st.integers(0, 50))
def test_another_item_met_never_hurts_who_must_earn_and_never_helps_who_must_not(
    kind: object, found: list[ProbedItem], share: float, at: int
) -> None:
    assert isinstance(kind, type(KINDS["told"]))
    limits, place = {kind.limit.name: share}, at % len(found)
    better = [*found[:place], ProbedItem(1, "x", found[place].weight, True), *found[place + 1 :]]
    before, after = (Outcome(kind, each, limits) for each in (found, better))
    assert after.earned >= before.earned
    if before.passed is kind.limit.at_least:
        assert after.passed is kind.limit.at_least


@given(kinds, items)
def test_what_all_met_items_earn_is_exactly_everything(kind: object, found: list[ProbedItem]) -> None:
    assert isinstance(kind, type(KINDS["told"]))
    met = [ProbedItem(1, "x", item.weight, True) for item in found]
    assert Outcome(kind, met, {}).earned == 1.0


def test_troubling_items_are_those_that_are_not_as_they_should_be() -> None:
    found = [ProbedItem(1, "a", met=True), ProbedItem(2, "b", met=False), ProbedItem(3, "c")]
    assert [item.text for item in Outcome(KINDS["reference"], found, {}).troubling] == ["b"]
    assert [item.text for item in Outcome(KINDS["done"], found, {}).troubling] == ["a"]


def test_setup_tasks_are_exempt_and_steps_that_have_nothing_to_go_by_are_left_out() -> None:
    setup, alone = TaskSpec(task_id="setup"), scored("alone")
    assert kinds_for(setup, episode_of(setup, alone)) == ()
    assert "built-on" not in {kind.name for kind in kinds_for(alone, episode_of(setup, alone))}
    assert "other" not in {kind.name for kind in kinds_for(alone, episode_of(alone))}
    assert "pastes" not in {kind.name for kind in kinds_for(alone, episode_of(setup, alone))}
    later = scored("later", depends_on=(Dependency(task_id="setup"),))
    assert "built-on" in {kind.name for kind in kinds_for(later, episode_of(setup, later))}

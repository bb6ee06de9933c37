"""Scores of agents corrected by what people decided in whole sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from annotations.campaigns import PopulationRow
from annotations.scores import CorrectedAgentScores, corrected_scores
from tests.annotations.builders import make_benchmark, make_person, make_session, open_campaign, record_judgment

pytestmark = pytest.mark.django_db

JUDGE = {"intent-1": "completed", "item-1": "yes", "item-2": "no"}
SHARES = {"intent-1": 0.5, "item-1": 0.5, "item-2": 0.25}
OPTIONS = {"name": "x", "source": "pilot:1", "seed": 1, "scripted": False, "unit": "session", "overlap": 1}


def audited(rows: Sequence[PopulationRow], people: Mapping[int, Mapping[str, str]]) -> dict[str, CorrectedAgentScores]:
    """By agent. ``people``: by number of the session, what they decided otherwise than the judge."""
    benchmark = make_benchmark()
    ana = make_person(benchmark, "auditor")
    sessions = [make_session(number, JUDGE, shares=SHARES) for number in people]
    campaign = open_campaign(benchmark, sessions, population=rows, **OPTIONS)
    for packet, changed in zip(campaign.packets.order_by("position"), people.values(), strict=True):
        record_judgment(packet, auditor=ana, answer="answered", answers={**JUDGE, **changed}, number=1)
    return {row.agent: row for row in corrected_scores(campaign)}


def population(
    *numbers: int, agent: str = "swift", stratum: str = "s", comp: float | None = 0.5
) -> list[PopulationRow]:
    return [PopulationRow(f"session:{number}", agent, stratum, 0.5, comp) for number in numbers]


def test_an_answer_that_people_gave_otherwise_takes_or_gives_its_share_of_the_score():
    rows = population(1, 2, 3)

    found = audited(rows, {1: {"item-1": "no"}, 2: {"item-2": "yes", "intent-1": "provided"}})["swift"]

    assert found.comp is not None and found.proc is not None
    assert (found.comp.raw.value, found.comp.sessions, found.comp.audited) == (0.5, 3, 2)
    assert found.comp.corrected is not None and found.comp.people_alone is not None
    assert found.comp.corrected.value == pytest.approx((0.0 + 0.75) / 2)
    assert found.comp.people_alone.value == pytest.approx((0.0 + 0.75) / 2)
    assert found.proc.corrected is not None
    assert found.proc.corrected.value == pytest.approx((0.5 + 0.0) / 2)


def test_another_status_with_the_same_credit_changes_no_score():
    found = audited(population(1, 2), {1: {"intent-1": "inferred"}, 2: {}})["swift"]

    assert found.proc is not None and found.proc.corrected is not None
    assert found.proc.corrected.value == 0.5


@pytest.mark.parametrize("answer", ["unsure", "broken"])
def test_a_session_of_which_something_was_not_decided_corrects_nothing(answer: str):
    found = audited(population(1, 2), {1: {}, 2: {"item-2": answer}})["swift"]

    assert found.comp is not None
    assert (found.comp.audited, found.comp.corrected, found.comp.people_alone) == (1, None, None)


def test_every_stratum_needs_two_audited_sessions_and_people_alone_are_told_of_one_stratum():
    rows = [*population(1, 2), *population(3, 4, stratum="t")]

    short = audited(rows, {1: {}, 2: {}, 3: {}})["swift"].comp
    whole = audited(rows, {1: {}, 2: {}, 3: {}, 4: {"item-1": "no"}})["swift"].comp

    assert short is not None and (short.audited, short.corrected) == (3, None)
    assert whole is not None and whole.corrected is not None and whole.people_alone is None
    assert whole.corrected.value == pytest.approx((0.5 + 0.25) / 2)


def test_a_single_session_may_have_scored_anything_and_one_without_a_score_none():
    [one] = audited(population(1), {1: {}}).values()
    [none] = audited(population(1, comp=None), {1: {}}).values()

    assert one.comp is not None and one.comp.raw.text == "50.0 (0.0–100.0)"
    assert none.comp is None and none.proc is not None


def test_ranks_move_with_the_correction_and_are_told_once_all_agents_have_one():
    rows = [*population(1, 2, comp=0.75), *population(3, 4, agent="slow"), *population(5, agent="new", comp=0.25)]

    moved = audited(rows[:4], {1: {"item-1": "no"}, 2: {"item-1": "no"}, 3: {}, 4: {}})
    alone = audited(rows, {1: {}, 2: {}, 3: {}, 4: {}})

    ranks = {
        agent: (row.comp.rank, row.comp.rank_corrected, row.comp.moves) for agent, row in moved.items() if row.comp
    }
    assert ranks == {"swift": (1, 2, True), "slow": (2, 1, True)}
    assert {row.comp.rank_corrected for row in alone.values() if row.comp} == {None}
    assert [row.comp.rank for row in alone.values() if row.comp] == [3, 2, 1]

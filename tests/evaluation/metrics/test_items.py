from __future__ import annotations

import itertools
import random
import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.items import ItemDecision, ItemKey, analyse_items


def item(name: str, kind: str = "intent") -> ItemKey:
    return ItemKey("baker", "a", kind, name)


def decisions(table: dict[str, str], kind: str = "intent") -> list[ItemDecision]:
    """By item, a character for each session: 1 is met."""
    return [
        ItemDecision(session, "quick", item(name, kind), mark == "1")
        for name, marks in table.items()
        for session, mark in enumerate(marks)
    ]


def test_item_that_strong_sessions_miss_is_against_the_total():
    figures = {row.item.uid: row for row in analyse_items(decisions({"x": "111000", "y": "111000", "bad": "000111"}))}

    assert (figures["bad"].discrimination, figures["bad"].suspicion) == (pytest.approx(-1), "against the total")
    assert figures["x"].suspicion == ""


def test_items_never_or_always_met_are_named_and_tell_nothing_apart():
    figures = {
        row.item.uid: row for row in analyse_items(decisions({"x": "101010", "never": "000000", "all": "111111"}))
    }

    assert [figures[name].suspicion for name in ("never", "all")] == ["never met", "always met"]
    assert figures["never"].discrimination is None


def test_of_hundreds_of_sound_items_in_random_sessions_hardly_any_is_called_a_defect():
    draw = random.Random(9)
    called = 0
    for persona in range(40):
        rows = [
            ItemDecision(session, "quick", ItemKey(str(persona), "a", "intent", str(number)), draw.random() < 0.5)
            for number in range(9)
            for session in range(9)
        ]
        called += sum(bool(row.suspicion) for row in analyse_items(rows))

    assert called <= 0.02 * 40 * 9


def test_an_easy_item_among_easy_ones_is_no_defect():
    table = dict.fromkeys("xyz", "1" * 12) | {"w": "1" * 11 + "0"}

    assert [row.suspicion for row in analyse_items(decisions(table))] == [""] * 4


def test_more_items_need_clearer_evidence():
    odd = {"bad": "00001111", "x": "11110001", "y": "11110001"}
    alone = {row.item.uid: row for row in analyse_items(decisions(odd))}["bad"]
    sound = {
        key: value for number in range(60) for key, value in {f"x{number}": "110100", f"y{number}": "101001"}.items()
    }
    rows = decisions(odd) + [
        replace(row, session=row.session + 100, item=replace(row.item, task="b")) for row in decisions(sound)
    ]
    among = {row.item.uid: row for row in analyse_items(rows)}["bad"]

    assert (alone.suspicion, among.suspicion) == ("against the total", "")
    assert alone.p == among.p


def test_few_sessions_make_no_suspicion():
    [never] = analyse_items(decisions({"never": "00000"}))

    assert (never.share, never.suspicion) == (0.0, "")


def test_intents_and_criteria_of_a_session_are_totals_of_their_own():
    rows = decisions({"x": "1100", "y": "1100"}) + decisions({"z": "0011"}, kind="criterion")

    figures = {row.item.uid: row.discrimination for row in analyse_items(rows)}

    assert figures == {"x": pytest.approx(1), "y": pytest.approx(1), "z": None}


@given(
    st.lists(
        st.lists(st.booleans(), min_size=3, max_size=3),
        min_size=1,
        max_size=7,
    )
)
def test_item_figures_agree_with_the_definition(sessions):
    rows = [
        ItemDecision(number, f"agent {number % 2}", item(str(at)), met)
        for number, marks in enumerate(sessions)
        for at, met in enumerate(marks)
    ]

    for at, row in enumerate(analyse_items(rows)):
        own = [marks[at] for marks in sessions]
        rest = [statistics.mean(marks[:at] + marks[at + 1 :]) for marks in sessions]
        assert (row.n, row.met) == (len(own), sum(own))
        pairs = list(itertools.product(range(len(own)), repeat=2))
        spreads = [sum((values[i] - values[j]) ** 2 for i, j in pairs) for values in (own, rest)]
        if 0 in spreads:
            assert row.discrimination is None
        else:
            together = sum((own[i] - own[j]) * (rest[i] - rest[j]) for i, j in pairs)
            assert row.discrimination == pytest.approx(together / (spreads[0] * spreads[1]) ** 0.5)
        for agent, share in row.by_agent.items():
            mine = [met for number, met in enumerate(own) if agent == f"agent {number % 2}"]
            assert share == sum(mine) / len(mine)

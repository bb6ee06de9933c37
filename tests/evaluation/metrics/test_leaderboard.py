from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.leaderboard import breakdown, leaderboard, marks, status_counts
from evaluation.metrics.scores import TaskResult, benchmark_score, persona_score
from evaluation.metrics.sessions import SessionRow, dependency_groups, score_sessions
from evaluation.protocol.scoring import ScoringMode

STRICT = ScoringMode.STRICT
PERSONAS = ("researcher", "marketer", "pharmacist", "law trainee", "financier")
TABLE_1 = {
    "GPT-5.4": (67.0, 65.6, "46.0/66.4 78.2/67.1 75.9/71.5 56.9/61.9 78.1/61.2"),
    "Gemini 3.1 Pro": (57.1, 60.0, "41.1/59.2 65.0/62.1 71.0/72.1 50.0/55.3 58.6/51.1"),
    "Claude Opus 4.6": (65.5, 67.6, "50.3/74.5 75.0/74.6 82.8/68.6 45.7/57.2 73.8/63.2"),
    "DeepSeek V3.2": (53.3, 57.8, "29.0/66.9 69.1/59.4 75.9/62.6 33.2/51.1 59.1/48.9"),
    "MiniMax M2.7": (55.6, 60.0, "33.4/63.9 71.9/61.9 77.1/63.6 38.6/52.5 57.2/58.1"),
    "Kimi K2.5": (43.1, 61.6, "28.9/63.5 41.2/62.3 70.1/74.8 34.8/54.4 40.4/52.9"),
    "Seed2.0 Pro": (58.4, 52.1, "38.9/59.6 71.4/44.2 77.0/67.6 46.0/44.7 58.7/44.5"),
    "GLM-5.1": (58.4, 63.6, "41.8/61.6 62.6/69.1 75.2/70.3 45.5/57.3 66.7/59.8"),
    "Qwen3.6 Plus": (64.0, 64.1, "40.1/70.0 77.5/66.6 79.7/70.2 45.7/60.2 77.1/53.6"),
}
"""Proc, Comp and both per persona, of the paper's Table 1."""


def row(task: str, *needs: str, agent: str = "quick", persona: str = "baker", run: int = 1, **fields: object):
    values = {"outcome": "finished", "intents": 2, "covered": 1, "comp": dict.fromkeys(ScoringMode, 0.5)}
    extra = {name: fields.pop(name) for name in ("labels", "statuses") if name in fields}
    result = TaskResult(task, **(values | fields), depends_on=needs)
    return SessionRow(hash((agent, persona, run, task)), agent, persona, (1, run), result, **extra)


def test_table_1_of_the_paper_has_its_averages_ranking_and_marks():
    rows = []
    for agent, (_, _, cells) in TABLE_1.items():
        for persona, cell in zip(PERSONAS, cells.split(), strict=True):
            proc, comp = (float(value) for value in cell.split("/"))
            values = dict.fromkeys(ScoringMode, comp / 100)
            rows.append(row("all", agent=agent, persona=persona, intents=1000, covered=round(10 * proc), comp=values))

    board = {agent.agent: agent for agent in leaderboard(rows, score_sessions(rows), STRICT)}

    for name, (proc, comp, _) in TABLE_1.items():
        assert 100 * board[name].scores["proc"].mean == pytest.approx(proc, abs=0.06)
        assert 100 * board[name].scores["comp"].mean == pytest.approx(comp, abs=0.06)
    assert list(board)[:3] == ["GPT-5.4", "Claude Opus 4.6", "Qwen3.6 Plus"]
    assert marks({name: agent.scores["proc"].mean for name, agent in board.items()}) == {
        "GPT-5.4": "best", "Claude Opus 4.6": "second"
    }  # fmt: skip
    assert marks({name: agent.scores["comp"].mean for name, agent in board.items()}) == {
        "Claude Opus 4.6": "best", "GPT-5.4": "second"
    }  # fmt: skip


def test_ties_share_a_mark():
    assert marks({"a": 0.5001, "b": 0.4999, "c": 0.4, "d": None}) == {"a": "best", "b": "best", "c": "second"}


tasks = st.sampled_from(["a", "b", "c", "d"])
results = st.builds(
    lambda intents, covered, comp, outcome, setup: {
        "intents": intents,
        "covered": min(intents, covered),
        "comp": dict.fromkeys(ScoringMode, comp),
        "outcome": outcome,
        "setup": setup,
    },
    st.integers(0, 4),
    st.integers(0, 4),
    st.floats(0, 1),
    st.sampled_from(["finished", "finished", "failed"]),
    st.booleans(),
)


@given(st.lists(st.fixed_dictionaries(dict.fromkeys("abcd", results)), min_size=1, max_size=3))
def test_leaderboard_agrees_with_the_scores_of_a_pilot(runs):
    """One pilot of one persona: d needs c, c needs a and b."""
    needs = {"a": (), "b": (), "c": ("a", "b"), "d": ("c",)}
    rows = [row(name, *needs[name], run=number, **run[name]) for number, run in enumerate(runs, 1) for name in needs]

    for mode in ScoringMode:
        [agent] = leaderboard(rows, score_sessions(rows), mode)
        scores = [
            benchmark_score([persona_score([item.result for item in rows if item.run[1] == number], mode)])
            for number in range(1, len(runs) + 1)
        ]
        for metric in ("proc", "comp"):
            known = [getattr(score, metric) for score in scores if getattr(score, metric) is not None]
            mean = agent.scores[metric].mean
            assert mean == (pytest.approx(sum(known) / len(known)) if known else None)
        assert (agent.scored, agent.failed) == (sum(score.n for score in scores), sum(score.failed for score in scores))


def test_runs_of_several_pilots_count_as_further_runs():
    rows = [row("a", covered=2), row("a", covered=0)]
    rows[1] = SessionRow(2, "quick", "baker", (7, 1), rows[1].result)

    [agent] = leaderboard(rows, score_sessions(rows), STRICT)

    assert (agent.runs, agent.scores["proc"].mean) == (2, 0.5)
    assert agent.scores["proc"].sd == pytest.approx(0.5**0.5)


def test_turns_are_of_sessions_that_ran_and_only_what_the_agent_did_not_fail_is_missing():
    rows = [row("a"), row("b", outcome="failed", blocked=True), row("c", outcome="missing"), row("d", setup=True)]
    counted = zip(rows, (4, 2, 9, 6), (100, 20, 3, 7), (0.5, 0.25, 0.0, 1.0), (1, 0, 2, 0), strict=True)
    rows = [
        replace(each, turns=turns, tokens=tokens, cost=cost, unpriced=unpriced)
        for each, turns, tokens, cost, unpriced in counted
    ]

    for mode in ScoringMode:
        [agent] = leaderboard(rows, score_sessions(rows), mode)
        assert (agent.sessions, agent.scored, agent.failed, agent.missing, agent.blocked) == (4, 3, 1, 1, 1)
        assert (agent.turns, agent.tokens, agent.cost, agent.unpriced) == (4.0, 130, 1.75, 3)


def test_breakdown_counts_every_task_alike_and_tells_few():
    rows = [row("a", covered=2, labels={"category": "A"}), row("b", "a", covered=0, labels={"category": "A"})]

    cell = breakdown(score_sessions(rows), "category", STRICT)["A"]["quick"]

    assert (cell.tasks, cell.is_few, cell.scores["proc"].mean) == (2, True, pytest.approx((1 + 2 / 4) / 2))


def test_groups_of_two_personas_are_two_in_a_breakdown_however_they_are_called():
    rows = [row("a", covered=covered, persona=persona) for covered, persona in ((2, "baker"), (1, "clerk"))]

    proc = breakdown(score_sessions(rows), "category", STRICT)[""]["quick"].scores["proc"]

    assert (proc.low, proc.mean, proc.high) == (0.0, 0.75, 1.0)  # one group would have no interval


def test_breakdown_counts_a_task_under_each_value_of_its_label():
    rows = [row("a", covered=2, labels={"tools": "gmail\nphone"}), row("b", covered=0, labels={"tools": "phone"})]

    table = breakdown(score_sessions(rows), "tools", STRICT)

    assert {value: cells["quick"].tasks for value, cells in table.items()} == {"gmail": 1, "phone": 2}
    assert table["phone"]["quick"].scores["proc"].mean == pytest.approx(1 / 2)


def test_statuses_are_counted_per_agent():
    rows = [
        row("a", statuses={"completed": 1, "provided": 1}),
        row("b", statuses={"completed": 2}),
        row("a", agent="x"),
    ]

    assert status_counts(rows) == {
        "quick": {"completed": 3, "inferred": 0, "provided": 1},
        "x": {"completed": 0, "inferred": 0, "provided": 0},
    }


def test_groups_are_all_that_is_connected():
    assert dependency_groups({"d": ["c"], "c": ["b"], "a": [], "b": [], "e": ["a"]}) == {
        "a": "a", "b": "b", "c": "b", "d": "b", "e": "a"
    }  # fmt: skip


@given(st.lists(st.fixed_dictionaries(dict.fromkeys("abcd", results)), min_size=1, max_size=3))
def test_means_without_intervals_are_those_with_them(runs):
    rows = [row(name, run=number, **run[name]) for number, run in enumerate(runs, 1) for name in run]
    scored = score_sessions(rows)

    for mode in ScoringMode:
        whole, short = (breakdown(scored, "category", mode, intervals=intervals) for intervals in (True, False))
        for metric in ("proc", "comp"):
            values = [
                [cell.scores[metric] for cells in table.values() for cell in cells.values()] for table in (whole, short)
            ]
            for long, brief in zip(*values, strict=True):
                assert (brief.n, brief.mean) == (long.n, None if long.mean is None else pytest.approx(long.mean))

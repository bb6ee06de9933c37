"""Scores of results, computed as the studio computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.metrics.comparison import Comparison, compare
from evaluation.metrics.intervals import Estimate
from evaluation.metrics.leaderboard import (
    AgentScores,
    breakdown,
    estimates_document,
    leaderboard,
    scores_document,
    status_counts,
)
from evaluation.metrics.reliability import Reliability, agent_reliability, played
from evaluation.metrics.sessions import METRICS, ScoredSession, score_sessions
from evaluation.metrics.texts import percent
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import may_be_ranked
from evaluation.runner.errors import PibenchError
from evaluation.runner.results import Results, SessionResult
from evaluation.runner.tables import Table
from studio.domain.episode import Split

COLUMNS = ("", "Proc", "95 %", "SD", "Comp", "95 %", "SD", "n")
"""Of ``scores_row``."""
TITLES = {"proc": "Proc", "comp": "Comp"}
ENDINGS = ("cut", "filtered", "refused", "empty", "too_long")
"""Of calls, as they are recorded; others are answers as any."""


@dataclass(frozen=True)
class ScoredResults:
    results: Results
    scored: Sequence[ScoredSession]

    @property
    def modes(self) -> tuple[ScoringMode, ...]:
        return self.results.run.terms.modes

    def agent(self, mode: ScoringMode) -> AgentScores:
        return leaderboard(self.results.rows(), self.scored, mode)[0]

    def reliability(self, mode: ScoringMode) -> dict[str, list[Reliability]]:
        return agent_reliability(
            played(
                (session.planned.persona, session.planned.task),
                session.task,
                {intent.index: intent.status for intent in session.kept.intents(session.task)},
                session.outcome,
                session.result.comp[mode],
            )
            for session in self.results.sessions
            if session.outcome != "missing"
        )


def score(results: Results) -> ScoredResults:
    return ScoredResults(results, score_sessions(results.rows()))


def scores_json(scored: ScoredResults) -> dict[str, Any]:
    results = scored.results
    rows = {each.row.key: each for each in scored.scored}
    return {
        **results.run.model_dump(mode="json", exclude={"sessions"}),
        "agent_name": results.agent,
        "scores": {mode: _mode_json(scored, mode) for mode in scored.modes},
        "split_scores": {
            split: {mode: scores_document(own.agent(mode)) for mode in own.modes}
            for split, own in by_split(scored).items()
        },
        "statuses": status_counts(results.rows()).get(results.agent, {}),
        "model": model_answers(results),
        "sessions": [_session_json(scored, session, rows.get(at)) for at, session in enumerate(results.sessions)],
    }


def by_split(scored: ScoredResults) -> dict[Split, ScoredResults]:
    """Empty if all of its tasks are of one."""
    splits = scored.results.splits
    return {split: score(scored.results.of_split(split)) for split in splits} if len(splits) > 1 else {}


def model_answers(results: Results) -> dict[str, Any]:
    """What answered in the agent's seat, as the services say, and how often an answer was none."""
    calls = [call for session in results.sessions for call in session.calls if call.purpose == "agent"]
    endings = Counter(call.ending for call in calls)
    return {
        "answered_by": sorted({call.answered_by for call in calls} - {""}),
        "calls": sum(call.answered for call in calls),
        **{ending: endings[ending] for ending in ENDINGS},
        "invalid_calls": sum(call.invalid_calls for call in calls),
    }


def _mode_json(scored: ScoredResults, mode: ScoringMode) -> dict[str, Any]:
    agent = scored.agent(mode)
    table = breakdown(scored.scored, "category", mode)
    return {
        **scores_document(agent),
        "categories": {value: estimates_document(cells[agent.agent].scores) for value, cells in table.items()},
        "reliability": {kind: [asdict(row) for row in rows] for kind, rows in scored.reliability(mode).items()},
    }


def _session_json(scored: ScoredResults, session: SessionResult, row: ScoredSession | None) -> dict[str, Any]:
    return {
        "persona": session.planned.persona,
        "task": session.planned.task,
        "run": session.planned.run,
        "content": session.known.content,
        "state": session.state,
        "reason": session.reason,
        "setup": session.task.is_setup,
        "turns": len(session.kept.turns),
        "intents": [
            {"index": each.index, "status": each.status, "turn": each.turn}
            for each in session.kept.intents(session.task)
        ],
        "ungraded": session.ungraded,
        "proc": row.proc[ScoringMode.STRICT] if row else None,
        "comp": {mode: row.comp[mode] if row else None for mode in scored.modes},
        "tokens": session.spent.tokens,
        "cost": str(session.spent.cost),
        "folder": session.planned.folder,
    }


def score_tables(scored: ScoredResults) -> list[Table]:
    tables = []
    for mode in scored.modes:
        agent = scored.agent(mode)
        suffix = f" ({mode})" if len(scored.modes) > 1 else ""
        rows = [scores_row(agent.agent, agent.scores)]
        rows += [scores_row(f"  {name}", own) for name, own in agent.personas.items()]
        rows += [
            scores_row(f"  {split.label} tasks", own.agent(mode).scores) for split, own in by_split(scored).items()
        ]
        note = note_of(scored, agent)
        tables.append(Table(f"Scores{suffix}", COLUMNS, rows, note))
        shares = scored.reliability(mode)
        tables.append(
            Table(
                f"Achieved in all of k runs{suffix}",
                ("k", "intents", "n", "whole tasks", "n"),
                _reliability_rows(shares["intents"], shares["tasks"]),
                "Estimated without bias from all runs (pass^k). A whole task: every criterion is met.",
            )
        )
    told = model_answers(scored.results)
    names, *counts = told.values()
    heads = [name.replace("_", " ") for name in told]
    tables.append(Table("Answers of the agent’s model", heads, [("; ".join(names) or "untold", *map(str, counts))]))
    return tables


def scores_row(name: str, scores: Mapping[Any, Estimate]) -> tuple[str, ...]:
    cells = [cell for metric in METRICS for cell in _cells(scores[metric])]
    return (name, *cells, str(scores["proc"].n))


def _cells(estimate: Estimate) -> tuple[str, str, str]:
    interval = "" if estimate.low is None else f"{percent(estimate.low)}–{percent(estimate.high)}"
    return percent(estimate.mean), interval, percent(estimate.sd) if estimate.sd is not None else ""


def _reliability_rows(intents: Sequence[Reliability], tasks: Sequence[Reliability]) -> list[tuple[str, ...]]:
    shown: dict[int, list[str]] = {}
    for at, rows in enumerate((intents, tasks)):
        for row in rows:
            cells = shown.setdefault(row.k, ["", "", "", ""])
            cells[2 * at : 2 * at + 2] = [percent(row.share), str(row.n)]
    return [(str(k), *cells) for k, cells in sorted(shown.items())]


def note_of(scored: ScoredResults, agent: AgentScores) -> str:
    run, splits = scored.results.run, scored.results.splits
    unfinished = sum(session.state in ("unfinished", "stopped") for session in scored.results.sessions)
    ungraded = sum(session.ungraded for session in scored.results.sessions)
    notes = [
        f"{agent.runs} run{'' if agent.runs == 1 else 's'}, {agent.sessions} sessions, {agent.tokens:,} tokens",
        str(run.terms),
        "" if splits == [Split.PUBLIC] else f"split {' and '.join(split.label for split in splits)}",
        f"judge {run.models.judge.name}, user {run.models.user_model.name}",
        f"{agent.failed} failed" if agent.failed else "",
        f"{agent.blocked} blocked" if agent.blocked else "",
        f"{unfinished} not finished: scores are of the others" if unfinished else "",
        f"{ungraded} criteria ungraded" if ungraded else "",
        "scripted models, not evidence" if run.scripted else "",
        "the agent’s model judged itself" if run.agent_judges_itself and not run.scripted else "",
    ]
    return "; ".join(note for note in notes if note) + "."


def compare_results(first: Results, second: Results) -> tuple[list[str], dict[ScoringMode, list[Comparison]]]:
    """What to know before comparing, and the comparisons. Raises PibenchError if the two cannot be compared."""
    if not may_be_ranked(each.run.terms for each in (first, second)):
        ran = [f"{each.folder} ran under {each.run.terms}" for each in (first, second)]
        raise PibenchError(f"These cannot be compared: {', '.join(ran)}.")
    known = [{key: task.content for key, task in results.tasks.items()} for results in (first, second)]
    common = known[0].keys() & known[1].keys()
    changed = sorted(key for key in common if known[0][key] != known[1][key])
    notes = []
    if len(common) < max(map(len, known)):
        notes.append(f"Only the {len(common)} tasks that both ran are compared.")
    if changed:
        notes.append(f"{len(changed)} tasks changed between the two packs and are left out: {_named(changed)}.")
    for role in ("user_model", "judge"):
        if len({getattr(results.run.models, role).name for results in (first, second)}) > 1:
            notes.append(f"They had different models as {role.removesuffix('_model')}: differences may be theirs.")
    if first.run.prompts != second.run.prompts:
        notes.append("They had different versions of prompts: differences may be theirs.")
    ours, theirs = (_of_tasks(score(results).scored, common - set(changed)) for results in (first, second))
    return notes, {mode: [compare(ours, theirs, metric, mode) for metric in METRICS] for mode in first.run.terms.modes}


def _of_tasks(scored: Sequence[ScoredSession], keys: set[tuple[str, str]]) -> list[ScoredSession]:
    return [each for each in scored if (each.row.persona, each.row.result.task_id) in keys]


def _named(keys: Sequence[tuple[str, str]]) -> str:
    shown = [task for _, task in keys[:5]]
    return ", ".join(shown) + (" …" if len(keys) > len(shown) else "")


def comparison_tables(first: Results, second: Results) -> list[Table]:
    notes, compared = compare_results(first, second)
    tables = []
    for mode, comparisons in compared.items():
        suffix = f" ({mode})" if len(compared) > 1 else ""
        rows = []
        for each in comparisons:
            difference, interval, _ = _cells(each.difference)
            p = "" if each.p is None else f"{each.p:.3f}"
            stands = "yes" if each.stands else "no"
            rows.append((TITLES[each.metric], difference, interval, p, stands, each.rose, each.fell, each.same))
        columns = ("", f"{second.agent} less {first.agent}", "95 %", "p", "more than noise", "rose", "fell", "same")
        tables.append(Table(f"Difference{suffix}", columns, [tuple(map(str, row)) for row in rows], " ".join(notes)))
        per_task = [
            (
                f"{row.persona} · {row.task}",
                TITLES[each.metric],
                percent(row.first),
                percent(row.second),
                percent(row.difference),
            )
            for each in comparisons
            for row in each.tasks
            if row.difference
        ]
        tables.append(Table(f"Tasks that differ{suffix}", ("task", "", "first", "second", "difference"), per_task))
    return tables


def comparison_json(first: Results, second: Results) -> dict[str, Any]:
    notes, compared = compare_results(first, second)
    return {
        "first": first.agent,
        "second": second.agent,
        "notes": notes,
        "modes": {
            mode: {
                each.metric: {
                    "difference": asdict(each.difference),
                    "p": each.p,
                    "stands": each.stands,
                    "tasks": [
                        {"persona": row.persona, "task": row.task, "first": row.first, "second": row.second}
                        for row in each.tasks
                    ],
                }
                for each in comparisons
            }
            for mode, comparisons in compared.items()
        },
    }

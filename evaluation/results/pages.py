"""Rows of the results pages."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from evaluation.metrics.failures import PATTERNS, PatternEvidence
from evaluation.metrics.intervals import Estimate
from evaluation.metrics.labels import LABELS
from evaluation.metrics.leaderboard import COUNTED, AgentScores, Cell, Scores, status_counts
from evaluation.metrics.sessions import METRICS, STATUSES, Metric, ScoredSession, SessionRow
from evaluation.models import Pilot
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import (
    UNGROUPED,
    Results,
    address_of,
    category_names,
    choose_pilots,
    compute_results,
)
from evaluation.results.figures.catalogue import FIGURES, build_figure
from evaluation.results.figures.pages import figure_body
from evaluation.results.figures.sessions import failure_matches
from evaluation.results.scores import refresh_scores
from studio.models import Benchmark

MAX_VALUES = 12
"""Of a label: where there are more, those of a single task are left to the downloads."""
SHOWN = 500
"""Sessions on one page."""


@dataclass(frozen=True)
class ScoreCell:
    estimate: Estimate
    rank: str = ""
    """``best``, ``second`` or empty."""


@dataclass(frozen=True)
class BoardRow:
    agent: AgentScores
    scripted: bool
    overall: Sequence[ScoreCell]
    """Proc, Comp."""
    personas: Sequence[tuple[str, Sequence[ScoreCell]]]


def board_rows(results: Results, board: Sequence[AgentScores], mode: ScoringMode) -> list[BoardRow]:
    """Overall marks only where the difference to the next agent is more than noise."""
    names = sorted({name for agent in board for name in agent.personas})
    overall = {metric: results.marks_that_stand(board, metric, mode) for metric in METRICS}
    scripted = results.scripted_agents
    return [
        BoardRow(
            agent,
            agent.agent in scripted,
            [ScoreCell(agent.scores[metric], overall[metric].get(agent.agent, "")) for metric in METRICS],
            [(name, _cells(agent.personas.get(name))) for name in names],
        )
        for agent in board
    ]


def _cells(scores: Scores | None) -> list[ScoreCell]:
    return [ScoreCell(scores[metric]) for metric in METRICS] if scores else []


@dataclass(frozen=True)
class StatusRow:
    agent: str
    scripted: bool
    total: int
    shares: Sequence[StatusShare]


@dataclass(frozen=True)
class StatusShare:
    status: str
    number: int
    share: float
    start: float
    """Where its bar begins and how wide it is, in percent."""
    width: float


def status_rows(results: Results) -> list[StatusRow]:
    scripted = results.scripted_agents
    rows = []
    for agent, counts in status_counts(results.rows).items():
        total = sum(counts[status] for status in STATUSES)
        rows.append(StatusRow(agent, agent in scripted, total, _shares(counts, total)))
    return rows


def _shares(counts: Mapping[str, int], total: int) -> list[StatusShare]:
    shares: list[StatusShare] = []
    for status in STATUSES:
        share = counts[status] / total if total else 0.0
        start = shares[-1].start + shares[-1].width if shares else 0.0
        shares.append(StatusShare(status, counts[status], share, start, 100 * share))
    return shares


@dataclass(frozen=True)
class BreakdownTable:
    label: str
    heading: str
    agents: Sequence[str]
    rows: Sequence[tuple[str, str, Sequence[tuple[str, Cell | None]]]]
    """Value, its name, and agents with their cells."""


def breakdown_tables(results: Results, mode: ScoringMode, names: Mapping[str, str]) -> list[BreakdownTable]:
    """Without the labels that tell nothing apart. ``names``: of categories."""
    tables = []
    for label, heading in LABELS.items():
        table = results.breakdown(label, mode, intervals=False)
        if len(table) > MAX_VALUES:
            table = {value: cells for value, cells in table.items() if any(cell.tasks > 1 for cell in cells.values())}
        if len(table) < 2:
            continue
        agents = sorted({agent for cells in table.values() for agent in cells})
        rows = [
            (value, _name(value, names if label == "category" else {}), [(agent, cells.get(agent)) for agent in agents])
            for value, cells in table.items()
        ]
        tables.append(BreakdownTable(label, heading, agents, rows))
    return tables


def _name(value: str, names: Mapping[str, str]) -> str:
    if not value:
        return UNGROUPED
    return f"{value} · {names[value]}" if value in names else value.replace("_", " ")


def leaderboard_html(results: Results, mode: ScoringMode, address: str) -> SafeString:
    """All tables of the page; ``address``: the choice as a query string. Filling in the template takes longer than
    everything else, so what came of it is remembered."""
    names = category_names(results.benchmark)
    digest = hashlib.sha256(json.dumps([address, sorted(names.items())]).encode()).hexdigest()
    slug = results.benchmark.slug
    return mark_safe(  # what our own template made
        results.once(
            ("leaderboard", mode.value, digest),
            lambda: render_to_string(
                "evaluation/results/parts/leaderboard.html",
                {
                    "slug": slug,
                    "address": address,
                    "mode": mode,
                    "terms": results.terms,
                    "page": _leaderboard_page(results, mode, names),
                },
            ),
        )
    )


def _leaderboard_page(results: Results, mode: ScoringMode, names: Mapping[str, str]) -> dict[str, Any]:
    board = results.board(mode)
    return {
        "board": board_rows(results, board, mode),
        "personas": sorted({name for agent in board for name in agent.personas}),
        "statuses": status_rows(results),
        "models": {agent: answers for agent, answers in results.models.items() if answers.calls},
        "breakdowns": breakdown_tables(results, mode, names),
        "counted": COUNTED,
    }


@dataclass(frozen=True)
class ListedSession:
    row: SessionRow
    scored: ScoredSession | None
    proc: float | None
    comp: float | None
    pooled: Sequence[str]
    """The set-up and other earlier tasks whose intents count in its Proc."""
    evidence: Sequence[PatternEvidence] = ()
    """Of the failure pattern that was chosen."""


@dataclass(frozen=True)
class Sum:
    """A persona's scores in one run, with the numbers they are made of."""

    persona: str
    run: int
    proc: float | None
    proc_terms: str
    comp: float | None
    comp_terms: str


@dataclass(frozen=True)
class SessionList:
    title: str
    sessions: Sequence[ListedSession]
    total: int
    sums: Sequence[Sum]
    """Of a whole agent or one of its personas; of no other choice of sessions."""


def session_list(results: Results, query: Mapping[str, Any], mode: ScoringMode) -> SessionList:
    """Filtered by ``agent``, ``persona``, ``task``, any label and ``pattern``, as links in tables name them."""
    filters = {name: str(query[name]) for name in ("agent", "persona", "task", *LABELS) if name in query}
    scored = {(item.row.run, item.row.key): item for item in results.scored}
    rows = [row for row in results.rows if all(value in _values(row, name) for name, value in filters.items())]
    pattern = PATTERNS.get(str(query.get("pattern", "")))
    evidence: dict[int, Sequence[PatternEvidence]] = {}
    if pattern:
        matches = failure_matches(results, mode)
        evidence = {match.session: match.evidence for match in matches if PATTERNS[match.pattern] is pattern}
        rows = [row for row in rows if row.key in evidence]
        filters["pattern"] = pattern.label
    listed = [_listed(row, scored.get((row.run, row.key)), mode, evidence.get(row.key, ())) for row in rows[:SHOWN]]
    whole = "agent" in filters and set(filters) <= {"agent", "persona"}
    chosen = {(row.run, row.key) for row in rows}
    sums = _sums([item for item in results.scored if (item.row.run, item.row.key) in chosen], mode) if whole else []
    return SessionList(" · ".join(value or UNGROUPED for value in filters.values()), listed, len(rows), sums)


def _sums(scored: Sequence[ScoredSession], mode: ScoringMode) -> list[Sum]:
    runs: dict[tuple[str, int], list[ScoredSession]] = defaultdict(list)
    for item in scored:
        runs[item.row.persona, item.round].append(item)
    return [
        Sum(persona, run, *_sum(own, "proc", mode), *_sum(own, "comp", mode))
        for (persona, run), own in sorted(runs.items())
    ]


def _sum(scored: Sequence[ScoredSession], metric: Metric, mode: ScoringMode) -> tuple[float | None, str]:
    """The weighted mean, and how it comes about: ``(50.0 × 3 + 100.0) / 4``."""
    known = [(value, item.weight) for item in scored if (value := item.score(metric, mode)) is not None]
    if not known:
        return None, "unknown"
    total = sum(weight for _, weight in known)
    terms = " + ".join(f"{100 * value:.1f}" + (f" × {weight}" if weight > 1 else "") for value, weight in known)
    return sum(value * weight for value, weight in known) / total, f"({terms}) / {total}"


def _values(row: SessionRow, name: str) -> Sequence[str]:
    if name == "agent":
        return (row.agent,)
    if name == "task":
        return (row.result.task_id,)
    return (row.persona,) if name == "persona" else row.values_of(name)


def _listed(
    row: SessionRow, scored: ScoredSession | None, mode: ScoringMode, evidence: Sequence[PatternEvidence]
) -> ListedSession:
    return ListedSession(
        row,
        scored,
        scored.proc[mode] if scored else None,
        scored.comp[mode] if scored else None,
        row.result.depends_on if scored else (),
        evidence,
    )


def compute_ahead(benchmark_id: int) -> None:
    """The scores of all pilots, and all figures of those that are shown unless others are chosen."""
    benchmark = Benchmark.objects.get(pk=benchmark_id)
    related = ("agent", "user_model", "judge", "created_by", "submission")
    pilots = refresh_scores(Pilot.objects.filter(benchmark=benchmark).select_related(*related))
    for pilot_mode in {kind.mode for kind in FIGURES.values()}:
        chosen = choose_pilots(benchmark, pilots, mode=pilot_mode)
        results = compute_results(benchmark, chosen)
        for mode in results.modes:
            address = address_of(chosen, mode)
            for name, kind in FIGURES.items():
                if kind.mode == pilot_mode:
                    figure_body(results, build_figure(results, name, mode.value), mode, address)
            leaderboard_html(results, mode, address)

"""Proc and Comp corrected for what an audit of whole sessions found, agent by agent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from annotations.correction import (
    MIN_AUDITED,
    Corrected,
    Stratum,
    people_mean,
    prediction_powered,
    ranks,
    raw_mean,
)
from annotations.decided import AuditedQuestion, audited_questions, credited
from annotations.models import AuditCampaign, Packet, Population

Metric = Literal["proc", "comp"]
METRICS: tuple[Metric, ...] = get_args(Metric)
KINDS: Mapping[Metric, str] = {"proc": "status", "comp": "checklist"}


@dataclass(frozen=True)
class Interval:
    value: float
    low: float
    high: float

    @property
    def text(self) -> str:
        return f"{100 * self.value:.1f} ({100 * self.low:.1f}–{100 * self.high:.1f})"


@dataclass(frozen=True)
class MetricScores:
    raw: Interval
    """As the judge decided, over all sessions."""
    corrected: Interval | None
    """By prediction-powered inference; None with too few audited sessions."""
    people_alone: Interval | None
    """From the audited sessions."""
    sessions: int
    audited: int
    rank: int
    rank_corrected: int | None
    """None unless all agents have a corrected score."""

    @property
    def moves(self) -> bool:
        return self.rank_corrected is not None and self.rank_corrected != self.rank


@dataclass(frozen=True)
class CorrectedAgentScores:
    agent: str
    proc: MetricScores | None
    comp: MetricScores | None

    @property
    def metrics(self) -> list[tuple[Metric, MetricScores | None]]:
        return [("proc", self.proc), ("comp", self.comp)]


@dataclass(frozen=True)
class _Session:
    """Of the population."""

    stratum: str
    score: float
    people: float | None
    """The score as people decided; None unless they decided all of it."""


def corrected_scores(campaign: AuditCampaign) -> list[CorrectedAgentScores]:
    """By agent. Empty for audits of single decisions, which do not say what a session would have scored."""
    population = Population.objects.filter(campaign=campaign).first()
    if population is None:
        return []
    decided = _decided_sessions(campaign)
    shares: dict[str, Mapping[str, float]] = {
        source: sealed["shares"]
        for source, sealed in Packet.objects.filter(campaign=campaign, control="").values_list("source", "sealed")
    }
    by_metric: dict[Metric, dict[str, list[_Session]]] = {metric: defaultdict(list) for metric in METRICS}
    for row in population.rows:
        for metric in METRICS:
            if row[metric] is not None:
                questions = decided.get(row["source"])
                session = _session(row, metric, questions, shares.get(row["source"], {}))
                by_metric[metric][row["agent"]].append(session)
    agents = sorted({row["agent"] for row in population.rows})
    scores = {metric: _rank({agent: _score(rows) for agent, rows in by_metric[metric].items()}) for metric in METRICS}
    return [CorrectedAgentScores(agent, scores["proc"].get(agent), scores["comp"].get(agent)) for agent in agents]


def _decided_sessions(campaign: AuditCampaign) -> dict[str, list[AuditedQuestion]]:
    """By source: those of which people decided every question."""
    questions: dict[str, list[AuditedQuestion]] = defaultdict(list)
    for row in audited_questions([campaign.pk]):
        questions[row.cluster].append(row)
    return {source: rows for source, rows in questions.items() if all(row.decided is not None for row in rows)}


def _session(
    row: Mapping[str, Any], metric: Metric, questions: Iterable[AuditedQuestion] | None, shares: Mapping[str, float]
) -> _Session:
    score: float = row[metric]
    if questions is None:
        return _Session(row["stratum"], score, None)
    sums: dict[tuple[bool, bool], float] = defaultdict(float)
    for each in questions:
        if each.kind == KINDS[metric]:
            sums[credited(each.judge), credited(each.final or "")] += shares[each.key]
    return _Session(row["stratum"], score, score - sums[True, False] + sums[False, True])


def _score(sessions: Sequence[_Session]) -> MetricScores:
    strata: dict[str, list[_Session]] = defaultdict(list)
    for row in sessions:
        strata[row.stratum].append(row)
    audited = sum(row.people is not None for row in sessions)
    enough = all(sum(row.people is not None for row in rows) >= MIN_AUDITED for rows in strata.values())
    raw = np.array([row.score for row in sessions])
    arrays = [_stratum(rows) for rows in strata.values()] if enough else []
    return MetricScores(
        raw=_plain(raw_mean(raw)) if len(raw) > 1 else Interval(float(raw[0]), 0.0, 1.0),
        corrected=_plain(prediction_powered(arrays)) if enough else None,
        people_alone=_plain(people_mean(arrays[0])) if len(arrays) == 1 else None,
        sessions=len(sessions),
        audited=audited,
        rank=0,
        rank_corrected=None,
    )


def _stratum(rows: Sequence[_Session]) -> Stratum:
    seen = [row for row in rows if row.people is not None]
    return Stratum(
        np.array([row.score for row in rows]),
        np.array([row.score for row in seen]),
        np.array([row.people for row in seen]),
    )


def _plain(found: Corrected) -> Interval:
    return Interval(float(found.value), float(found.low), float(found.high))


def _rank(scores: Mapping[str, MetricScores]) -> dict[str, MetricScores]:
    raw = ranks([row.raw.value for row in scores.values()])
    values = [row.corrected.value for row in scores.values() if row.corrected is not None]
    corrected: list[int | None] = [*ranks(values)] if len(values) == len(scores) else [None] * len(scores)
    return {
        agent: MetricScores(**(vars(row) | {"rank": before, "rank_corrected": after}))
        for (agent, row), before, after in zip(scores.items(), raw, corrected, strict=True)
    }

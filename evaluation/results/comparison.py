"""Rounds of a pilot side by side: where their judges agree, and what flipped which way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.db import connection
from django.db.models import Count, Sum

from annotations.intervals import Rate, wilson
from evaluation.engine.voice import PURPOSE
from evaluation.grading.credit import default_rules
from evaluation.judging.judgings import rules_of, scoring_choice
from evaluation.models import JudgingBatch, JudgingRound, ModelCall, Pilot, Session
from evaluation.models.judgings import Judging
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from evaluation.results.loading import JudgedPilot, load_pilot
from evaluation.results.pilot_report import judging_json
from evaluation.store.usage import OF_USE, use_of

_DECISIONS = """
SELECT verdict.kind, judging.scoring, count(*), count(*) FILTER (WHERE verdict.met AND NOT other.met),
       count(*) FILTER (WHERE other.met AND NOT verdict.met)
  FROM evaluation_verdict AS verdict
  JOIN evaluation_judging AS judging ON judging.id = verdict.judging_id AND judging.round_id = %s
  JOIN evaluation_judging AS base ON base.session_id = judging.session_id AND base.scoring = judging.scoring
       AND base.round_id = %s AND base.sample = 1
  JOIN evaluation_verdict AS other ON other.judging_id = base.id AND other.kind = verdict.kind
       AND other.turn = verdict.turn AND other.index = verdict.index
 WHERE verdict.met IS NOT NULL AND other.met IS NOT NULL AND verdict.grader <> 'rule'
 GROUP BY 1, 2 ORDER BY 1, 2
"""
OPEN = (Judging.State.WAITING, Judging.State.RUNNING, Judging.State.BATCHED)
LABELS = {
    ("satisfaction", ""): "intent met",
    ("follow_up", ""): "intent asked for",
    ("checklist", "compat"): "checklist, compat",
    ("checklist", "strict"): "checklist, strict",
}


@dataclass(frozen=True)
class DecisionComparison:
    """Decisions that both rounds made on the same question."""

    label: str
    n: int
    to_yes: int
    """No in the scoring round, yes in this one."""
    to_no: int

    @property
    def flipped(self) -> int:
        return self.to_yes + self.to_no

    @property
    def agreement(self) -> Rate:
        return wilson(self.n - self.flipped, self.n)


def compare_decisions(judging_round: JudgingRound, base: JudgingRound) -> list[DecisionComparison]:
    """By kind of question, over all samples."""
    with connection.cursor() as cursor:
        cursor.execute(_DECISIONS, [judging_round.pk, base.pk])
        rows = cursor.fetchall()
    return [DecisionComparison(LABELS[kind, scoring], n, yes, no) for kind, scoring, n, yes, no in rows]


def in_total(rows: Iterable[DecisionComparison]) -> DecisionComparison:
    rows = list(rows)
    return DecisionComparison(
        "all", sum(row.n for row in rows), sum(row.to_yes for row in rows), sum(row.to_no for row in rows)
    )


def round_totals(judging_round: JudgingRound) -> dict[str, Any]:
    """``{"judgings", "by_state", "asked", "replayed", "tokens", "cost", "unpriced"}``; what the user said is none of
    it."""
    rows = Judging.objects.filter(round=judging_round).order_by()
    states = dict(rows.values_list("state").annotate(number=Count("pk")))
    calls = ModelCall.objects.filter(judging__round=judging_round, attempts__gt=0).exclude(purpose=PURPOSE)
    use = use_of(calls.aggregate(**OF_USE))
    return {
        "judgings": sum(states.values()),
        "by_state": states,
        "asked": use.calls,
        "replayed": rows.aggregate(total=Sum("replayed"))["total"] or 0,
        "tokens": use.tokens.total,
        "cost": use.cost,
        "unpriced": use.unpriced,
    }


@dataclass(frozen=True)
class StatusChange:
    intent: int
    """1-based position."""
    before: str
    after: str


@dataclass(frozen=True)
class SessionComparison:
    """What one session came to by the round that scores, and by another under the other protocol."""

    session: int
    task: str
    run: int
    intents: int
    statuses: tuple[StatusChange, ...]
    """That differ."""
    covered: tuple[int, int]
    """Before and after; so is ``comp``."""
    comp: tuple[float | None, float | None]
    is_scored: bool

    @property
    def scores_differ(self) -> bool:
        return self.is_scored and (self.covered[0] != self.covered[1] or self.comp[0] != self.comp[1])


@dataclass(frozen=True)
class OutcomeComparison:
    """What sessions came to by two rounds under different protocols."""

    sessions: tuple[SessionComparison, ...]

    @property
    def intents(self) -> int:
        return sum(row.intents for row in self.sessions)

    @property
    def statuses(self) -> int:
        """That differ."""
        return sum(len(row.statuses) for row in self.sessions)

    @property
    def scored(self) -> int:
        return sum(row.is_scored for row in self.sessions)

    @property
    def scores(self) -> int:
        """Sessions whose Proc or Comp differ."""
        return sum(row.scores_differ for row in self.sessions)

    def document(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in ("intents", "statuses", "scored", "scores")}
        return {**counts, "sessions": [asdict(row) for row in self.sessions]}


def compare_outcomes(judging_round: JudgingRound, base: JudgingRound) -> OutcomeComparison | None:
    """None under the same protocol. Only sessions that the round has judged in full are compared."""
    if judging_round.protocol == base.protocol:
        return None
    pilot = judging_round.pilot
    ours, theirs = (load_pilot(pilot, row, default_rules(ProtocolName(row.protocol))) for row in (judging_round, base))
    unfinished = Judging.objects.filter(round=judging_round).exclude(state=Judging.State.FINISHED)
    judged = set(Judging.objects.filter(round=judging_round).values_list("session", flat=True))
    judged -= set(unfinished.values_list("session", flat=True))
    return OutcomeComparison(
        tuple(_compare_session(session, theirs, ours) for session in ours.sessions if session.pk in judged)
    )


def _compare_session(session: Session, before: JudgedPilot, after: JudgedPilot) -> SessionComparison:
    task = after.task(session)
    was, now = before.judged[session.pk], after.judged[session.pk]
    statuses = (
        StatusChange(index, was.status(index).status, now.status(index).status)
        for index in range(1, len(task.intents) + 1)
    )
    (covered, comp), (covered_after, comp_after) = _score(before, session), _score(after, session)
    return SessionComparison(
        session=session.pk,
        task=task.title or task.task_id,
        run=session.run.number,
        intents=len(task.intents),
        statuses=tuple(each for each in statuses if each.before != each.after),
        covered=(covered, covered_after),
        comp=(comp, comp_after),
        is_scored=not task.is_setup,
    )


def _score(loaded: JudgedPilot, session: Session) -> tuple[int, float | None]:
    result = loaded.results[session.pk]
    return result.covered, result.comp.get(ScoringMode.STRICT)


@dataclass(frozen=True)
class RoundSummary:
    """One round as a pilot's page lists it."""

    round: JudgingRound
    scores: bool
    """Whether it is the one that scores the pilot."""
    totals: dict[str, Any]
    decisions: list[DecisionComparison]
    sessions: int
    outcomes: OutcomeComparison | None

    @property
    def total(self) -> DecisionComparison:
        return in_total(self.decisions)

    @property
    def prompts(self) -> str:
        return ", ".join(f"{name.replace('_', '-')} {row['version']}" for name, row in self.round.prompts.items())

    @property
    def unfinished(self) -> int:
        return sum(self.totals["by_state"].get(state, 0) for state in OPEN)

    @property
    def is_going_on(self) -> bool:
        """Judged again, and not done. The first round goes on with the pilot's sessions alone, however it stopped."""
        return self.round.number > 1 and self.unfinished > 0

    @property
    def batch(self) -> JudgingBatch | None:
        """The one under way that is furthest behind."""
        return self.round.batches.filter(state=JudgingBatch.State.OPEN).order_by("done", "pk").first()

    @property
    def stopped(self) -> int:
        return int(self.totals["by_state"].get(Judging.State.ERROR, 0))


def summarize_rounds(pilot: Pilot) -> list[RoundSummary]:
    chosen = scoring_choice(pilot).round
    return [_summary(row, chosen) for row in pilot.rounds.select_related("created_by")]


def _summary(row: JudgingRound, chosen: JudgingRound) -> RoundSummary:
    sessions = Judging.objects.filter(round=row).order_by().values("session").distinct().count()
    decisions = [] if row == chosen else compare_decisions(row, chosen)
    return RoundSummary(row, row == chosen, round_totals(row), decisions, sessions, compare_outcomes(row, chosen))


def round_report(judging_round: JudgingRound) -> dict[str, Any]:
    """As ``manage.py rejudge --json`` and the API give it."""
    pilot = judging_round.pilot
    choice = scoring_choice(pilot)
    totals = round_totals(judging_round)
    decisions = compare_decisions(judging_round, choice.round)
    rules = rules_of(choice)
    return {
        "pilot": pilot.pk,
        "round": judging_round.number,
        "judgings": totals["judgings"],
        "states": totals["by_state"],
        "calls": {"asked": totals["asked"], "replayed": totals["replayed"]},
        "outcomes": outcomes.document() if (outcomes := compare_outcomes(judging_round, choice.round)) else None,
        "flipped": in_total(decisions).flipped,
        "decisions": [{"kind": row.label, "n": row.n, "to_yes": row.to_yes, "to_no": row.to_no} for row in decisions],
        "tokens": totals["tokens"],
        "cost": str(totals["cost"]),
        "unpriced": totals["unpriced"],
        "estimate": judging_round.estimate,
        "judging": judging_json(judging_round, rules),
        "scripted": judging_round.judge["scripted"],
        "scores_pilot": choice.round_id == judging_round.pk,
    }

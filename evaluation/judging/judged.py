"""What the judgings of a round decided of each session, under credit rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.grading.credit import Credit
from evaluation.grading.intents import IntentStatus, derive_statuses
from evaluation.grading.items import GradedItem, completeness, items_of
from evaluation.judging.judgings import Rules
from evaluation.llm.completion import read_answer
from evaluation.models import JudgingRound, ModelCall, Session, SessionIntent, Verdict, VerdictCorrection
from evaluation.models.calls import read_chain
from evaluation.models.verdicts import VerdictQuerySet
from evaluation.protocol.scoring import ScoringMode
from studio.domain.task import TaskSpec
from studio.models import User

State = Session.State
Samples = dict[int, list[tuple[int, bool | None]]]
"""Turn and value, by sample."""
MAX_THOUGHTS = 20_000
"""Characters of one answer."""
OPEN = IntentStatus("open", 0)


@dataclass
class JudgedSession:
    """The decisions of a round on one session, as people corrected them."""

    items: dict[tuple[str, int], Samples] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    """By mode and index."""
    labels: dict[int, str] = field(default_factory=dict)
    """Of script keys, by index."""
    statuses: dict[int, IntentStatus] = field(default_factory=dict)
    """By index; open intents have none."""

    def status(self, intent: int) -> IntentStatus:
        """Of the intent with this index."""
        return self.statuses.get(intent, OPEN)

    @property
    def keys(self) -> list[str] | None:
        return [label for _, label in sorted(self.labels.items())] or None

    def credit(self, mode: ScoringMode, index: int, rules: Rules) -> Credit:
        samples = self.items.get((mode, index), {})
        return rules[mode].credit([values for _, values in sorted(samples.items())])


def load_judged(
    judging_round: JudgingRound, sessions: Sequence[Session], *, corrected: bool = True
) -> dict[int, JudgedSession]:
    """By session, in a few queries. ``corrected``: as people corrected it, else as the judge decided, which is what
    audits are about."""
    judged = {session.pk: JudgedSession() for session in sessions}
    rows = Verdict.objects.filter(judging__round=judging_round, judging__session__in=judged)
    checklist = rows.filter(kind=Verdict.Kind.CHECKLIST).order_by("turn", "index")
    for pk, mode, sample, index, turn, label, uid, met in _decisions(
        checklist, corrected, "judging__session", "judging__scoring", "judging__sample", "index", "turn", "label", "uid"
    ):
        judged[pk].items[mode, index][sample].append((turn, met))
        if uid is None:
            judged[pk].labels[index] = label.removeprefix("[tools] ")
    derived = _derived_sessions(judging_round, judged, corrected=corrected)
    decisions: dict[int, dict[int, list[Any]]] = defaultdict(lambda: defaultdict(list))
    intents = rows.exclude(kind=Verdict.Kind.CHECKLIST).filter(judging__session__in=derived)
    columns = ("judging__session", "judging__sample", "kind", "turn", "index")
    for pk, sample, *decision in _decisions(intents, corrected, *columns):
        decisions[pk][sample].append(tuple(decision))
    recorded = recorded_statuses(judged)
    for pk, outcome in judged.items():
        told = recorded.get(pk, {})
        samples = decisions.get(pk, {})
        outcome.statuses = (
            _majority([derive_statuses(told, samples[sample]) for sample in sorted(samples)])
            if pk in derived and samples
            else told
        )
    return judged


def session_items(
    task: TaskSpec, state: str, judged: JudgedSession, rules: Rules
) -> list[tuple[GradedItem, dict[ScoringMode, Credit]]]:
    """Each item's value in both modes. A failed session meets nothing in strict, and is ungraded in compat."""
    graded: list[tuple[GradedItem, dict[ScoringMode, Credit]]] = []
    for item in items_of(task, judged.keys):
        values = {mode: judged.credit(mode, item.index, rules) for mode in ScoringMode}
        if state == State.FAILED:
            values = {ScoringMode.COMPAT: Credit(None), ScoringMode.STRICT: Credit(False)}
        graded.append((item, values))
    return graded


def comp_of(session: Session, task: TaskSpec, judged: JudgedSession, rules: Rules) -> dict[ScoringMode, float | None]:
    graded_at = {ScoringMode.COMPAT: session.graded_compat_at, ScoringMode.STRICT: session.graded_strict_at}
    items = session_items(task, session.state, judged, rules)
    return {
        mode: completeness([(item.weight, values[mode].value) for item, values in items]) if graded_at[mode] else None
        for mode in ScoringMode
    }


def ungraded_items(session: Session, task: TaskSpec, judged: JudgedSession, rules: Rules) -> int:
    if session.graded_strict_at is None or session.state == State.FAILED:
        return 0
    return sum(
        judged.credit(ScoringMode.STRICT, item.index, rules).value is None for item in items_of(task, judged.keys)
    )


def _decisions(rows: VerdictQuerySet, corrected: bool, *columns: str) -> Iterator[tuple[Any, ...]]:
    return rows.decisions(*columns) if corrected else iter(rows.values_list(*columns, "met"))


def _derived_sessions(judging_round: JudgingRound, judged: Collection[int], *, corrected: bool) -> set[int]:
    """Those whose intents did not end as the conversation recorded it: judged again, or corrected by people."""
    if judging_round.number > 1:
        return set(judged)
    if not corrected:
        return set()
    rows = VerdictCorrection.objects.filter(verdict__judging__round=judging_round, verdict__judging__scoring="")
    return set(rows.values_list("verdict__judging__session", flat=True)) & set(judged)


def recorded_statuses(sessions: Collection[int]) -> dict[int, dict[int, IntentStatus]]:
    """With which the conversations ended, by session and index."""
    statuses: dict[int, dict[int, IntentStatus]] = defaultdict(dict)
    known: dict[tuple[str, int], IntentStatus] = {}
    rows = SessionIntent.objects.filter(session__in=sessions).order_by("session", "index")
    for pk, index, status, turn in rows.values_list("session", "index", "status", "turn"):
        statuses[pk][index] = known.setdefault((status, turn), IntentStatus(status, turn))
    return statuses


def _majority(samples: Sequence[Mapping[int, IntentStatus]]) -> dict[int, IntentStatus]:
    """Of each intent, the status in the middle when ordered from met early to never met."""
    merged: dict[int, IntentStatus] = {}
    for index in {index for statuses in samples for index in statuses}:
        ranked = sorted((statuses.get(index, OPEN) for statuses in samples), key=IntentStatus.rank)
        if (middle := ranked[len(ranked) // 2]) != OPEN:
            merged[index] = middle
    return merged


def thoughts_by_call(session_id: int, keys: Collection[int | None]) -> dict[int, str]:
    """Of those calls of a session that had some."""
    found = {}
    for call, exchange, _ in read_chain(ModelCall.objects.filter(session=session_id)) if any(keys) else ():
        if call.pk in keys and exchange.response and (thoughts := read_answer(exchange.response).thoughts):
            found[call.pk] = thoughts[:MAX_THOUGHTS]
    return found


def correct_verdict(
    verdict: Verdict, met: bool, *, by: User | None, reason: str = "", source: str = ""
) -> VerdictCorrection:
    """People decided: the verdict counts as ``met`` from now on, and scores follow."""
    return VerdictCorrection.objects.create(verdict=verdict, met=met, by=by, reason=reason, source=source)

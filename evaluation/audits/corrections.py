"""Verdicts corrected by an audit: where people decided otherwise than the judge, their answer may score.

It is a choice of those who plan audits, recorded and taken back at will. The audit's own figures, raw and corrected,
stay as they are: they are about the judge, whose verdicts audits always read uncorrected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q

from annotations.campaigns import record_event
from annotations.decided import audited_questions, credited
from annotations.models import AuditCampaign
from annotations.sources import AUDIT, SESSION, VERDICT, audit_name
from evaluation.audits.campaigns import audited_pilots, audited_round
from evaluation.grading.intents import IntentStatus
from evaluation.judging.judged import correct_verdict, load_judged
from evaluation.judging.judgings import recompute_results, scoring_choice
from evaluation.models import JudgingRound, Pilot, Session, Verdict, VerdictCorrection
from evaluation.models.judgings import scoring_round
from evaluation.protocol.scoring import ScoringMode
from studio.domain.options import OptionsError
from studio.models import User
from studio.models.transactions import atomic_with_retry

Kind = Verdict.Kind


@dataclass(frozen=True)
class OverturnedQuestion:
    """What people decided otherwise than the judge."""

    source: str
    """Of the packet."""
    key: str
    judge: str
    people: str


def overturned_questions(campaign: AuditCampaign) -> list[OverturnedQuestion]:
    """Where both questions were asked, in truth."""
    rows = sorted(audited_questions([campaign.pk]), key=lambda row: row.truth)
    newest = {(row.source, row.key): row for row in rows if row.decided is not None}
    return [
        OverturnedQuestion(row.source, row.key, row.judge, row.decided or "")
        for row in newest.values()
        if row.decided != row.judge
    ]


def corrections_by(campaign: AuditCampaign) -> list[VerdictCorrection]:
    """The newest of each verdict that this audit corrected and nobody has corrected since; without those taken back."""
    source = audit_name(campaign)
    touched = VerdictCorrection.objects.filter(source=source).values("verdict")
    newest = VerdictCorrection.objects.filter(verdict__in=touched).order_by("verdict_id", "-pk").distinct("verdict_id")
    rows = newest.select_related("verdict", "by")
    return [row for row in rows if row.source == source and row.met != row.verdict.met]


@atomic_with_retry
def correct_by_audit(campaign: AuditCampaign, *, by: User, reason: str) -> int:
    """Every verdict on which people decided otherwise counts as they decided, in the scores of its pilot, from now on.
    The number of verdicts. Raises OptionsError.
    """
    campaign = AuditCampaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.state != AuditCampaign.State.CLOSED:
        raise OptionsError("", "Close the audit first: its answers can still change.")
    if not reason.strip():
        raise OptionsError("reason", "Say in one sentence why people's answers should score; it stays in the history.")
    rounds = _scoring_rounds(campaign)
    changes = dict(change for question in overturned_questions(campaign) for change in _changes_of(question, rounds))
    if not changes:
        raise OptionsError("", "People decided nothing otherwise than the judge that still scores.")
    for row, met in changes.items():
        correct_verdict(row, met, by=by, reason=reason.strip(), source=audit_name(campaign))
    _record(campaign, by, f"Let people's answers in “{campaign.name}” score.", reason)
    return len(changes)


@atomic_with_retry
def take_corrections_back(campaign: AuditCampaign, *, by: User, reason: str) -> int:
    """The judge's verdicts count again. The number of verdicts. Raises OptionsError."""
    campaign = AuditCampaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if not reason.strip():
        raise OptionsError("reason", "Say in one sentence why the judge's verdicts should score again.")
    rows = corrections_by(campaign)
    if not rows:
        raise OptionsError("", "No verdict is corrected by this audit.")
    for row in rows:
        assert row.verdict.met is not None
        correct_verdict(row.verdict, row.verdict.met, by=by, reason=reason.strip(), source=audit_name(campaign))
    _record(campaign, by, f"Let the judge's verdicts score again, not people's answers in “{campaign.name}”.", reason)
    return len(rows)


def _record(campaign: AuditCampaign, by: User, summary: str, reason: str) -> None:
    """``summary``: neither how many nor why, since everybody reads it, also who judges the same in another audit. The
    reason is shown in the audit's history, with the results."""
    record_event(campaign, "verdicts_corrected", summary, by=by, reason=reason.strip())
    recompute_results(campaign.benchmark_id)


def _scoring_rounds(campaign: AuditCampaign) -> dict[int, JudgingRound]:
    """By pilot: those that were audited and score now."""
    audited = {pilot: audited_round(campaign, pilot) for pilot in audited_pilots(campaign)}
    return {pilot.pk: row for pilot, row in audited.items() if row == scoring_choice(pilot).round}


def why_not_scored(campaign: AuditCampaign) -> Counter[str]:
    """How many of the overturned questions can correct no verdict, by the reason."""
    rounds = _scoring_rounds(campaign)
    return Counter(_why_not(question, rounds) for question in overturned_questions(campaign)) - Counter([""])


def _why_not(question: OverturnedQuestion, rounds: Mapping[int, JudgingRound]) -> str:
    if _changes_of(question, rounds):
        return ""
    if question.source.startswith(SESSION) and _session_of(question, rounds):
        return "the judge was never asked what people decided"
    return "another judging scores its pilot now"


def _changes_of(question: OverturnedQuestion, rounds: Mapping[int, JudgingRound]) -> list[tuple[Verdict, bool]]:
    """Verdicts and what they should count as. Of rounds that no longer score, none."""
    if question.source.startswith(VERDICT):
        row = Verdict.objects.filter(pk=_key_of(question), judging__round__in=rounds.values()).first()
        return [(row, credited(question.people))] if row else []
    session = _session_of(question, rounds)
    return list(_of_session(session, rounds[session.run.pilot_id or 0], question)) if session else []


def _session_of(question: OverturnedQuestion, rounds: Mapping[int, JudgingRound]) -> Session | None:
    rows = Session.objects.filter(pk=_key_of(question), run__pilot__in=rounds)
    return rows.select_related("run", "revision").first()


def _key_of(question: OverturnedQuestion) -> int:
    return int(question.source.rpartition(":")[2])


def _of_session(
    session: Session, judging_round: JudgingRound, question: OverturnedQuestion
) -> Iterator[tuple[Verdict, bool]]:
    kind, _, number = question.key.rpartition("-")
    rows = Verdict.objects.filter(judging__round=judging_round, judging__session=session, index=int(number))
    if kind == "item":
        items = rows.filter(kind=Kind.CHECKLIST, grader="rubric")
        strict = items.filter(judging__scoring=ScoringMode.STRICT)
        yield from _item(list(strict if strict.exists() else items), credited(question.people))
    else:
        status = load_judged(judging_round, [session], corrected=False)[session.pk].statuses[int(number)]
        yield from _intent(list(rows.exclude(kind=Kind.CHECKLIST)), question.people, status)


def _item(rows: Sequence[Verdict], met: bool) -> Iterator[tuple[Verdict, bool]]:
    """Met: in the last turn that was judged. Not met: in none."""
    for sample in _by_sample(rows):
        yield from [(sample[-1], True)] if met else [(row, False) for row in sample if row.met]


def _intent(rows: Sequence[Verdict], people: str, judged: IntentStatus) -> Iterator[tuple[Verdict, bool]]:
    """``judged``: the status that the judge's verdicts came to, and its turn: what is met later does not count."""
    wanted = {"completed": Kind.SATISFACTION, "inferred": Kind.FOLLOW_UP}.get(people)
    for sample in _by_sample(rows):
        inside = [row for row in sample if row.turn <= judged.turn]
        chosen = next((row for row in reversed(inside) if row.kind == wanted), None)
        if wanted and chosen is None:
            continue  # the judge was never asked it: its verdicts cannot say what people decided
        for row in sample:
            if row == chosen:
                yield row, True
            elif row.met:
                yield row, False


def _by_sample(rows: Sequence[Verdict]) -> list[list[Verdict]]:
    """In order of turns."""
    by_judging: dict[int, list[Verdict]] = {}
    for row in sorted(rows, key=lambda each: (each.turn, each.kind != Kind.SATISFACTION)):
        by_judging.setdefault(row.judging_id, []).append(row)
    return list(by_judging.values())


@dataclass(frozen=True)
class CorrectedVerdicts:
    number: int
    audit: AuditCampaign | None
    """That found them wrong."""


def corrected_in_pilots(pilots: Collection[Pilot]) -> list[CorrectedVerdicts]:
    """With the sessions that they took over."""
    return _corrected(Q(verdict__judging__session__in=Session.objects.of(*pilots)))


def corrected_in_session(session: Session) -> list[CorrectedVerdicts]:
    return _corrected(Q(verdict__judging__session=session))


def _corrected(where: Q) -> list[CorrectedVerdicts]:
    scoring = Q(verdict__judging__round=scoring_round("verdict__judging__session__run__pilot"))
    rows = VerdictCorrection.objects.filter(where & scoring).order_by("verdict_id", "-pk").distinct("verdict_id")
    sources = Counter(
        source for source, met, judged in rows.values_list("source", "met", "verdict__met") if met != judged
    )
    keys = {int(source.removeprefix(AUDIT)) for source in sources if source.startswith(AUDIT)}
    audits = {f"{AUDIT}{key}": row for key, row in AuditCampaign.objects.in_bulk(keys).items()} if keys else {}
    return [CorrectedVerdicts(number, audits.get(source)) for source, number in sorted(sources.items())]

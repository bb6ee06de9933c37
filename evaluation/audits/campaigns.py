"""Opening audits of a pilot's judge, and reading their results.

Audits know nothing of verdicts: each is frozen into a packet with what the judge saw, and its decision
sealed beside it. A scripted judge may be audited for practice; such an audit is marked and never evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotations.campaigns import CampaignError, FrozenDecision, open_campaign, validate_auditors
from annotations.models import AuditCampaign
from annotations.packets import PacketContent, SealedDecision, build_content
from annotations.planning import decisions_needed, sessions_needed
from annotations.results import AuditSummary, summarize
from annotations.sampling import AuditableDecision, draw_sample
from evaluation.audits.parts import conversation_parts, file_parts, reply_part, tool_parts
from evaluation.audits.sessions import (
    AuditableSession,
    as_candidate,
    as_population,
    auditable_sessions,
    freeze_session,
)
from evaluation.grading.evidence import load_evidence
from evaluation.grading.judgings import judge_of, scoring_choice
from evaluation.models import Judging, Pilot, Session, Verdict
from evaluation.models.judgings import scoring_round
from evaluation.protocol.scoring import ScoringMode
from studio.domain.task import TaskSpec
from studio.drafts.authors import contributors_to_tasks
from studio.models import Benchmark, Review, Task, User

DEFAULT_SIZE = 60
DEFAULT_SESSIONS = 120
"""As in the paper, section F.1."""
DEFAULT_PEOPLE = 3
MAX_PEOPLE = 9
MAX_SIZE = 2_000
SOURCE = "pilot:"
"""Before a pilot's key: names it as the source of a packet, whose own module knows nothing of pilots."""


def auditable_verdicts(pilot: Pilot) -> QuerySet[Verdict]:
    """Of the judgings that score, of their first sample."""
    return Verdict.objects.scoring().filter(_auditable(), judging__session__run__pilot=pilot)


def auditable_pilots(benchmark: Benchmark) -> QuerySet[Pilot]:
    path = "runs__sessions__judgings__"
    scores = Q(**{f"{path}round": scoring_round("pk")})
    counted = Count(f"{path}verdicts", filter=_auditable(f"{path}verdicts__") & scores)
    pilots = Pilot.objects.filter(benchmark=benchmark).select_related("agent", "judge")
    return pilots.annotate(decisions=counted).filter(decisions__gt=0)


def _auditable(path: str = "") -> Q:
    """Decisions of models; ``path`` is the lookup path to verdicts. Checklist items count in strict mode only, where
    each verdict is about one turn as it was.
    """

    def where(**fields: Any) -> Q:
        return Q(**{f"{path}{name}": value for name, value in fields.items()})

    rubric = where(kind=Verdict.Kind.CHECKLIST, judging__scoring=ScoringMode.STRICT, grader="rubric")
    return (rubric | where(grader="judge")) & where(met__isnull=False, judging__sample=1)


def open_audit(
    pilot: Pilot,
    *others: Pilot,
    size: int | None = None,
    by: User | None,
    seed: int = 0,
    overlap: int = 1,
    name: str = "",
    auditors: Collection[User] = (),
    own_tasks: bool = False,
    unit: str = AuditCampaign.Unit.DECISION,
    half_width: float | None = None,
) -> AuditCampaign:
    """Sample what judges decided in one or more pilots of a benchmark, and freeze it for people to judge: whole
    sessions in equal numbers from each pilot, or single decisions by kind, answer, persona and pilot.

    Without ``size``, as many as give the ``half_width``, in points, of the rate of disagreement.
    The same seed draws the same sample of the same verdicts. Raises CampaignError.
    """
    whole = unit == AuditCampaign.Unit.SESSION
    pilots = list(dict.fromkeys((pilot, *others)))
    sessions = {row.source: row for row in auditable_sessions(pilots)} if whole else {}
    if size is None:
        size = _size_for(half_width, sessions, whole=whole)
    if not 1 <= size <= MAX_SIZE:
        raise CampaignError("size", f"Choose between 1 and {MAX_SIZE} {'sessions' if whole else 'decisions'}.")
    validate_auditors(pilot.benchmark, overlap, auditors)
    frozen = _draw_sessions(pilots, sessions, size, seed) if whole else _draw_decisions(pilots, size, seed)
    numbers = ", ".join(str(row.number) for row in pilots)
    return open_campaign(
        pilot.benchmark,
        frozen,
        unit=unit,
        population=[as_population(row) for row in sessions.values()],
        name=name or f"Audit of pilot{'s' if others else ''} {numbers}"[:200],
        source=" ".join(map(source_of, pilots)),
        seed=seed,
        overlap=overlap,
        scripted=any(row.scripted or is_judged_by_script(row) for row in pilots),
        by=by,
        auditors=auditors,
        own_tasks=own_tasks,
    )


def _size_for(half_width: float | None, sessions: Mapping[str, AuditableSession], *, whole: bool) -> int:
    if half_width is None:
        return DEFAULT_SESSIONS if whole else DEFAULT_SIZE
    try:
        if not whole:
            return decisions_needed(half_width / 100)
        questions = sum(len(row.questions) for row in sessions.values()) / max(1, len(sessions))
        return sessions_needed(half_width / 100, questions)
    except ValueError as error:
        raise CampaignError("half_width", "Choose a precision between 0 and 50 points.") from error


def is_judged_by_script(pilot: Pilot) -> bool:
    """Whether a scripted model answered in the round that scores, apart from what the pilot itself says."""
    judgings = Judging.objects.filter(round=scoring_choice(pilot).round, round__number__gt=1)
    return judgings.filter(scripted=True).exists()


def audits_of(pilot: Pilot) -> QuerySet[AuditCampaign]:
    return AuditCampaign.objects.filter(source__regex=f"(^| ){source_of(pilot)}( |$)")


def summarize_audits(of: Benchmark | Pilot) -> AuditSummary:
    """Results for a pilot's judges, or for all real judges of a benchmark. Scripted judges do not count."""
    campaigns = audits_of(of) if isinstance(of, Pilot) else AuditCampaign.objects.filter(benchmark=of)
    return summarize(list(campaigns.filter(scripted=False)))


def source_of(pilot: Pilot) -> str:
    return f"{SOURCE}{pilot.pk}"


def pilot_keys(sources: Iterable[str]) -> set[int]:
    return {int(name.removeprefix(SOURCE)) for name in sources if name.startswith(SOURCE)}


def _auditable_decisions(pilots: Sequence[Pilot]) -> Iterator[AuditableDecision]:
    for pilot in pilots:
        rows = auditable_verdicts(pilot).values_list(
            "pk", "kind", "met", "judging__session__run__persona_revision__persona__user_id"
        )
        suffix = f" · pilot {pilot.number}" if len(pilots) > 1 else ""
        for pk, kind, met, persona in rows.iterator(chunk_size=5_000):
            stratum = f"{kind} · {'yes' if met else 'no'} · {persona}"[: 100 - len(suffix)]
            yield AuditableDecision(f"verdict:{pk}", stratum + suffix)


def _draw_sessions(
    pilots: Sequence[Pilot], found: Mapping[str, AuditableSession], size: int, seed: int
) -> list[FrozenDecision]:
    sample = draw_sample(map(as_candidate, found.values()), size, seed, uniform=True)
    names = {name for pilot in pilots for name in _model_names(pilot)}
    judges = {pilot.pk: str(scoring_choice(pilot).round.judge.get("model", "")) for pilot in pilots}
    involved = people_involved_in({found[sampled.key].session.revision.task for sampled in sample})
    frozen = []
    for sampled in sample:
        row = found[sampled.key]
        content, sealed = freeze_session(row, judges[row.pilot.pk], names)
        frozen.append(
            FrozenDecision(
                source=row.source,
                stratum=row.stratum,
                weight=sampled.weight,
                content=content,
                sealed=sealed,
                involved=frozenset(involved[row.session.revision.task_id]),
                cluster=row.source,
            )
        )
    return frozen


def _draw_decisions(pilots: Sequence[Pilot], size: int, seed: int) -> list[FrozenDecision]:
    sample = draw_sample(_auditable_decisions(pilots), size, seed)
    pks = [int(sampled.key.removeprefix("verdict:")) for sampled in sample]
    verdicts = {row.pk: row for row in Verdict.objects.filter(pk__in=pks).select_related("judging__endpoint")}
    by_session: dict[int, list[Verdict]] = defaultdict(list)
    for row in verdicts.values():
        by_session[row.judging.session_id or 0].append(row)
    sessions = Session.objects.filter(pk__in=by_session).select_related("revision__task")
    names = {name for pilot in pilots for name in _model_names(pilot)}
    contents: dict[int, PacketContent] = {}
    tasks: dict[int, Task] = {}
    for session in sessions.iterator(chunk_size=50):
        contents |= _build_contents(session, by_session[session.pk], names)
        tasks[session.pk] = session.revision.task
    involved = people_involved_in(set(tasks.values()))
    return [
        FrozenDecision(
            source=sampled.key,
            stratum=sampled.stratum,
            weight=sampled.weight,
            content=contents[pk],
            sealed=SealedDecision(
                decision=bool(verdicts[pk].met),
                quote=verdicts[pk].quote,
                reason=verdicts[pk].reason,
                judge=judge_of(verdicts[pk].judging).model,
            ),
            involved=frozenset(involved[tasks[verdicts[pk].judging.session_id or 0].pk]),
            cluster=f"session:{verdicts[pk].judging.session_id}",
        )
        for sampled, pk in zip(sample, pks, strict=True)
    ]


def people_involved_in(tasks: Iterable[Task]) -> dict[int, set[int]]:
    """Keys of everyone who wrote, edited or approved the tasks, in whatever version, by the task's key."""
    people = contributors_to_tasks({task.pk: task.version for task in tasks})
    approvals = Review.objects.filter(
        revision__task__in=people, decision=Review.Decision.APPROVED, reviewer__isnull=False
    )
    for task, reviewer in approvals.order_by().values_list("revision__task_id", "reviewer_id"):
        people[task].add(reviewer)
    return people


def _build_contents(session: Session, verdicts: Iterable[Verdict], names: Collection[str]) -> dict[int, PacketContent]:
    task = TaskSpec.model_validate(session.revision.spec)
    turns = {turn.number: turn for turn in load_evidence(session, ScoringMode.STRICT)}
    intents = [intent.content for intent in task.intents]
    contents: dict[int, PacketContent] = {}
    for verdict in verdicts:
        turn = turns[verdict.turn]
        if verdict.kind == Verdict.Kind.CHECKLIST:
            parts = [*conversation_parts(turn), *tool_parts(turn.calls, task), *file_parts(turn, task)]
            contents[verdict.pk] = build_content("checklist", verdict.label, parts, context=intents, names=names)
        elif verdict.kind == Verdict.Kind.SATISFACTION:
            parts = [reply_part(turn), *file_parts(turn, task)]
            contents[verdict.pk] = build_content("satisfaction", verdict.label, parts, names=names)
        else:
            contents[verdict.pk] = build_content("follow_up", verdict.label, [reply_part(turn)], names=names)
    return contents


def _model_names(pilot: Pilot) -> set[str]:
    now = {name for end in (pilot.agent, pilot.user_model, pilot.judge) for name in (end.name, end.model)}
    then = [end for end in pilot.config.values() if isinstance(end, dict)]
    return now | {str(end[key]) for end in then for key in ("name", "model") if end.get(key)}

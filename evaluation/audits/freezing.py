"""Freezing what was drawn: each decision or session with what the judge saw, and its decision beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, cast

from django.db.models import Q, QuerySet

from annotations.campaigns import FrozenDecision
from annotations.packets import DECISION, NO, YES, Kind, PacketContent, Sealed, build_content, make_redactor
from annotations.sampling import AuditableDecision, SampledDecision, draw_sample
from evaluation.audits.material import shown_to_judge, whole_record
from evaluation.audits.planted_questions import Owner
from evaluation.audits.rounds import Rounds
from evaluation.audits.sessions import (
    QUESTION,
    AuditableSession,
    Strata,
    category_label,
    category_names,
    freeze_session,
    judge_labels,
    session_labels,
    stratum_of,
    wavering_questions,
)
from evaluation.judging.judged import thoughts_by_call
from evaluation.judging.judgings import judge_of
from evaluation.models import JudgingRound, Pilot, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from evaluation.store.evidence import load_conversation, load_evidence
from studio.domain.task import TaskSpec
from studio.drafts.authors import contributors_to_tasks
from studio.models import Blob, Review, Task

UNIFORM = (Strata.PILOT, Strata.MODEL, Strata.DISAGREEMENT)


def auditable_verdicts(audited: JudgingRound) -> QuerySet[Verdict]:
    """Of a round's first samples."""
    return Verdict.objects.filter(auditable(), judging__round=audited)


def auditable(path: str = "") -> Q:
    """Decisions of models; ``path`` is the lookup path to verdicts. Checklist items count in strict mode only, where
    each verdict is about one turn as it was.
    """

    def where(**fields: Any) -> Q:
        return Q(**{f"{path}{name}": value for name, value in fields.items()})

    rubric = where(kind=Verdict.Kind.CHECKLIST, judging__scoring=ScoringMode.STRICT, grader="rubric")
    return (rubric | where(grader="judge")) & where(met__isnull=False, judging__sample=1)


def _auditable_decisions(pilots: Sequence[Pilot], rounds: Rounds, strata: str) -> Iterator[AuditableDecision]:
    persona = "judging__session__run__persona_revision__persona__user_id"
    category = "judging__session__revision__spec__category"
    for pilot in pilots:
        wavering = wavering_questions(pilot) if strata == Strata.DISAGREEMENT else set()
        names = category_names(pilot.benchmark)
        suffix = f" · pilot {pilot.number}" if len(pilots) > 1 else ""
        rows = auditable_verdicts(rounds[pilot.pk]).values_list("pk", "met", "grader", persona, category, *QUESTION)
        for pk, met, grader, user_id, code, *question in rows.iterator(chunk_size=5_000):
            kind, answer = question[2], "yes" if met else "no"
            if strata == Strata.ANSWER:
                stratum = f"{kind} · {answer} · {user_id}"[: 100 - len(suffix)] + suffix
            else:
                labels = {"persona": user_id, "category": category_label(code or "", names)}
                status, wavers = f"{kind} · {answer}", tuple(question) in wavering
                stratum = stratum_of(strata, pilot, labels, status=status, grader=grader, wavers=wavers)
            yield AuditableDecision(f"verdict:{pk}", stratum)


def freeze_sessions(
    rows: Sequence[AuditableSession], sample: Sequence[SampledDecision], names: Collection[str]
) -> tuple[list[FrozenDecision], dict[str, Owner]]:
    involved = people_involved_in({row.session.revision.task for row in rows})
    frozen, owners = [], {}
    for row, sampled in zip(rows, sample, strict=True):
        content, sealed = freeze_session(row, row.labels["judge"], names)
        owners[row.source] = Owner(row.session.revision.task_id, row.session.run.persona_revision.persona_id)
        frozen.append(
            FrozenDecision(
                source=row.source,
                stratum=row.stratum,
                weight=sampled.weight,
                content=content,
                sealed=sealed,
                involved=frozenset(involved[row.session.revision.task_id]),
                cluster=row.source,
                truth=True,
                labels=row.labels,
            )
        )
    return frozen, owners


def draw_decisions(
    pilots: Sequence[Pilot],
    rounds: Rounds,
    size: int,
    seed: int,
    names: Collection[str],
    without: Collection[str] = (),
    strata: str = Strata.ANSWER,
) -> tuple[list[FrozenDecision], dict[str, Owner]]:
    """``without``: sources that are not drawn."""
    candidates = (row for row in _auditable_decisions(pilots, rounds, strata) if row.key not in without)
    sample = draw_sample(candidates, size, seed, uniform=strata in UNIFORM)
    drawn = {int(row.key.removeprefix("verdict:")): row for row in sample}
    by_session: dict[int, list[Verdict]] = defaultdict(list)
    for row in Verdict.objects.filter(pk__in=drawn).select_related("judging__endpoint", "judging__round"):
        by_session[row.judging.session_id or 0].append(row)
    sessions = Session.objects.filter(pk__in=by_session)
    involved = people_involved_in(Task.objects.filter(pk__in=sessions.values("revision__task")))
    pilot_of = {pilot.pk: pilot for pilot in pilots}
    categories = category_names(pilots[0].benchmark)
    frozen: dict[str, FrozenDecision] = {}
    owners: dict[str, Owner] = {}
    related = sessions.select_related("revision__task", "run__persona_revision__persona")
    for session in related.iterator(chunk_size=50):
        verdicts, task = by_session[session.pk], session.revision.task_id
        contents = _build_contents(session, verdicts, names)
        thoughts = thoughts_by_call(session.pk, {row.model_call_id for row in verdicts})
        spec = TaskSpec.model_validate(session.revision.spec)
        labels = session_labels(session, spec, pilot_of[session.run.pilot_id or 0], categories)
        for row in verdicts:
            sampled = drawn[row.pk]
            owners[sampled.key] = Owner(task, session.run.persona_revision.persona_id)
            frozen[sampled.key] = FrozenDecision(
                source=sampled.key,
                stratum=sampled.stratum,
                weight=sampled.weight,
                content=contents[row.pk][0],
                second=contents[row.pk][1],
                sealed=_seal(row, thoughts.get(row.model_call_id or 0, "")),
                involved=frozenset(involved[task]),
                cluster=f"session:{session.pk}",
                labels=labels | _judge_labels(row),
            )
    return [frozen[row.key] for row in sample], owners


def _seal(verdict: Verdict, thoughts: str) -> Sealed:
    return Sealed(
        answers={DECISION: YES if verdict.met else NO},
        quotes={DECISION: verdict.quote},
        reasons={DECISION: verdict.reason},
        thoughts={DECISION: thoughts},
        judge=judge_of(verdict.judging).model,
    )


def _judge_labels(verdict: Verdict) -> dict[str, str]:
    known = judge_labels(verdict.judging.round) if verdict.judging.round else {}
    return known | {"judge": judge_of(verdict.judging).model}


def people_involved_in(tasks: Iterable[Task]) -> dict[int, set[int]]:
    """Keys of everyone who wrote, edited or approved the tasks, in whatever version, by the task's key."""
    people = contributors_to_tasks({task.pk: task.version for task in tasks})
    approvals = Review.objects.filter(
        revision__task__in=people, decision=Review.Decision.APPROVED, reviewer__isnull=False
    )
    for task, reviewer in approvals.order_by().values_list("revision__task_id", "reviewer_id"):
        people[task].add(reviewer)
    return people


def _build_contents(
    session: Session, verdicts: Iterable[Verdict], names: Collection[str]
) -> dict[int, tuple[PacketContent, PacketContent]]:
    """By key of the verdict: what its judge saw, and everything."""
    conversation = load_conversation(session)
    task = conversation.task
    turns = {turn.number: turn for turn in load_evidence(session, ScoringMode.STRICT)}
    redact = make_redactor(names, task.model_dump_json())
    everything = whole_record(conversation, Blob.objects.read)
    contents: dict[int, tuple[PacketContent, PacketContent]] = {}
    for verdict in verdicts:
        kind, subject = cast(Kind, verdict.kind), verdict.subject(task)
        protocol = ProtocolName(verdict.judging.round.protocol if verdict.judging.round else ProtocolName.RELEASE)
        shown = shown_to_judge(kind, turns[verdict.turn], conversation, protocol)
        contents[verdict.pk] = (
            build_content(kind, subject, shown, redact=redact),
            build_content(kind, subject, everything, redact=redact, in_truth=f"turn {verdict.turn}"),
        )
    return contents

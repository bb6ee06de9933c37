"""Handing a judge's decisions to people, and reading back what they hold.

Audits know nothing of verdicts: each is frozen into a packet with what that judge saw, and what it
decided sealed beside it. A scripted judge may be audited, to try it; such an audit is marked and is
never evidence.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotations.campaigns import CampaignError, FrozenDecision, open_campaign, validate_auditors
from annotations.models import AuditCampaign
from annotations.packets import EvidencePart, PacketContent, SealedDecision, build_content
from annotations.results import AuditSummary, summarize
from annotations.sampling import AuditableDecision, SampledDecision, draw_sample
from evaluation.grading.evidence import TurnEvidence, load_evidence
from evaluation.models import Pilot, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import files_shown, read_texts, shown_fields
from studio.domain.task import TaskSpec
from studio.models import Benchmark, User

DEFAULT_SIZE = 60
LARGEST = 2_000


def auditable_verdicts(pilot: Pilot) -> QuerySet[Verdict]:
    return Verdict.objects.filter(_auditable(), session__run__pilot=pilot)


def auditable_pilots(benchmark: Benchmark) -> QuerySet[Pilot]:
    """Pilots with something to audit, each with ``decisions``, their number."""
    counted = Count("runs__sessions__verdicts", filter=_auditable("runs__sessions__verdicts__"))
    pilots = Pilot.objects.filter(benchmark=benchmark).select_related("agent", "judge")
    return pilots.annotate(decisions=counted).filter(decisions__gt=0)


def _auditable(path: str = "") -> Q:
    """Decisions of models, ``path`` being the lookup path to verdicts. Of checklists the strict ones: each is about
    one turn as it was then."""

    def verdict(**fields: Any) -> Q:
        return Q(**{f"{path}{name}": value for name, value in fields.items()})

    rubric = verdict(kind=Verdict.Kind.CHECKLIST, scoring=ScoringMode.STRICT, grader="rubric")
    return (rubric | verdict(grader="judge")) & verdict(met__isnull=False)


def open_audit(
    pilot: Pilot,
    *,
    size: int = DEFAULT_SIZE,
    by: User | None,
    seed: int = 0,
    overlap: int = 1,
    name: str = "",
    auditors: Collection[User] = (),
) -> AuditCampaign:
    """Sample a pilot's decisions over kind, decision and persona, and freeze them for people to judge.

    The same seed draws the same sample of the same verdicts. Raises CampaignError.
    """
    if not 1 <= size <= LARGEST:
        raise CampaignError("size", f"Choose between 1 and {LARGEST} decisions.")
    validate_auditors(pilot.benchmark, overlap, auditors)
    drawn = draw_sample(_candidates(pilot), size, seed)
    return open_campaign(
        pilot.benchmark,
        _frozen(pilot, drawn),
        name=name or f"Audit of pilot {pilot.number}",
        source=source_of(pilot),
        seed=seed,
        overlap=overlap,
        scripted=pilot.scripted or pilot.judge.scripted,
        by=by,
        auditors=auditors,
    )


def audits_of(pilot: Pilot) -> QuerySet[AuditCampaign]:
    return AuditCampaign.objects.filter(source=source_of(pilot))


def audit_summary(of: Benchmark | Pilot) -> AuditSummary:
    """What people hold of a pilot's judges, or of all real judges of a benchmark. Scripted ones are no evidence."""
    campaigns = audits_of(of) if isinstance(of, Pilot) else AuditCampaign.objects.filter(benchmark=of)
    return summarize(list(campaigns.filter(scripted=False)))


def source_of(pilot: Pilot) -> str:
    return f"pilot:{pilot.pk}"


def _candidates(pilot: Pilot) -> Iterator[AuditableDecision]:
    rows = auditable_verdicts(pilot).values_list(
        "pk", "kind", "met", "session__run__persona_revision__persona__user_id"
    )
    for pk, kind, met, persona in rows.iterator(chunk_size=5_000):
        yield AuditableDecision(f"verdict:{pk}", f"{kind} · {'yes' if met else 'no'} · {persona}"[:100])


def _frozen(pilot: Pilot, drawn: Sequence[SampledDecision]) -> list[FrozenDecision]:
    """The drawn verdicts in their order, each with what its judge saw; a session is loaded once."""
    pks = [int(one.key.removeprefix("verdict:")) for one in drawn]
    verdicts = {row.pk: row for row in Verdict.objects.filter(pk__in=pks)}
    by_session: dict[int, list[Verdict]] = defaultdict(list)
    for row in verdicts.values():
        by_session[row.session_id].append(row)
    sessions = Session.objects.filter(pk__in=by_session).select_related("revision")
    names = _names(pilot)
    shown: dict[int, PacketContent] = {}
    for session in sessions.iterator(chunk_size=50):
        shown |= _shown(session, by_session[session.pk], names)
    return [
        FrozenDecision(
            source=one.key,
            stratum=one.stratum,
            weight=one.weight,
            shown=shown[pk],
            sealed=SealedDecision(
                decision=bool(verdicts[pk].met),
                quote=verdicts[pk].quote,
                reason=verdicts[pk].reason,
                judge=pilot.judge.model,
            ),
        )
        for one, pk in zip(drawn, pks, strict=True)
    ]


def _shown(session: Session, verdicts: Iterable[Verdict], names: Collection[str]) -> dict[int, PacketContent]:
    task = TaskSpec.model_validate(session.revision.spec)
    scenes = {scene.number: scene for scene in load_evidence(session, ScoringMode.STRICT)}
    intents = [intent.content for intent in task.intents]
    found: dict[int, PacketContent] = {}
    for verdict in verdicts:
        scene = scenes[verdict.turn]
        if verdict.kind == Verdict.Kind.CHECKLIST:
            parts = [*_conversation(scene), *_tools(scene, task), *_files(scene, task)]
            found[verdict.pk] = build_content("checklist", verdict.label, parts, context=intents, names=names)
        elif verdict.kind == Verdict.Kind.SATISFACTION:
            parts = [_reply(scene), *_files(scene, task)]
            found[verdict.pk] = build_content("satisfaction", verdict.label, parts, names=names)
        else:
            found[verdict.pk] = build_content("follow_up", verdict.label, [_reply(scene)], names=names)
    return found


def _conversation(scene: TurnEvidence) -> list[EvidencePart]:
    asked = [
        EvidencePart(role="user", label=f"turn {turn}", text=text) for turn, text in enumerate(scene.messages, start=1)
    ]
    return [*asked, _reply(scene)]


def _reply(scene: TurnEvidence) -> EvidencePart:
    return EvidencePart(role="assistant", label=f"turn {scene.number}", text=scene.reply)


def _tools(scene: TurnEvidence, task: TaskSpec) -> Iterator[EvidencePart]:
    for call in scene.calls:
        fields = shown_fields(call, task.tool_evidence)
        if fields is not None:
            yield EvidencePart(role="tool", label=call.name, text=_as_lines(fields))


def _files(scene: TurnEvidence, task: TaskSpec) -> list[EvidencePart]:
    texts = read_texts(files_shown(task), scene.read)
    return [EvidencePart(role="file", label=path, text=text) for path, text in texts.items()]


def _as_lines(fields: dict[str, dict[str, object]]) -> str:
    """``call`` and ``result`` fields a line each, texts as they are."""
    lines = []
    for side, values in fields.items():
        for path, value in values.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            lines.append(f"{side} {path}: {text}")
    return "\n".join(lines)


def _names(pilot: Pilot) -> set[str]:
    """What the models of a pilot are called, now and when it started."""
    now = {name for end in (pilot.agent, pilot.user_model, pilot.judge) for name in (end.name, end.model)}
    then = [end for end in pilot.config.values() if isinstance(end, dict)]
    return now | {str(end[key]) for end in then for key in ("name", "model") if end.get(key)}

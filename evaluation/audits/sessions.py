"""Auditing whole sessions, the paper's unit (section F.1): every terminal status that a judge decided, and every
checklist item that it graded, on the record of the whole session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotations.campaigns import PopulationRow
from annotations.models import AuditCampaign
from annotations.packets import STATUSES, PacketContent, Question, Sealed, build_content, make_redactor
from annotations.sampling import AuditableDecision
from annotations.sources import SESSION
from evaluation.audits.material import whole_record
from evaluation.audits.rounds import Rounds
from evaluation.grading.items import GradedItem
from evaluation.judging.judged import JudgedSession, load_judged, session_items, thoughts_by_call
from evaluation.judging.judgings import Rules, rules_of, scoring_choice
from evaluation.models import JudgingRound, Pilot, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.store.evidence import load_conversation
from studio.domain.task import TaskSpec
from studio.models import Benchmark, Blob, Category

Strata = AuditCampaign.Strata
QUESTION = ("judging__session", "judging__scoring", "kind", "turn", "index")
"""What a verdict answers, whoever gave it."""
WAVERING = {True: "judges differ or waver", False: "judges agree"}


@dataclass(frozen=True)
class JudgedQuestion:
    question: Question
    answer: str
    share: float
    """What its credit adds to the session's Proc or Comp."""


@dataclass(frozen=True)
class AuditableSession:
    """A finished session with what the judge decided of it."""

    session: Session
    pilot: Pilot
    round: JudgingRound
    task: TaskSpec
    questions: tuple[JudgedQuestion, ...]
    proc: float | None
    """Of its own intents; None for a set-up task, which is never scored alone."""
    comp: float | None
    stratum: str
    labels: dict[str, str]

    @property
    def source(self) -> str:
        return f"{SESSION}{self.session.pk}"


def auditable_sessions(
    pilots: Sequence[Pilot], rounds: Rounds, strata: str = Strata.PILOT
) -> Iterator[AuditableSession]:
    for pilot in pilots:
        audited = rounds[pilot.pk]
        rows = Session.objects.filter(run__pilot=pilot, state=Session.State.FINISHED)
        sessions = list(rows.select_related("revision__task", "run__persona_revision__persona").order_by("pk"))
        wavering = {row[0] for row in wavering_questions(pilot)} if strata == Strata.DISAGREEMENT else set()
        names = category_names(pilot.benchmark)
        judged = load_judged(audited, sessions, corrected=False)
        specs = {row.revision_id: TaskSpec.model_validate(row.revision.spec) for row in sessions}
        rules = rules_of(scoring_choice(pilot))
        for session in sessions:
            task, decided = specs[session.revision_id], judged[session.pk]
            questions = judged_questions(task, session.state, decided, rules)
            if questions:
                known = _graded_items(task, session.state, decided, rules)
                total = sum(item.weight for item, _ in known)
                met_weight = sum(item.weight for item, met in known if met)
                covered = sum(status.status in COVERED for status in decided.statuses.values())
                labels = session_labels(session, task, pilot, names) | judge_labels(audited)
                yield AuditableSession(
                    session,
                    pilot,
                    audited,
                    task,
                    questions,
                    proc=None if task.is_setup or not task.intents else covered / len(task.intents),
                    comp=None if task.is_setup or not total else met_weight / total,
                    stratum=stratum_of(
                        strata,
                        pilot,
                        labels,
                        status=_worst_status(questions),
                        grader=" and ".join(sorted({item.grader for item, _ in known})) or "nothing",
                        wavers=session.pk in wavering,
                    ),
                    labels=labels,
                )


def stratum_of(strata: str, pilot: Pilot, labels: Mapping[str, str], *, status: str, grader: str, wavers: bool) -> str:
    named = {
        Strata.PILOT: f"pilot {pilot.number} · {pilot.agent_name}",
        Strata.MODEL: f"model {pilot.agent_name}",
        Strata.PERSONA: f"persona {labels['persona']}",
        Strata.CATEGORY: f"category {labels['category'] or 'none'}",
        Strata.STATUS: status,
        Strata.GRADER: f"graded by {grader}",
        Strata.DISAGREEMENT: WAVERING[wavers],
    }
    return named[Strata(strata)][:100]


def _worst_status(questions: Iterable[JudgedQuestion]) -> str:
    answers = {row.answer for row in questions if row.question.kind == "status"}
    return next((f"worst status {status}" for status in reversed(STATUSES) if status in answers), "no status")


def wavering_questions(pilot: Pilot) -> set[tuple[int, str, str, int, int]]:
    """What judgings, by whatever judge and however often, decided both ways: session, mode, kind, turn and index."""
    rows = Verdict.objects.filter(judging__session__run__pilot=pilot, met__isnull=False).order_by()
    asked = rows.values(*QUESTION)
    both = asked.annotate(yes=Count("pk", filter=Q(met=True)), no=Count("pk", filter=Q(met=False)))
    return set(both.filter(yes__gt=0, no__gt=0).values_list(*QUESTION))


def category_names(benchmark: Benchmark) -> dict[str, str]:
    return dict(Category.objects.filter(taxonomy=benchmark.taxonomy_id).values_list("code", "name"))


def category_label(code: str, names: Mapping[str, str]) -> str:
    """``names``: of categories, by code."""
    return f"{code} · {names[code]}" if names.get(code) else code


def session_labels(session: Session, task: TaskSpec, pilot: Pilot, names: Mapping[str, str]) -> dict[str, str]:
    """``names``: of categories, by code."""
    return {
        "persona": session.run.persona_revision.persona.user_id,
        "category": category_label(task.category, names),
        "model": pilot.agent_name,
        "task": session.revision.task.get_absolute_url(),
    }


def judge_labels(judging_round: JudgingRound) -> dict[str, str]:
    versions = {name: str(identity["version"]) for name, identity in judging_round.prompts.items()}
    intents = [
        f"{name.replace('_', '-')} {versions[name]}" for name in ("satisfaction", "follow_up") if name in versions
    ]
    return {
        "judge": str(judging_round.judge.get("model", "")),
        "protocol": judging_round.protocol,
        "prompts_checklist": f"checklist {versions['checklist']}" if "checklist" in versions else "",
        "prompts_intents": ", ".join(intents),
    }


def judged_questions(task: TaskSpec, state: str, judged: JudgedSession, rules: Rules) -> tuple[JudgedQuestion, ...]:
    """What a judge, not a rule or the request, decided of a session."""
    known = _graded_items(task, state, judged, rules)
    total = sum(item.weight for item, _ in known)
    items = [
        JudgedQuestion(
            Question(key=f"item-{item.index}", kind="checklist", subject=item.criterion),
            "yes" if met else "no",
            item.weight / total if total else 0.0,
        )
        for item, met in known
        if item.grader == "rubric"
    ]
    return (*_statuses(task, judged), *items)


def _graded_items(task: TaskSpec, state: str, judged: JudgedSession, rules: Rules) -> list[tuple[GradedItem, bool]]:
    """As strict judging has it, or where there is none, as in imported outputs, as it was judged."""
    rows = list(session_items(task, state, judged, rules))
    strict = any(item.grader == "rubric" and values[ScoringMode.STRICT].value is not None for item, values in rows)
    mode = ScoringMode.STRICT if strict else ScoringMode.COMPAT
    found = [(item, values[mode].value) for item, values in rows]
    return [(item, met) for item, met in found if met is not None]


def _statuses(task: TaskSpec, judged: JudgedSession) -> Iterator[JudgedQuestion]:
    """Of intents whose status a judge decided: not of those that the request tells."""
    for index, intent in enumerate(task.intents, start=1):
        status = judged.statuses.get(index)
        if status is not None and status.turn:
            question = Question(key=f"intent-{index}", kind="status", subject=intent.content)
            yield JudgedQuestion(question, status.status, 1 / len(task.intents))


def as_population(row: AuditableSession) -> PopulationRow:
    return PopulationRow(row.source, row.pilot.agent_name, row.stratum, proc=row.proc, comp=row.comp)


def as_candidate(row: AuditableSession) -> AuditableDecision:
    return AuditableDecision(row.source, row.stratum)


def freeze_session(row: AuditableSession, judge: str, names: Collection[str]) -> tuple[PacketContent, Sealed]:
    """Everything that happened, for what is so in truth."""
    content = build_content(
        "session",
        row.task.title or row.task.task_id,
        whole_record(load_conversation(row.session), Blob.objects.read),
        redact=make_redactor(names, row.task.model_dump_json()),
        questions=[judged.question for judged in row.questions],
        in_truth="the session",
    )
    sealed = Sealed(
        answers={judged.question.key: judged.answer for judged in row.questions},
        reasons=_reasons(row.session, row.round),
        thoughts=_thoughts(row.session, row.round),
        shares={judged.question.key: judged.share for judged in row.questions},
        judge=judge,
    )
    return content, sealed


def _reasons(session: Session, audited: JudgingRound) -> dict[str, str]:
    """The judge's last reason for each item."""
    given = _on_items(session, audited).exclude(reason="")
    return {f"item-{index}": reason for index, reason in given.values_list("index", "reason")}


def _thoughts(session: Session, audited: JudgingRound) -> dict[str, str]:
    """The judge's behind its last decision on each item."""
    asked = _on_items(session, audited).exclude(model_call=None)
    calls: Mapping[int, int] = dict(asked.values_list("index", "model_call"))
    thoughts = thoughts_by_call(session.pk, set(calls.values()))
    return {f"item-{index}": thoughts[call] for index, call in calls.items() if call in thoughts}


def _on_items(session: Session, audited: JudgingRound) -> QuerySet[Verdict]:
    """On each checklist item, the last one last."""
    judgings = session.judgings.filter(round=audited, scoring=ScoringMode.STRICT)
    rows = Verdict.objects.filter(judging__in=judgings, kind=Verdict.Kind.CHECKLIST)
    return rows.order_by("judging__sample", "turn")

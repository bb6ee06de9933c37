"""Grading a session both ways: what the judge and the rules see of each turn, and what they said.

strict looks at each turn as it was then, and does not judge again what an earlier turn has credited.
compat looks at every turn with the files as they are when the episode is over, as the release does.
Both can be interrupted anywhere: verdicts are stored turn by turn, and only what is missing is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import transaction

from evaluation.grading.items import GradedItem, ItemGrade, completeness, grade_over_turns, items_of
from evaluation.grading.rule import FINAL_ONLY, RuleError, RuleEvidence, check_rule
from evaluation.grading.script import GraderScriptError, grader_keys, run_grader
from evaluation.leases.sessions import lock_leased_row
from evaluation.models import Session, Turn, Verdict
from evaluation.protocol.history import calls_shown, tools_history
from evaluation.protocol.participants import Decision, InfrastructureError, ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import files_shown, read_texts, render_trace
from evaluation.sandbox import SandboxUnavailableError
from evaluation.workspaces.snapshots import Manifest, manifest_reader
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Blob


class ChecklistJudge(Protocol):
    """Puts rubric criteria to a model. Raises InfrastructureError."""

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> tuple[Sequence[Decision], int]:
        """The decisions, and the row of the ModelCall that gave them."""
        ...


@dataclass(frozen=True)
class TaskScript:
    """A task's grader script: its text and keys, or why there are none."""

    source: str = ""
    keys: tuple[str, ...] | None = None
    problem: str = ""


@dataclass(frozen=True)
class TurnEvidence:
    """What graders see of one turn, in one of the two ways."""

    number: int
    messages: tuple[str, ...]
    reply: str
    calls: tuple[ToolRecord, ...]
    read: Callable[[str], bytes | None]


@dataclass(frozen=True)
class SessionGrade:
    """The outcome of one way of scoring."""

    items: tuple[tuple[GradedItem, ItemGrade], ...]
    comp: float | None
    ungraded: int


def grade_session(
    session: Session, task: TaskSpec, persona: PersonaSpec, mode: ScoringMode, ask: ChecklistJudge
) -> SessionGrade:
    """Grade what is not graded yet, and give the result. Raises InfrastructureError, LeaseLostError.

    For compat, every conversation of the run must be over.
    """
    script = load_script(task, persona)
    items = items_of(task, script.keys)
    if items:
        scenes = load_evidence(session, mode)
        verdicts = _stored(session, mode)
        for scene in scenes:
            _grade_turn(session, task, items, scene, mode, ask, verdicts, last=scene is scenes[-1])
        _run_script(session, items, script, scenes, mode, verdicts)
    return session_grade(session, items, mode)


def session_grade(session: Session, items: Sequence[GradedItem], mode: ScoringMode) -> SessionGrade:
    """The grade that the stored verdicts amount to."""
    by_item: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    rows = session.verdicts.filter(kind=Verdict.Kind.CHECKLIST, scoring=mode).order_by("turn")
    for index, turn, met in rows.values_list("index", "turn", "met"):
        by_item[index].append((turn, met))
    graded = tuple((item, grade_over_turns(by_item[item.index])) for item in items)
    comp = completeness([(item.weight, grade.value) for item, grade in graded])
    return SessionGrade(graded, comp, sum(grade.value is None for _, grade in graded))


def load_script(task: TaskSpec, persona: PersonaSpec) -> TaskScript:
    """The grader script a task names, by its path below the persona's folder. Raises InfrastructureError without a
    sandbox."""
    if not task.grader_script:
        return TaskScript()
    found = persona.script(task.grader_script)
    content = Blob.objects.read([found.sha256]).get(found.sha256) if found else None
    if content is None:
        return TaskScript(problem=f"The grader script {task.grader_script} does not exist.")
    source = content.decode("utf-8", "replace")
    try:
        return TaskScript(source, grader_keys(source))
    except GraderScriptError as broken:
        return TaskScript(problem=str(broken))
    except SandboxUnavailableError as missing:
        raise InfrastructureError(f"The grader script cannot run here: {missing}") from missing


def load_evidence(session: Session, mode: ScoringMode) -> list[TurnEvidence]:
    """The session's turns as graders see them."""
    turns = list(session.turns.select_related("snapshot").prefetch_related("tool_calls").order_by("number"))
    calls = [[record_of(call) for call in turn.tool_calls.all()] for turn in turns]
    end: Manifest | None = episode_end(session) if mode == ScoringMode.COMPAT else None
    messages = tuple(turn.user_message for turn in turns)
    return [
        TurnEvidence(
            turn.number,
            messages[: position + 1],
            turn.reply,
            calls_shown(calls[: position + 1], mode),
            manifest_reader(turn.snapshot.manifest if end is None else end),
        )
        for position, turn in enumerate(turns)
    ]


def episode_end(session: Session) -> Manifest:
    """The workspace after the last turn of the run."""
    last = (
        Turn.objects.filter(session__run=session.run_id)
        .select_related("snapshot")
        .order_by("-session__position", "-number")
        .first()
    )
    return last.snapshot.manifest if last else {}


def record_of(call: object) -> ToolRecord:
    """A stored tool call as the protocol knows it."""
    return ToolRecord(call.name, call.arguments, call.result, call.ok)  # type: ignore[attr-defined]


def _grade_turn(
    session: Session,
    task: TaskSpec,
    items: Sequence[GradedItem],
    scene: TurnEvidence,
    mode: ScoringMode,
    ask: ChecklistJudge,
    verdicts: dict[int, dict[int, bool | None]],
    *,
    last: bool,
) -> None:
    """Judge one turn's rubric criteria in one call, and check its rules."""

    def due(item: GradedItem) -> bool:
        known = verdicts[item.index]
        return scene.number not in known and not (mode == ScoringMode.STRICT and True in known.values())

    rows: list[Verdict] = []
    rubric = [item for item in items if item.grader == "rubric" and due(item)]
    if rubric:
        files = read_texts(files_shown(task), scene.read)
        trace = render_trace(scene.messages, scene.reply, scene.calls, task.tool_evidence, files, mode)
        intents = [intent.content for intent in task.intents]
        decisions, call = ask(scene.number, mode, intents, trace, [(item.index, item.criterion) for item in rubric])
        rows += [
            verdict_of(session, item, mode, scene.number, decision, call)
            for item, decision in zip(rubric, decisions, strict=True)
        ]
    for item in items:
        only_at_the_end = item.rule is not None and item.rule.kind in FINAL_ONLY
        if item.grader == "rule" and not item.script and due(item) and (last or not only_at_the_end):
            rows.append(_rule_verdict(session, item, mode, scene))
    _store(session, rows, verdicts)


def verdict_of(
    session: Session, item: GradedItem, mode: ScoringMode, turn: int, decision: Decision, call: int | None
) -> Verdict:
    return Verdict(
        session=session,
        kind=Verdict.Kind.CHECKLIST,
        scoring=mode,
        turn=turn,
        index=item.index,
        uid=item.uid or None,
        label=item.criterion,
        grader=item.grader,
        met=decision.yes,
        quote=decision.quote,
        reason=decision.reason,
        supported=decision.supported,
        model_call_id=call,
    )


def _rule_verdict(session: Session, item: GradedItem, mode: ScoringMode, scene: TurnEvidence) -> Verdict:
    verdict = verdict_of(session, item, mode, scene.number, Decision(False), None)
    if item.rule is None:
        verdict.met, verdict.error = None, "The item should be checked by a rule but has none."
        return verdict
    try:
        result = check_rule(item.rule, RuleEvidence(scene.reply, scene.calls, scene.read))
    except RuleError as broken:
        verdict.met, verdict.error = None, str(broken)
    else:
        verdict.met, verdict.quote, verdict.reason = result.met, result.quote, result.reason
        verdict.supported = bool(result.quote)
    return verdict


def _run_script(
    session: Session,
    items: Sequence[GradedItem],
    script: TaskScript,
    scenes: Sequence[TurnEvidence],
    mode: ScoringMode,
    verdicts: dict[int, dict[int, bool | None]],
) -> None:
    """Run the grader script over all turns in one start of the sandbox.

    A call that raised is 0 for every key in compat, as the format has it; strict knows nothing then, and neither
    mode knows anything of a call that had to be stopped.
    """
    keyed = [item for item in items if item.script]
    if not keyed or not scenes or all(scenes[-1].number in verdicts[item.index] for item in keyed):
        return
    if script.keys is None:
        row = verdict_of(session, keyed[0], mode, scenes[-1].number, Decision(False), None)
        row.met, row.error = None, script.problem
        _store(session, [row], verdicts)
        return
    try:
        _, results = run_grader(script.source, [tools_history(scene.calls) for scene in scenes], keys=script.keys)
    except SandboxUnavailableError as missing:
        raise InfrastructureError(f"The grader script cannot run here: {missing}") from missing
    rows: list[Verdict] = []
    for scene, result in zip(scenes, results, strict=True):
        for item in keyed:
            if scene.number not in verdicts[item.index]:
                row = verdict_of(session, item, mode, scene.number, Decision(bool(result.values[item.key])), None)
                if result.broken or (result.problem and mode == ScoringMode.STRICT):
                    row.met = None
                else:
                    row.reason = f"The script gave {int(result.values[item.key])}."
                row.error = result.problem
                rows.append(row)
    _store(session, rows, verdicts)


def _stored(session: Session, mode: ScoringMode) -> dict[int, dict[int, bool | None]]:
    """By item and turn."""
    known: dict[int, dict[int, bool | None]] = defaultdict(dict)
    rows = session.verdicts.filter(kind=Verdict.Kind.CHECKLIST, scoring=mode)
    for index, turn, met in rows.values_list("index", "turn", "met"):
        known[index][turn] = met
    return known


def _store(session: Session, rows: Sequence[Verdict], verdicts: dict[int, dict[int, bool | None]]) -> None:
    if not rows:
        return
    with transaction.atomic():
        lock_leased_row(session)
        Verdict.objects.bulk_create(rows)
    for row in rows:
        verdicts[row.index][row.turn] = row.met

"""Pilots from output folders of the public π-Bench release: one for each model, its verdicts as they came.

They are matched with the newest revisions of the benchmark's tasks, and refused unless intents and criteria are the
same. They were judged as the release judges, so they have ``compat`` scores and no ``strict`` Comp.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from django.utils import timezone

from evaluation.engine.store import Checkpoint
from evaluation.grading.decided import Decided, Grader
from evaluation.grading.intents import IntentStatus
from evaluation.judging.judgings import close_judging, create_pilot, open_judging
from evaluation.models import Pilot, Run, Session, SessionIntent, Verdict
from evaluation.models.agents import REACT
from evaluation.models.endpoints import freeze_endpoint, imported_endpoint
from evaluation.pilots.outputs.reading import (
    Checklist,
    CriterionScore,
    OutputError,
    OutputSession,
    Proactiveness,
    read_outputs,
)
from evaluation.pilots.plans import newest_tasks
from evaluation.protocol.participants import AgentReply
from evaluation.protocol.session import Progress, TurnTaken
from evaluation.protocol.versions import CURRENT_LOOPS, ProtocolName
from evaluation.results.scores import store_scores
from evaluation.store.rows import insert_turn
from evaluation.store.snapshots import take_snapshot
from evaluation.store.verdicts import verdict_rows
from studio.domain.task import TaskSpec
from studio.models import Benchmark, PersonaRevision, Revision, User
from studio.models.transactions import atomic_with_retry


@dataclass(frozen=True)
class _Place:
    persona: PersonaRevision
    position: int
    revision: Revision
    task: TaskSpec


def import_outputs(
    benchmark: Benchmark, folder: Path, *, by: User | None, judge: str = "", user_model: str = ""
) -> list[Pilot]:
    """``judge`` and ``user_model`` are the models that the release was configured with; its files do not name them.
    Raises OutputError; then nothing was imported."""
    sessions = read_outputs(folder)
    return _import(benchmark, folder.resolve().name, sessions, by, judge, user_model)


@atomic_with_retry
def _import(
    benchmark: Benchmark, folder: str, sessions: Sequence[OutputSession], by: User | None, judge: str, user_model: str
) -> list[Pilot]:
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    places = _places(benchmark)
    for session in sessions:
        _validate(session, _place(session, places).task)
    pilots = []
    for model, group in groupby(sessions, lambda session: session.model):
        own = list(group)
        source = f"{folder[:100]} sha256:{_digest(own)}"
        if earlier := benchmark.pilots.filter(imported=source).first():
            raise OutputError(model, "", f"these results are already here: {earlier}")
        models = {"agent": model, "user_model": user_model or "unknown", "judge": judge or "unknown"}
        pilots.append(_pilot(benchmark, models, source, own, places, by))
    return pilots


def _places(benchmark: Benchmark) -> dict[tuple[str, str], _Place]:
    return {
        (user.lower(), name.strip()): _Place(persona, position, revision, TaskSpec.model_validate(revision.spec))
        for user, persona, tasks in newest_tasks(benchmark)
        for position, (name, revision) in enumerate(tasks.items(), start=1)
    }


def _place(session: OutputSession, places: Mapping[tuple[str, str], _Place]) -> _Place:
    place = places.get((session.user.lower(), session.task.strip()))
    if place is not None:
        return place
    if session.user.lower() not in {user for user, _ in places}:
        raise OutputError(session.file, "user_id", f"the benchmark has no persona “{session.user}”")
    raise OutputError(session.file, "task.task_id", f"{session.user} has no task “{session.task}” here")


def _validate(session: OutputSession, task: TaskSpec) -> None:
    payload = session.result.task
    known = payload.proactiveness
    if known is None and (payload.checklist is not None or task.is_setup):
        raise OutputError(session.file, "task.proactiveness", "it is empty: run the release with both scorings")
    if known is not None:
        _validate_intents(session, len(task.intents))
    if task.is_setup:
        return
    if payload.checklist is None:
        if known is not None:
            raise OutputError(session.file, "task.checklist", "it is empty, but the task has a checklist here")
        return
    lists = [("task.checklist.criterion_scores", payload.checklist.criterion_scores)]
    lists += [
        (f"task.checklist.turn_evaluations.{at}.criterion_scores", turn.criterion_scores)
        for at, turn in enumerate(payload.checklist.turn_evaluations)
    ]
    for name, scores in lists:
        _validate_criteria(session.file, name, scores, task)


def _validate_intents(session: OutputSession, number: int) -> None:
    known = session.result.task.proactiveness
    assert known is not None
    if known.total_hidden_intent_count != number:
        name = "task.proactiveness.total_hidden_intent_count"
        raise OutputError(session.file, name, f"{known.total_hidden_intent_count}, but the task has {number} here")
    for at, turn in enumerate(known.intent_judge_turns):
        for name in ("inferred_indexes", "matched_indexes"):
            if any(not 1 <= index <= number for index in getattr(turn, name)):
                path = f"task.proactiveness.intent_judge_turns.{at}.{name}"
                raise OutputError(session.file, path, f"it names an intent that is not one of the {number}")


def _validate_criteria(file: str, name: str, scores: Sequence[CriterionScore], task: TaskSpec) -> None:
    items = task.scored_items
    if [score.index for score in scores] != list(range(1, len(scores) + 1)):
        raise OutputError(file, name, "the criteria are not numbered from 1")
    if len(scores) < len(items) or (len(scores) > len(items) and not task.grader_script):
        raise OutputError(file, name, f"it has {len(scores)} criteria, but the task has {len(items)} here")
    for at, (score, item) in enumerate(zip(scores, items, strict=False)):
        if " ".join(score.criterion.split()) != " ".join(item.criterion.split()):
            raise OutputError(file, f"{name}.{at}.criterion", "it differs from the criterion of the task here")
        if abs(score.weight - item.weight) > 1e-9:
            raise OutputError(file, f"{name}.{at}.weight", f"{score.weight:g}, but {item.weight:g} here")
    for at, score in enumerate(scores[len(items) :], start=len(items)):
        if not score.criterion.startswith("[tools] "):
            raise OutputError(file, f"{name}.{at}.criterion", "it is no key of a grader script")


def _digest(sessions: Sequence[OutputSession]) -> str:
    texts = [f"{row.run} {row.user} {row.task} {row.result.model_dump_json()}" for row in sessions]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _pilot(
    benchmark: Benchmark,
    models: Mapping[str, str],
    source: str,
    sessions: Sequence[OutputSession],
    places: Mapping[tuple[str, str], _Place],
    by: User | None,
) -> Pilot:
    """``models``: by role."""
    endpoints = {role: imported_endpoint(benchmark, name) for role, name in models.items()}
    config = {role: freeze_endpoint(endpoint) | {"name": models[role]} for role, endpoint in endpoints.items()}
    config["agent_kind"] = {"name": f"{models['agent'][:80]} (imported)", "kind": REACT, "params": {}}
    pilot = create_pilot(
        benchmark,
        by,
        **endpoints,
        runs_wanted=max(session.run for session in sessions),
        protocol=ProtocolName.RELEASE,
        agent_loop=CURRENT_LOOPS[ProtocolName.RELEASE],
        config=config,
        imported=source,
        state=Pilot.State.FINISHED,
        finished_at=timezone.now(),
    )
    runs: dict[tuple[int, int], Run] = {}
    for session in sessions:
        place = _place(session, places)
        key = (session.run, place.persona.pk)
        if key not in runs:
            runs[key] = Run.objects.create(pilot=pilot, persona_revision=place.persona, number=session.run)
        _store(runs[key], place, session)
    store_scores(pilot)
    pilot.record("piloted", f"Imported pilot {pilot.number}.", by)
    return pilot


def _store(run: Run, place: _Place, imported: OutputSession) -> None:
    now, payload = timezone.now(), imported.result.task
    judged = payload.proactiveness
    judged_turns = [turn.assistant_turn_index for turn in judged.intent_judge_turns] if judged else []
    turns = max([len(imported.turns), *judged_turns])
    session = Session.objects.create(
        run=run,
        revision=place.revision,
        position=place.position,
        state=Session.State.FINISHED if judged else Session.State.ERROR,
        reason="" if judged else "The release left it out of its scores.",
        turn_count=turns,
        intent_count=len(place.task.intents),
        started_at=now,
        ended_at=now if judged else None,
        graded_compat_at=now if judged else None,
    )
    _store_turns(session, imported)
    if judged is None:
        return
    statuses, decided = _intents(place.task, judged)
    SessionIntent.objects.bulk_create(
        SessionIntent(
            session=session, index=index, uid=place.task.intents[index - 1].uid, status=row.status, turn=row.turn
        )
        for index, row in sorted(statuses.items())
    )
    _store_judged(session, "", decided)
    if payload.checklist is not None:
        _store_judged(session, "compat", _criteria(place.task, payload.checklist, turns))


def _store_turns(session: Session, imported: OutputSession) -> None:
    if not imported.turns:
        return
    snapshot = take_snapshot(session.run, {})
    following = [*(turn.user_message for turn in imported.turns[1:]), ""]
    for number, (turn, message) in enumerate(zip(imported.turns, following, strict=True), start=1):
        taken = TurnTaken(number, turn.user_message, AgentReply(turn.reply, turn.calls), {}, {}, {})
        insert_turn(session, snapshot, Checkpoint(taken, Progress((), number, message), (), {}, {}, 0))


def _store_judged(session: Session, scoring: str, decided: Sequence[Decided]) -> None:
    judging = open_judging(session, scoring)
    Verdict.objects.bulk_create(verdict_rows(judging, decided, {}))
    close_judging(judging)


def _intents(task: TaskSpec, known: Proactiveness) -> tuple[dict[int, IntentStatus], list[Decided]]:
    """What the user had to say is not recorded by number; it follows from the protocol (PIBENCH.md, section 2): if no
    question hit an intent, the first open one that is never covered."""
    statuses = {
        index: IntentStatus("provided", 0)
        for index, intent in enumerate(task.intents, start=1)
        if intent.initial_status == "provided"
    }
    decided: list[Decided] = []

    def decide(kind: str, turn: int, indexes: Iterable[int], met: Collection[int]) -> None:
        for index in indexes:
            decided.append(Decided(kind, turn, index, "judge", index in met, task.intents[index - 1].uid))

    by_turn = {turn.assistant_turn_index: turn for turn in known.intent_judge_turns}
    covered = {index for turn in by_turn.values() for index in (*turn.inferred_indexes, *turn.matched_indexes)}
    for number, turn in sorted(by_turn.items()):
        still_open = [index for index in range(1, len(task.intents) + 1) if index not in statuses]
        decide("satisfaction", number, still_open, turn.inferred_indexes)
        statuses |= {index: IntentStatus("completed", number) for index in still_open if index in turn.inferred_indexes}
        still_open = [index for index in still_open if index not in statuses]
        decide("follow_up", number, still_open, turn.matched_indexes)
        hit = [index for index in still_open if index in turn.matched_indexes]
        statuses |= dict.fromkeys(hit, IntentStatus("inferred", number))
        told = [index for index in still_open if index not in covered]
        if told and not hit:
            statuses[told[0]] = IntentStatus("provided", number)
    return statuses, decided


def _criteria(task: TaskSpec, checklist: Checklist, last_turn: int) -> list[Decided]:
    by_turn = {turn.turn_index: turn.criterion_scores for turn in checklist.turn_evaluations}
    decided = []
    for turn, scores in sorted((by_turn or {max(1, last_turn): checklist.criterion_scores}).items()):
        for score in scores:
            item = task.scored_items[score.index - 1] if score.index <= len(task.scored_items) else None
            label = "" if item and item.criterion == score.criterion else score.criterion
            grader: Grader = "rubric" if item else "rule"
            uid = item.uid if item else ""
            decided.append(Decided("checklist", turn, score.index, grader, bool(score.value), uid, label))
    return decided

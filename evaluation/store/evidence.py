"""Stored turns as graders and auditors are given them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby

from evaluation.grading.evidence import TurnEvidence, evidence_of
from evaluation.grading.work import Conversation, PlayedTurn
from evaluation.models import Session, ToolCall, Turn
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.frozen import persona_of, task_of
from evaluation.store.snapshots import final_manifest, left_by, turns_of_run
from evaluation.workspaces.app_states import Moment, clock_at
from evaluation.workspaces.manifests import Manifest, stage_files
from studio.models import Blob

ROWS_AT_ONCE = 200


def load_evidence(session: Session, mode: ScoringMode) -> list[TurnEvidence]:
    """``work`` of each is what the paper protocol shows its judges, and whoever audits them."""
    final = final_manifest(session) if mode == ScoringMode.COMPAT else None
    return evidence_of(load_conversation(session), mode, Blob.objects.read, final)


def load_conversation(session: Session) -> Conversation:
    task, persona = task_of(session.revision_id), persona_of(session.run.persona_revision_id)
    moment = Moment(task.task_id, session.position, session.run.terms.pace)
    began = clock_at(moment, persona, Blob.objects.read).start
    return Conversation(task, found_files(session), load_turns(session), began)


def found_files(session: Session) -> Manifest:
    """The files before its first turn: what earlier sessions left, with this task's own."""
    persona = persona_of(session.run.persona_revision_id)
    last = turns_of_run(session.run_id).filter(session__position__lt=session.position).first()
    before = left_by(last) if last else session.run.start
    files: Manifest = before.manifest if before else {}
    after = last.session.position if last else 0
    # these failed in their first turn, but their files were staged
    between = Session.objects.filter(run=session.run_id, position__gt=after, position__lt=session.position)
    for revision in between.order_by("position").values_list("revision", flat=True):
        files = stage_files(files, persona, task_of(revision))
    with_memory = session.run.terms.with_memory
    return stage_files(files, persona, task_of(session.revision_id), with_memory=with_memory)


def load_turns(session: Session) -> list[PlayedTurn]:
    rows = session.turns.select_related("snapshot").prefetch_related("tool_calls").order_by("number")
    return [
        PlayedTurn(
            row.number, row.incoming, row.reply, tuple(map(tool_record_of, row.tool_calls.all())), row.snapshot.manifest
        )
        for row in rows
    ]


def stream_turns(sessions: Collection[int]) -> Iterator[tuple[int, list[PlayedTurn]]]:
    """The turns of each, by key in the order of keys, without files. Two queries, and one session is in memory at a
    time."""
    turns = Turn.objects.filter(session__in=sessions).order_by("session", "number").iterator(ROWS_AT_ONCE)
    calls = ToolCall.objects.filter(turn__session__in=sessions).order_by("turn__session", "turn__number", "position")
    made = groupby(calls.iterator(ROWS_AT_ONCE), key=lambda call: call.turn_id)
    by_session = groupby(turns, key=lambda turn: turn.session_id)
    at_turn, own = next(made, (0, iter(())))
    at_session, rows = next(by_session, (0, iter(())))
    for session in sorted(sessions):
        played = []
        if session == at_session:
            for row in rows:
                records: tuple[ToolRecord, ...] = ()
                if row.pk == at_turn:
                    records = tuple(map(tool_record_of, own))
                    at_turn, own = next(made, (0, iter(())))
                played.append(PlayedTurn(row.number, row.incoming, row.reply, records, {}))
            at_session, rows = next(by_session, (0, iter(())))
        yield session, played


def tool_record_of(call: ToolCall) -> ToolRecord:
    changes, effects, seconds = tuple(call.changes), tuple(call.effects), call.milliseconds / 1000
    return ToolRecord(call.name, call.arguments, call.result, call.ok, seconds, changes, call.key, effects)

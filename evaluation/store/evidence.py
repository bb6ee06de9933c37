"""Stored turns as graders and auditors are given them."""

from __future__ import annotations

from evaluation.grading.evidence import PlayedTurn, TurnEvidence, evidence_of
from evaluation.models import Session, ToolCall
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.snapshots import final_manifest
from studio.models import Blob


def load_evidence(session: Session, mode: ScoringMode) -> list[TurnEvidence]:
    final = final_manifest(session) if mode == ScoringMode.COMPAT else None
    return evidence_of(load_turns(session), mode, Blob.objects.read, final)


def load_turns(session: Session) -> list[PlayedTurn]:
    rows = session.turns.select_related("snapshot").prefetch_related("tool_calls").order_by("number")
    return [
        PlayedTurn(
            row.number, row.incoming, row.reply, tuple(map(tool_record_of, row.tool_calls.all())), row.snapshot.manifest
        )
        for row in rows
    ]


def tool_record_of(call: ToolCall) -> ToolRecord:
    return ToolRecord(call.name, call.arguments, call.result, call.ok, effects=tuple(call.effects))

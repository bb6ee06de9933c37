"""A whole session for an auditor who asks for it: every turn, every tool call with all its fields, and the files."""

from __future__ import annotations

import json
from collections.abc import Iterator

from annotations.packets import EvidencePart, make_redactor
from annotations.sources import SESSION, VERDICT
from evaluation.audits.campaigns import model_names
from evaluation.audits.parts import file_parts, incoming_part
from evaluation.models import Session
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.store.evidence import load_evidence
from studio.domain.task import TaskSpec


def read_whole_session(source: str) -> list[EvidencePart]:
    """``source``: of a packet. Empty if there is no such session."""
    sessions = Session.objects.select_related(
        "revision", "run__pilot__agent", "run__pilot__user_model", "run__pilot__judge"
    )
    key = source.rpartition(":")[2]
    if not key.isdecimal():
        return []
    if source.startswith(SESSION):
        session = sessions.filter(pk=key).first()
    elif source.startswith(VERDICT):
        session = sessions.filter(judgings__verdicts=int(key)).first()
    else:
        session = None
    if session is None:
        return []
    redact = make_redactor(model_names(session.run.pilot))
    return [
        EvidencePart(role=part.role, label=redact(part.label), text=redact(part.text)) for part in _everything(session)
    ]


def _everything(session: Session) -> Iterator[EvidencePart]:
    task = TaskSpec.model_validate(session.revision.spec)
    calls = 0
    files: dict[str, str] = {}
    for turn in load_evidence(session, ScoringMode.STRICT):
        yield incoming_part(turn.messages[-1], turn.number)
        for call in turn.made[calls:]:
            yield EvidencePart(role="tool", label=call.name, text=_call_text(call))
        calls = len(turn.made)
        yield EvidencePart(role="assistant", label=f"turn {turn.number}", text=turn.reply)
        for part in file_parts(turn, task):
            if files.get(part.label) != part.text:
                files[part.label] = part.text
                yield part


def _call_text(call: ToolRecord) -> str:
    arguments = json.dumps(call.arguments, ensure_ascii=False, indent=1, default=str)
    return f"{arguments}\n\n{call.result}"

"""Pieces of a session's record as parts of packets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from annotations.packets import EvidencePart, Role
from evaluation.grading.evidence import TurnEvidence
from evaluation.protocol.participants import ToolRecord
from evaluation.protocol.trace import read_texts, select_fields, select_files
from studio.domain.opening_message import EnvironmentEvent, Incoming, text_of
from studio.domain.task import TaskSpec


def reply_part(turn: TurnEvidence) -> EvidencePart:
    return EvidencePart(role="assistant", label=f"turn {turn.number}", text=turn.reply)


def conversation_parts(turn: TurnEvidence) -> list[EvidencePart]:
    messages = [incoming_part(message, number) for number, message in enumerate(turn.messages, start=1)]
    return [*messages, reply_part(turn)]


def incoming_part(message: Incoming, turn: int) -> EvidencePart:
    role: Role = "event" if isinstance(message, EnvironmentEvent) else "user"
    return EvidencePart(role=role, label=f"turn {turn}", text=text_of(message))


def tool_parts(calls: Iterable[ToolRecord], task: TaskSpec) -> Iterator[EvidencePart]:
    """Only the fields that the task shows its judges."""
    for call in calls:
        fields = select_fields(call, task.tool_evidence)
        if fields is not None:
            yield EvidencePart(role="tool", label=call.name, text=_format_fields(fields))


def file_parts(turn: TurnEvidence, task: TaskSpec) -> list[EvidencePart]:
    texts = read_texts(select_files(task), turn.read)
    return [EvidencePart(role="file", label=path, text=text) for path, text in texts.items()]


def _format_fields(fields: dict[str, dict[str, object]]) -> str:
    lines = []
    for side, values in fields.items():
        for path, value in values.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            lines.append(f"{side} {path}: {text}")
    return "\n".join(lines)

"""Packets as the API shows them: nothing sealed before the results are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotations.decided import AuditedQuestion
from annotations.judgments import current_judgments, next_number
from annotations.leases import read_draft
from annotations.models import AuditCampaign, Packet
from annotations.packets import PacketContent
from studio.models import User


def question_json(packet: Packet, user: User) -> dict[str, Any]:
    content = PacketContent.model_validate(packet.content)
    found = content.model_dump(mode="json")
    for question, row in zip(found["questions"], content.questions, strict=True):
        question["choices"] = list(content.offered(row.choices))
    return {
        "position": packet.position,
        **found,
        "number": next_number(packet, user),
        "draft": read_draft(packet, user),
    }


def packet_json(packet: Packet, questions: Mapping[int, Sequence[AuditedQuestion]] | None) -> dict[str, Any]:
    """``questions``: of the audit, by packet, to those who see the results."""
    found = {"position": packet.position, "kind": packet.kind, "subject": packet.content["subject"]}
    if questions is None:
        return found
    if packet.control:
        closed = packet.campaign.state == AuditCampaign.State.CLOSED
        return found | ({"control": packet.control, "known": packet.known} if closed else {})
    rows = questions[packet.pk]
    decided = {
        "resolved": rows[0].resolved,
        "answers": {row.key: row.final for row in rows},
        "judged_by": len(rows[0].answers),
        "adjudicated": any(row.adjudicated for row in rows),
    }
    judge = {name: value for name, value in packet.sealed.items() if name != "thoughts"}
    return found | {
        "judge": {"answers": {row.key: row.judge for row in rows}, **judge},
        "stratum": packet.stratum,
        "labels": packet.labels,
        "consensus": None if rows[0].resolved is None else decided,
    }


def judgments_json(packet: Packet) -> list[dict[str, Any]]:
    return [
        {
            "auditor": row.auditor.get_username(),
            "answers": {key: answer for key, answer in row.by_question.items() if key not in packet.known},
            "evidence": row.evidence,
            "comment": row.comment,
            "confidence": row.confidence,
            "cause": row.cause,
            "milliseconds": row.milliseconds,
        }
        for row in current_judgments(packet)
    ]

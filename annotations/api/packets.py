"""Packets as the API shows them: nothing sealed before the results are open."""

from __future__ import annotations

from typing import Any

from annotations.judgments import next_number
from annotations.leases import read_draft
from annotations.models import AuditCampaign, Packet
from annotations.packets import GUIDES, PacketContent
from annotations.reports import current_judgments
from studio.models import User


def question_json(packet: Packet, user: User) -> dict[str, Any]:
    content = PacketContent.model_validate(packet.content)
    found = content.model_dump(mode="json")
    for question, row in zip(found["questions"], content.questions, strict=True):
        question["choices"] = list(row.choices)
    return {
        "position": packet.position,
        **found,
        "guide": GUIDES[content.kind],
        "number": next_number(packet, user),
        "draft": read_draft(packet, user),
    }


def packet_json(packet: Packet, *, results: bool) -> dict[str, Any]:
    found = {"position": packet.position, "kind": packet.kind, "subject": packet.content["subject"]}
    if not results:
        return found
    if packet.control:
        closed = packet.campaign.state == AuditCampaign.State.CLOSED
        return found | ({"control": packet.control, "known": packet.known} if closed else {})
    consensus = getattr(packet, "consensus", None)
    decided = consensus and {
        "decision": consensus.decision,
        "answers": consensus.answers,
        "judged_by": consensus.judged_by,
        "adjudicated": consensus.adjudicated,
    }
    answers = {key: answer for key, answer in packet.sealed.get("answers", {}).items() if key not in packet.known}
    sealed = {name: value for name, value in packet.sealed.items() if name != "thoughts"}
    judge = sealed | ({"answers": answers} if packet.kind == "session" else {})
    return found | {"judge": judge, "stratum": packet.stratum, "labels": packet.labels, "consensus": decided}


def judgments_json(packet: Packet) -> list[dict[str, Any]]:
    return [
        {
            "auditor": row.auditor.get_username(),
            "answer": row.answer,
            "answers": {key: answer for key, answer in row.answers.items() if key not in packet.known},
            "evidence": row.evidence,
            "comment": row.comment,
            "confidence": row.confidence,
            "cause": row.cause,
            "milliseconds": row.milliseconds,
            "full_session": row.full_session,
        }
        for row in current_judgments(packet)
    ]

"""Judging and adjudicating packets by the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from annotations.adjudication import STILL_SEALED, adjudicate
from annotations.decided import AuditedQuestion, audited_questions
from annotations.judgments import (
    MAX_COMMENT_LENGTH,
    HandedIn,
    current_judgments,
    next_number,
    record_judgment,
    take_back,
    undo_last,
)
from annotations.leases import next_packet, read_draft
from annotations.models import AuditCampaign, Cause, Packet
from annotations.packets import BROKEN, DECISION, NO, NOT_SHOWN, UNSURE, YES, PacketContent
from annotations.seals import sees_results
from annotations.visibility import (
    find_assigned_campaign,
    find_campaign,
    find_packet,
    may_adjudicate,
    readable_packets,
    why_not_adjudicate,
)
from studio.access import ApiRequest
from studio.api.base import OBJECTS, ConflictAPIError, valid_in
from studio.models import ApiToken, User

ANY = OpenApiTypes.OBJECT


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


Questions = dict[int, list[AuditedQuestion]]
POSITION = r"packets/(?P<position>[0-9]{1,9})"


class JudgmentSerializer(serializers.Serializer[Any]):
    answer = serializers.ChoiceField(
        choices=[YES, NO, UNSURE, NOT_SHOWN, BROKEN, "answered", "skipped"],
        help_text="Of one decision; of a session `answered`, with `answers`. `skipped` needs a `comment`.",
    )
    answers = serializers.DictField(child=serializers.CharField(), required=False, default=dict)
    number = serializers.IntegerField(
        required=False, min_value=1, help_text="As the packet gave it: then sending it twice is harmless."
    )
    evidence = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    comment = serializers.CharField(required=False, default="", allow_blank=True, max_length=MAX_COMMENT_LENGTH)
    confidence = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=3, help_text="1 low, 2 medium, 3 high."
    )
    cause = serializers.ChoiceField(choices=Cause.choices, required=False, allow_blank=True, default="")
    milliseconds = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1, default=None)


class UndoSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField(
        required=False, allow_null=True, default=None, min_value=1, max_value=10**9, help_text="Default: the last."
    )


class AdjudicationSerializer(serializers.Serializer[Any]):
    decision = serializers.BooleanField(required=False, default=None, allow_null=True, help_text="Of one decision.")
    answers = serializers.DictField(
        child=serializers.CharField(), required=False, default=dict, help_text="Of a session: what is still open."
    )
    reason = serializers.CharField(max_length=MAX_COMMENT_LENGTH)
    cause = serializers.ChoiceField(
        choices=Cause.choices,
        required=False,
        allow_blank=True,
        default="",
        help_text="`criterion_ambiguous` and `evidence_not_visible` become a comment on the item or intent.",
    )
    about = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        default=list,
        help_text="Keys of the questions that the cause is about; default: all that are decided.",
    )
    request_changes = serializers.BooleanField(
        required=False, default=False, help_text="With one of these two: the task goes back to its author."
    )


def _questions_by_packet(campaign: AuditCampaign) -> Questions:
    found: Questions = defaultdict(list)
    for row in audited_questions([campaign.pk]):
        found[row.packet].append(row)
    return found


class PacketActions:
    """Of the view set of audits."""

    @extend_schema(request=None, responses=OpenApiResponse(ANY, "The packet, leased to you; `packet` is null if none."))
    @action(detail=True, methods=["post"], token_scope=ApiToken.Scope.WRITE)
    def next(self, request: ApiRequest, pk: str) -> Response:
        """Take the next packet."""
        user = request.user
        packet = next_packet(find_assigned_campaign(user, pk), user)
        return Response({"packet": None} if packet is None else {"packet": question_json(packet, user)})

    @extend_schema(operation_id="audits_packets_list", responses=OpenApiResponse(OBJECTS, "One object per packet."))
    @action(detail=True)
    def packets(self, request: ApiRequest, pk: str) -> Response:
        """All of them, once you may see the results; before, those you hold or answered."""
        user = request.user
        row = find_campaign(user, pk)
        questions = _questions_by_packet(row) if sees_results(user, row) else None
        return Response([packet_json(each, questions) for each in readable_packets(user, row)])

    @extend_schema(responses=OpenApiResponse(ANY, "What auditors see; with the results, what was answered."))
    @action(detail=True, url_path=POSITION)
    def packet(self, request: ApiRequest, pk: str, position: str) -> Response:
        user = request.user
        row = find_campaign(user, pk)
        packet = find_packet(row, position)
        results = sees_results(user, row)
        if not results and packet not in readable_packets(user, row):
            raise ConflictAPIError("This packet is not yours. Take one with `next`.")
        questions = _questions_by_packet(row) if results else None
        found = question_json(packet, user) | packet_json(packet, questions)
        return Response(found | ({"judgments": judgments_json(packet)} if results and not packet.control else {}))

    @extend_schema(request=JudgmentSerializer, responses={201: ANY})
    @action(detail=True, methods=["post"], url_path=f"{POSITION}/judgment", token_scope=ApiToken.Scope.WRITE)
    def judge(self, request: ApiRequest, pk: str, position: str) -> Response:
        """Answer a packet that is leased to you."""
        user = request.user
        packet = find_packet(find_assigned_campaign(user, pk), position)
        data = valid_in(request, JudgmentSerializer)
        number = data.pop("number", None) or next_number(packet, user)
        answer, answers = data.pop("answer"), data.pop("answers")
        if answer != "answered":
            answers = None if answer == "skipped" else {DECISION: answer}
        row = record_judgment(packet, HandedIn(answers, **data), auditor=user, number=number)
        return Response({"position": packet.position, "number": row.number}, status=status.HTTP_201_CREATED)

    @extend_schema(request=UndoSerializer, responses=OpenApiResponse(ANY, "The packet, leased to you again."))
    @action(detail=True, methods=["post"], token_scope=ApiToken.Scope.WRITE)
    def undo(self, request: ApiRequest, pk: str) -> Response:
        """Take back your last answer, or the one to a packet."""
        user = request.user
        row = find_assigned_campaign(user, pk)
        position = valid_in(request, UndoSerializer)["position"]
        chosen = None if position is None else find_packet(row, position)
        packet = take_back(chosen, user) if chosen else undo_last(row, user)
        return Response({"packet": question_json(packet, user)})

    @extend_schema(request=AdjudicationSerializer, responses={201: ANY})
    @action(detail=True, methods=["post"], url_path=f"{POSITION}/adjudication")
    def adjudication(self, request: ApiRequest, pk: str, position: str) -> Response:
        """Decide a packet without a majority."""
        user = request.user
        row = find_campaign(user, pk)
        packet = find_packet(row, position)
        if not sees_results(user, row):
            raise PermissionDenied(STILL_SEALED)
        if not may_adjudicate(user, packet):
            raise PermissionDenied(why_not_adjudicate(user, packet))
        data = valid_in(request, AdjudicationSerializer)
        if (decision := data.pop("decision")) is not None:
            data["answers"] = {DECISION: YES if decision else NO}
        made = adjudicate(packet, by=user, **data)
        found = {
            "position": packet.position,
            "answers": dict(made.answers.values_list("question", "value")),
            "cause": data["cause"],
        }
        return Response(found, status=status.HTTP_201_CREATED)

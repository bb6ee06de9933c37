"""The API of audits. It shows to each person what the pages show: nothing sealed before the judgment."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.response import Response

from annotations.access import find_assigned_campaign, find_campaign, find_packet, readable_packets
from annotations.adjudication import AdjudicationError, adjudicate, undecided_packets
from annotations.auditors import own_record, record_json, records_in
from annotations.campaigns import CampaignError, close_campaign, reopen_campaign
from annotations.figures import campaign_figures
from annotations.judgments import (
    MAX_COMMENT_LENGTH,
    JudgmentError,
    next_number,
    open_results,
    record_judgment,
    take_back,
    undo_last,
)
from annotations.leases import ask_for_session, next_packet, read_draft
from annotations.models import AuditCampaign, Cause, Judgment, Packet
from annotations.packets import GUIDES, PacketContent
from annotations.reports import current_judgments
from annotations.sources import whole_session
from annotations.visibility import may_adjudicate, sees_results, shares_of, visible_campaigns, why_not_adjudicate
from studio.access import ApiRequest, find_benchmark, require
from studio.api.base import OBJECTS, ConflictAPIError
from studio.models import User

BENCHMARK = OpenApiParameter("benchmark", str, description="Slug; limits to this benchmark.")
POSITION = r"packets/(?P<position>[0-9]{1,9})"
ANY = OpenApiTypes.OBJECT


class CampaignSerializer(serializers.ModelSerializer[AuditCampaign]):
    benchmark: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    people = serializers.IntegerField(source="overlap", read_only=True)
    days_left = serializers.IntegerField(
        read_only=True, allow_null=True, help_text="Until `due`; negative once it is overdue."
    )

    class Meta:
        model = AuditCampaign
        fields = [
            "id", "benchmark", "name", "state", "unit", "people", "due", "days_left", "instructions", "seed",
            "scripted", "created_at", "closed_at",
        ]  # fmt: skip
        read_only_fields = fields


class JudgmentSerializer(serializers.Serializer[Any]):
    answer = serializers.ChoiceField(
        choices=[each for each in Judgment.Answer.choices if each[0] != Judgment.Answer.UNDONE],
        help_text="`answered` for a session, with `answers`. `skipped` needs a `comment`.",
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


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=MAX_COMMENT_LENGTH)


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


@extend_schema_view(list=extend_schema(parameters=[BENCHMARK]))
class CampaignViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[AuditCampaign]):
    """Audits: people judge again what a judge decided, without seeing its answer."""

    serializer_class = CampaignSerializer
    queryset = AuditCampaign.objects.none()
    lookup_value_regex = "[0-9]{1,18}"

    def get_queryset(self) -> Any:
        found = visible_campaigns(_user(self.request))
        slug = self.request.query_params.get("benchmark", "")
        return found.filter(benchmark__slug=slug) if slug else found

    @extend_schema(
        operation_id="audits_mine", responses=OpenApiResponse(ANY, "Your pace, agreement and control items.")
    )
    @action(detail=False)
    def mine(self, request: ApiRequest) -> Response:
        """How you judge; of audits whose results are open to you."""
        return Response(record_json(own_record(_user(request))))

    @extend_schema(
        operation_id="audits_people",
        parameters=[OpenApiParameter("benchmark", str, required=True, description="Slug.")],
        responses=OpenApiResponse(OBJECTS, "One object per person, by name."),
    )
    @action(detail=False)
    def people(self, request: ApiRequest) -> Response:
        """How people judge, for those who plan audits."""
        benchmark = find_benchmark(_user(request), request.query_params.get("benchmark", ""))
        require(_user(request), benchmark, "plan_audit")
        return Response([record_json(row) for row in records_in(benchmark, _user(request))])

    @extend_schema(responses=OpenApiResponse(ANY, "The audit, its progress, and what is left for you."))
    def retrieve(self, request: ApiRequest, pk: str) -> Response:
        return Response(_campaign_json(find_campaign(_user(request), pk), _user(request)))

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def close(self, request: ApiRequest, pk: str) -> Response:
        row = find_campaign(_user(request), pk)
        require(request.user, row.benchmark, "plan_audit")
        close_campaign(row, by=_user(request))
        row.refresh_from_db()
        return Response(CampaignSerializer(row).data)

    @extend_schema(request=ReasonSerializer, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def reopen(self, request: ApiRequest, pk: str) -> Response:
        """Judge on in a closed audit. Its history tells that the results were open in the meantime."""
        row = find_campaign(_user(request), pk)
        require(request.user, row.benchmark, "plan_audit")
        try:
            reopen_campaign(row, by=_user(request), **_valid(ReasonSerializer, request))
        except CampaignError as error:
            raise _refusal(error.field, error) from error
        row.refresh_from_db()
        return Response(CampaignSerializer(row).data)

    @extend_schema(request=None, responses=OpenApiResponse(ANY, "The packet, leased to you; `packet` is null if none."))
    @action(detail=True, methods=["post"])
    def next(self, request: ApiRequest, pk: str) -> Response:
        """Take the next packet."""
        user = _user(request)
        packet = next_packet(find_assigned_campaign(user, pk), user)
        return Response({"packet": None} if packet is None else {"packet": _question_json(packet, user)})

    @extend_schema(operation_id="audits_packets_list", responses=OpenApiResponse(OBJECTS, "One object per packet."))
    @action(detail=True)
    def packets(self, request: ApiRequest, pk: str) -> Response:
        """All of them, once you may see the results; before, those you hold or answered."""
        user = _user(request)
        row = find_campaign(user, pk)
        results = sees_results(user, row)
        return Response([_packet_json(packet, results=results) for packet in readable_packets(user, row)])

    @extend_schema(responses=OpenApiResponse(ANY, "What auditors see; with the results, what was answered."))
    @action(detail=True, url_path=POSITION)
    def packet(self, request: ApiRequest, pk: str, position: str) -> Response:
        user = _user(request)
        row = find_campaign(user, pk)
        packet = find_packet(row, position)
        results = sees_results(user, row)
        if not results and packet not in readable_packets(user, row):
            raise ConflictAPIError("This packet is not yours. Take one with `next`.")
        found = _question_json(packet, user) | _packet_json(packet, results=results)
        return Response(found | ({"judgments": _judgments_json(packet)} if results and not packet.control else {}))

    @extend_schema(request=JudgmentSerializer, responses={201: ANY})
    @action(detail=True, methods=["post"], url_path=f"{POSITION}/judgment")
    def judge(self, request: ApiRequest, pk: str, position: str) -> Response:
        """Answer a packet that is leased to you."""
        user = _user(request)
        packet = find_packet(find_assigned_campaign(user, pk), position)
        data = _valid(JudgmentSerializer, request)
        number = data.pop("number", None) or next_number(packet, user)
        try:
            row = record_judgment(packet, auditor=user, number=number, **data)
        except JudgmentError as error:
            raise _refusal(error.field, error) from error
        return Response({"position": packet.position, "number": row.number}, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=OpenApiResponse(ANY, "Its parts, in order; from now on recorded."))
    @action(detail=True, methods=["post"], url_path=f"{POSITION}/session")
    def session(self, request: ApiRequest, pk: str, position: str) -> Response:
        """The whole session of a packet that is leased to you. Your answer will say that you looked at it."""
        user = _user(request)
        packet = find_packet(find_assigned_campaign(user, pk), position)
        if packet.campaign.state != AuditCampaign.State.OPEN or not ask_for_session(packet, user):
            raise ConflictAPIError("This packet is not yours. Take one with `next`.")
        return Response({"position": packet.position, "parts": [row.model_dump() for row in whole_session(packet)]})

    @extend_schema(request=UndoSerializer, responses=OpenApiResponse(ANY, "The packet, leased to you again."))
    @action(detail=True, methods=["post"])
    def undo(self, request: ApiRequest, pk: str) -> Response:
        """Take back your last answer, or the one to a packet."""
        user = _user(request)
        row = find_assigned_campaign(user, pk)
        position = _valid(UndoSerializer, request)["position"]
        chosen = None if position is None else find_packet(row, position)
        try:
            packet = take_back(chosen, user) if chosen else undo_last(row, user)
        except JudgmentError as error:
            raise _refusal("", error) from error
        return Response({"packet": _question_json(packet, user)})

    @extend_schema(request=AdjudicationSerializer, responses={201: ANY})
    @action(detail=True, methods=["post"], url_path=f"{POSITION}/adjudication")
    def adjudication(self, request: ApiRequest, pk: str, position: str) -> Response:
        """Decide a packet without a majority."""
        user = _user(request)
        row = find_campaign(user, pk)
        packet = find_packet(row, position)
        if not sees_results(user, row) and packet.pk not in undecided_packets(row):
            raise PermissionDenied("This packet is still being judged, perhaps by you.")
        if not may_adjudicate(user, packet):
            raise PermissionDenied(why_not_adjudicate(user, packet))
        try:
            made = adjudicate(packet, by=user, **_valid(AdjudicationSerializer, request))
        except AdjudicationError as error:
            raise _refusal(error.field, error) from error
        found = {
            "position": packet.position,
            "decision": made.decision,
            "answers": made.answers,
            "cause": made.cause,
        }
        return Response(found, status=status.HTTP_201_CREATED)

    @extend_schema(responses=OpenApiResponse(ANY, "As ``manage.py audit_report --json`` gives it."))
    @action(detail=True)
    def results(self, request: ApiRequest, pk: str) -> Response:
        """Every figure; 409 while you judge blind."""
        row = find_campaign(_user(request), pk)
        if not sees_results(_user(request), row):
            raise ConflictAPIError("The results open to you once you have finished judging and open them.")
        return Response(campaign_figures(row))

    @extend_schema(request=None, responses=OpenApiResponse(ANY, "Your answers are final from now on."))
    @results.mapping.post
    def open_results(self, request: ApiRequest, pk: str) -> Response:
        """Finish judging, and see the results."""
        row = find_assigned_campaign(_user(request), pk)
        try:
            open_results(row, _user(request))
        except JudgmentError as error:
            raise _refusal("", error) from error
        return Response(campaign_figures(row))


def _user(request: Any) -> User:
    user: User = request.user
    return user


def _valid(serializer: type[serializers.Serializer[Any]], request: ApiRequest) -> dict[str, Any]:
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def _refusal(field: str, error: Exception) -> Exception:
    return ValidationError({field: [str(error)]}) if field else ConflictAPIError(str(error))


def _campaign_json(row: AuditCampaign, user: User) -> dict[str, Any]:
    share = shares_of([row], user)[row.pk]
    progress = {"packets": share.packets, "resolved": share.resolved, "done": share.done, "left": len(share.pending)}
    return {**CampaignSerializer(row).data, "progress": progress, "results_open": sees_results(user, row)}


def _question_json(packet: Packet, user: User) -> dict[str, Any]:
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


def _packet_json(packet: Packet, *, results: bool) -> dict[str, Any]:
    found = {"position": packet.position, "kind": packet.kind, "subject": packet.content["subject"]}
    if not results:
        return found
    if packet.control:
        closed = packet.campaign.state == AuditCampaign.State.CLOSED
        return found | ({"control": packet.control, "known": packet.known} if closed else {})
    consensus = getattr(packet, "consensus", None)
    settled = consensus and {
        "decision": consensus.decision,
        "answers": consensus.answers,
        "judged_by": consensus.judged_by,
        "adjudicated": consensus.adjudicated,
    }
    answers = {key: answer for key, answer in packet.sealed.get("answers", {}).items() if key not in packet.known}
    judge = packet.sealed | ({"answers": answers} if packet.kind == "session" else {})
    return found | {"judge": judge, "stratum": packet.stratum, "labels": packet.labels, "consensus": settled}


def _judgments_json(packet: Packet) -> list[dict[str, Any]]:
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

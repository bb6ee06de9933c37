"""The API of assistance: request proposals, read them, accept or dismiss them.

Paths still say "suggestions" and "take", which are part of the published API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from evaluation.assistance import decisions, requests
from evaluation.assistance.assistant import AssistanceError
from evaluation.assistance.kinds import LANGUAGES
from evaluation.assistance.presentation import RowView, build_view, proposals_with_details
from evaluation.assistance.proposals import IntentChoice
from evaluation.assistance.task_material import build_request
from evaluation.models import Proposal, ProposalDecision
from evaluation.protocol.assistance import KINDS
from studio.access import ApiRequest
from studio.api.base import TASK, ConflictAPIError, TaskView, valid_in
from studio.domain.task import TaskSpec
from studio.models import ApiToken, Task

T = TypeVar("T")


class DecisionSerializer(serializers.ModelSerializer[ProposalDecision]):
    accepted = serializers.BooleanField()
    edited = serializers.BooleanField()
    by = serializers.CharField(source="by.username")
    version = serializers.IntegerField(source="revision.number", allow_null=True, default=None)

    class Meta:
        model = ProposalDecision
        fields = ["accepted", "edited", "text", "by", "at", "version"]


class ProposalFindingSerializer(serializers.Serializer[Any]):
    """A finding of the task if the row were accepted."""

    rule = serializers.CharField()
    severity = serializers.CharField()
    message = serializers.CharField()
    fix = serializers.CharField(read_only=True)
    passage = serializers.CharField(read_only=True)


class ProposedRowSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(help_text="0-based index in the proposal; used to accept or dismiss it.")
    field = serializers.CharField(source="change.field")
    uid = serializers.CharField(source="change.uid", help_text="The row it changes; empty for a new row.")
    before = serializers.CharField(help_text="The text when the proposal was requested.")
    text = serializers.CharField(source="change.text")
    why = serializers.CharField(source="change.why")
    quote = serializers.CharField(source="change.quote")
    supported = serializers.BooleanField(
        source="change.supported", help_text=("Whether the quote occurs where it claims.")
    )
    scope = serializers.CharField(source="change.scope")
    recovery = serializers.SerializerMethodField()
    follows_from = serializers.ListField(source="change.follows_from", child=serializers.CharField())
    evidence = serializers.ListField(source="change.evidence", child=serializers.CharField())
    rule = serializers.SerializerMethodField()
    degree = serializers.CharField(source="change.degree")
    notes = serializers.ListField(source="change.notes", child=serializers.CharField())
    findings = ProposalFindingSerializer(many=True)
    decision = DecisionSerializer(allow_null=True)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_recovery(self, view: RowView) -> Any:
        """Where the intent can be found out; null if the proposal does not say."""
        return view.change.recovery.to_json() if view.change.recovery else None

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_rule(self, view: RowView) -> Any:
        """The exact rule; null if none is proposed."""
        return view.change.rule.to_json() if view.change.rule else None


class ProposalSerializer(serializers.ModelSerializer[Proposal]):
    version = serializers.IntegerField(source="revision.number", help_text="Version of the task the request was about.")
    language = serializers.CharField(source="options.language", default="")
    reference = serializers.CharField(source="options.reference", default="")
    model = serializers.CharField(source="endpoint.name")
    truncated_files = serializers.ListField(
        child=serializers.CharField(), help_text="Files the model saw only in part."
    )
    requested_by = serializers.CharField(source="requested_by.username")
    requested_at = serializers.DateTimeField()
    result = serializers.IntegerField(source="result.number", allow_null=True, default=None)
    title = serializers.SerializerMethodField()
    findings = serializers.SerializerMethodField()
    rows = serializers.SerializerMethodField()

    class Meta:
        model = Proposal
        fields = [
            "id",
            "title",
            "kind",
            "field",
            "item",
            "language",
            "reference",
            "state",
            "problem",
            "version",
            "model",
            "scripted",
            "tokens",
            "cost",
            "truncated_files",
            "findings",
            "rows",
            "requested_by",
            "requested_at",
            "answered_at",
            "result",
        ]

    def to_representation(self, row: Proposal) -> Any:
        self.view = build_view(row)
        return super().to_representation(row)

    def get_title(self, row: Proposal) -> str:
        return self.view.title

    @extend_schema_field(ProposalFindingSerializer(many=True))
    def get_findings(self, row: Proposal) -> Any:
        """Findings about all rows together."""
        return ProposalFindingSerializer(self.view.findings, many=True).data

    @extend_schema_field(ProposedRowSerializer(many=True))
    def get_rows(self, row: Proposal) -> Any:
        return ProposedRowSerializer(list(self.view.rows), many=True).data


class NewProposalSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(KINDS)
    field = serializers.CharField(max_length=60, help_text="Field of the task, or “task” for all its text.")
    item = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="uid of the row to help with."
    )
    language = serializers.ChoiceField(LANGUAGES, required=False, default="", allow_blank=True)
    reference = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=600,
        help_text="Source for checklist items: “the reference of <path>”, “the reference workflow”.",
    )
    pasted = serializers.CharField(
        required=False, allow_blank=True, default="", trim_whitespace=False, help_text="Or the text of a good result."
    )
    fresh = serializers.BooleanField(default=False, help_text="Request a new answer instead of the recorded one.")


class RowsSerializer(serializers.Serializer[Any]):
    rows = serializers.ListField(
        child=serializers.IntegerField(min_value=0),
        required=False,
        allow_null=True,
        default=None,
        help_text="Which rows; null for all open ones.",
    )


class ChoiceSerializer(serializers.Serializer[Any]):
    """Instead of what is proposed."""

    scope = serializers.ChoiceField(["session_local", "persistent"], required=False)
    found_in = serializers.CharField(
        required=False, max_length=600, help_text="“question”, “file <path>”, “session <task>” or “tool <name>”."
    )


class AcceptSerializer(RowsSerializer):
    texts = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        default=dict,
        help_text="Edited text to use instead of the proposed text, by row.",
    )
    choices = serializers.DictField(
        child=ChoiceSerializer(), required=False, default=dict, help_text="Scope and source of intents, by row."
    )
    over_changes = serializers.BooleanField(
        default=False, help_text="Proceed even if the text has changed since the request."
    )

    def validate_texts(self, texts: dict[str, str]) -> dict[int, str]:
        return _by_row(texts)

    def validate_choices(self, choices: dict[str, dict[str, Any]]) -> dict[int, IntentChoice]:
        return {
            row: IntentChoice(choice.get("scope", ""), choice.get("found_in", ""))
            for row, choice in _by_row(choices).items()
        }


def _by_row(values: Mapping[str, T]) -> dict[int, T]:
    if not all(row.isascii() and row.isdecimal() and len(row) < 5 for row in values):
        raise ValidationError("Refer to the rows by number.")
    return {int(row): value for row, value in values.items()}


STATE = OpenApiParameter("state", str, enum=Proposal.State.values, description="Limits to these.")
PROPOSAL = f"{TASK}suggestions/<int:suggestion>/"


class ProposalAPIView(TaskView):
    """Only for users who may edit the task."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(ConflictAPIError(str(exc)) if isinstance(exc, AssistanceError) else exc)

    def editable(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Task:
        return self.task(request, slug, user_id, pk, "edit")

    def proposal(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Proposal:
        task = self.editable(request, slug, user_id, pk)
        row: Proposal = get_object_or_404(proposals_with_details(), task=task, pk=suggestion)
        return row


class ProposalList(ProposalAPIView, generics.GenericAPIView[Proposal]):
    token_scope = ApiToken.Scope.FULL  # a proposal may cost money
    serializer_class = ProposalSerializer
    queryset = Proposal.objects.none()

    @extend_schema(responses=ProposalSerializer(many=True), parameters=[STATE])
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Proposals for the task, newest first."""
        rows = proposals_with_details().filter(task=self.editable(request, slug, user_id, pk)).order_by("-pk")
        if state := request.query_params.get("state"):
            rows = rows.filter(state=state)
        return self.get_paginated_response(ProposalSerializer(self.paginate_queryset(rows) or [], many=True).data)

    @extend_schema(request=NewProposalSerializer, responses={201: ProposalSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Request a proposal for the newest version. Poll until the state is no longer “asked”."""
        task = self.editable(request, slug, user_id, pk)
        values = valid_in(request, NewProposalSerializer)
        proposal_request = build_request(
            TaskSpec.model_validate(task.revisions.get(number=task.version).spec),
            values["kind"],
            values["field"],
            uid=str(values["item"] or ""),
            language=values["language"],
            reference=values["reference"],
            pasted=values["pasted"],
        )
        row = requests.request_proposal(task, by=request.user, request=proposal_request, fresh=values["fresh"])
        return Response(
            ProposalSerializer(proposals_with_details().get(pk=row.pk)).data, status=status.HTTP_201_CREATED
        )


class ProposalDetail(ProposalAPIView):
    @extend_schema(responses=ProposalSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Its state and rows."""
        return Response(ProposalSerializer(self.proposal(request, slug, user_id, pk, suggestion)).data)


class AcceptProposal(ProposalAPIView):
    @extend_schema(request=AcceptSerializer, responses={200: ProposalSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Accept rows and save them as a new version. 409 with ``current`` and ``proposed`` if the text has changed
        since the request."""
        row = self.proposal(request, slug, user_id, pk, suggestion)
        try:
            decisions.accept_proposal(row.pk, by=request.user, **valid_in(request, AcceptSerializer))
        except decisions.ProposalOutdatedError as error:
            body = {"detail": str(error), "row": error.row, "current": error.current, "proposed": error.proposed}
            return Response(body, status=status.HTTP_409_CONFLICT)
        return Response(ProposalSerializer(proposals_with_details().get(pk=row.pk)).data)


class DismissProposal(ProposalAPIView):
    @extend_schema(request=RowsSerializer, responses={200: ProposalSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Dismiss rows, or all of them. The task does not change."""
        row = self.proposal(request, slug, user_id, pk, suggestion)
        decisions.dismiss_proposal(row.pk, by=request.user, rows=valid_in(request, RowsSerializer)["rows"])
        return Response(ProposalSerializer(proposals_with_details().get(pk=row.pk)).data)


urlpatterns = [
    path(f"{TASK}suggestions/", ProposalList.as_view(), name="api_proposals"),
    path(PROPOSAL, ProposalDetail.as_view(), name="api_proposal"),
    path(f"{PROPOSAL}take/", AcceptProposal.as_view(), name="api_proposal_accept"),
    path(f"{PROPOSAL}dismiss/", DismissProposal.as_view(), name="api_proposal_dismiss"),
]

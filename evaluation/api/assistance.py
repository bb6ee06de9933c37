"""The API of help from a model: asking for it, reading what it proposes, taking it or not. What a program takes is kept
with its origin as what a person takes on the page."""

from __future__ import annotations

from typing import Any

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
from evaluation.assistance.presentation import RowView, suggestions, view_of
from evaluation.assistance.task_material import assign
from evaluation.models import Suggestion, SuggestionDecision
from evaluation.protocol.assistance import KINDS
from studio.access import ApiRequest
from studio.api.base import TASK, ConflictAPIError, OfTask
from studio.domain.task import TaskSpec
from studio.models import Task

STATE = OpenApiParameter("state", str, enum=Suggestion.State.values, description="Limits to these.")
SUGGESTION = f"{TASK}suggestions/<int:suggestion>/"


class DecisionSerializer(serializers.ModelSerializer[SuggestionDecision]):
    by = serializers.CharField(source="by.username")
    version = serializers.IntegerField(source="revision.number", allow_null=True, default=None)

    class Meta:
        model = SuggestionDecision
        fields = ["taken", "changed", "text", "by", "at", "version"]


class FoundSerializer(serializers.Serializer[Any]):
    """What a check says of it, if it were taken."""

    rule = serializers.CharField()
    severity = serializers.CharField()
    message = serializers.CharField()
    mend = serializers.CharField()
    words = serializers.CharField()


class ProposedSerializer(serializers.Serializer[Any]):
    row = serializers.IntegerField(help_text="0-based index in the proposal; used to accept or dismiss it.")
    field = serializers.CharField(source="proposal.field")
    uid = serializers.CharField(source="proposal.uid", help_text="The row it changes; empty for a new row.")
    before = serializers.CharField(help_text="The text when the proposal was requested.")
    text = serializers.CharField(source="proposal.text")
    why = serializers.CharField(source="proposal.why")
    quote = serializers.CharField(source="proposal.quote")
    supported = serializers.BooleanField(
        source="proposal.supported", help_text=("Whether the quote occurs where it claims.")
    )
    scope = serializers.CharField(source="proposal.scope")
    recovery = serializers.SerializerMethodField()
    follows_from = serializers.ListField(source="proposal.follows_from", child=serializers.CharField())
    evidence = serializers.ListField(source="proposal.evidence", child=serializers.CharField())
    rule = serializers.SerializerMethodField()
    degree = serializers.CharField(source="proposal.degree")
    remarks = serializers.ListField(source="proposal.remarks", child=serializers.CharField())
    findings = FoundSerializer(many=True)
    decision = DecisionSerializer(allow_null=True)

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_recovery(self, view: RowView) -> Any:
        """Where an intent can be found out; null: it does not say."""
        return view.proposal.recovery.to_json() if view.proposal.recovery else None

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_rule(self, view: RowView) -> Any:
        """The exact check; null: it proposes none."""
        return view.proposal.rule.to_json() if view.proposal.rule else None


class SuggestionSerializer(serializers.ModelSerializer[Suggestion]):
    version = serializers.IntegerField(source="revision.number", help_text="Version of the task the request was about.")
    language = serializers.CharField(source="options.language", default="")
    reference = serializers.CharField(source="options.reference", default="")
    helper = serializers.CharField(source="endpoint.name")
    cut = serializers.ListField(child=serializers.CharField(), help_text="Files the model saw only in part.")
    asked_by = serializers.CharField(source="asked_by.username")
    result = serializers.IntegerField(source="result.number", allow_null=True, default=None)
    title = serializers.SerializerMethodField()
    findings = serializers.SerializerMethodField()
    rows = serializers.SerializerMethodField()

    class Meta:
        model = Suggestion
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
            "helper",
            "scripted",
            "tokens",
            "cost",
            "cut",
            "findings",
            "rows",
            "asked_by",
            "asked_at",
            "answered_at",
            "result",
        ]

    def to_representation(self, row: Suggestion) -> Any:
        self.view = view_of(row)
        return super().to_representation(row)

    def get_title(self, row: Suggestion) -> str:
        return self.view.title

    @extend_schema_field(FoundSerializer(many=True))
    def get_findings(self, row: Suggestion) -> Any:
        """What the checks say of all rows together."""
        return FoundSerializer(self.view.findings, many=True).data

    @extend_schema_field(ProposedSerializer(many=True))
    def get_rows(self, row: Suggestion) -> Any:
        return ProposedSerializer(list(self.view.rows), many=True).data


class AskSerializer(serializers.Serializer[Any]):
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
        help_text="Source for checklist items: “the reference of <path>”, a file's path, “the reference workflow”.",
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


class TakeSerializer(RowsSerializer):
    texts = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        default=dict,
        help_text="Edited text to use instead of the proposed text, by row.",
    )
    over_changes = serializers.BooleanField(
        default=False, help_text="Proceed even if the text has changed since the request."
    )

    def validate_texts(self, texts: dict[str, str]) -> dict[int, str]:
        if not all(row.isascii() and row.isdecimal() and len(row) < 5 for row in texts):
            raise ValidationError("Refer to the rows by number.")
        return {int(row): text for row, text in texts.items()}


class OfSuggestions(OfTask):
    """Only for who may write the task, as on its page."""

    def handle_exception(self, exc: Exception) -> Response:
        return super().handle_exception(ConflictAPIError(str(exc)) if isinstance(exc, AssistanceError) else exc)

    def editable(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Task:
        return self.task(request, slug, user_id, pk, "edit")

    def one(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Suggestion:
        task = self.editable(request, slug, user_id, pk)
        row: Suggestion = get_object_or_404(suggestions(), task=task, pk=suggestion)
        return row


class Suggestions(OfSuggestions, generics.GenericAPIView[Suggestion]):
    serializer_class = SuggestionSerializer
    queryset = Suggestion.objects.none()

    @extend_schema(responses=SuggestionSerializer(many=True), parameters=[STATE])
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """What was asked of the model about this task, the newest first."""
        rows = suggestions().filter(task=self.editable(request, slug, user_id, pk)).order_by("-pk")
        if state := request.query_params.get("state"):
            rows = rows.filter(state=state)
        return self.get_paginated_response(SuggestionSerializer(self.paginate_queryset(rows) or [], many=True).data)

    @extend_schema(request=AskSerializer, responses={201: SuggestionSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int) -> Response:
        """Ask about the newest version. The answer comes later: look again until the state is not “asked”."""
        task = self.editable(request, slug, user_id, pk)
        wanted = AskSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        assignment = assign(
            TaskSpec.model_validate(task.revisions.get(number=task.version).spec),
            given["kind"],
            given["field"],
            uid=str(given["item"] or ""),
            language=given["language"],
            reference=given["reference"],
            pasted=given["pasted"],
        )
        user: Any = request.user
        row = requests.ask(task, by=user, assignment=assignment, fresh=given["fresh"])
        return Response(SuggestionSerializer(suggestions().get(pk=row.pk)).data, status=status.HTTP_201_CREATED)


class OneSuggestion(OfSuggestions):
    @extend_schema(responses=SuggestionSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """How far it is, and what it proposes."""
        return Response(SuggestionSerializer(self.one(request, slug, user_id, pk, suggestion)).data)


class Take(OfSuggestions):
    @extend_schema(request=TakeSerializer, responses={200: SuggestionSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Put rows of it into the task, as a new version. 409 with ``current`` and ``proposed`` where somebody changed
        the words since."""
        row = self.one(request, slug, user_id, pk, suggestion)
        wanted = TakeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        try:
            decisions.take(row.pk, by=user, **wanted.validated_data)
        except decisions.ProposalOutdatedError as moved:
            said = {"detail": str(moved), "row": moved.row, "current": moved.current, "proposed": moved.proposed}
            return Response(said, status=status.HTTP_409_CONFLICT)
        return Response(SuggestionSerializer(suggestions().get(pk=row.pk)).data)


class Dismiss(OfSuggestions):
    @extend_schema(request=RowsSerializer, responses={200: SuggestionSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str, user_id: str, pk: int, suggestion: int) -> Response:
        """Not wanted: rows of it, or all. Nothing of the task changes."""
        row = self.one(request, slug, user_id, pk, suggestion)
        wanted = RowsSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        user: Any = request.user
        decisions.dismiss(row.pk, by=user, rows=wanted.validated_data["rows"])
        return Response(SuggestionSerializer(suggestions().get(pk=row.pk)).data)


urlpatterns = [
    path(f"{TASK}suggestions/", Suggestions.as_view(), name="api_suggestions"),
    path(SUGGESTION, OneSuggestion.as_view(), name="api_suggestion"),
    path(f"{SUGGESTION}take/", Take.as_view(), name="api_suggestion_take"),
    path(f"{SUGGESTION}dismiss/", Dismiss.as_view(), name="api_suggestion_dismiss"),
]

"""Opening audits by the API. It is here because audits know nothing of pilots."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.response import Response

from annotations.access import find_campaign
from annotations.api import CampaignSerializer, CampaignViewSet
from annotations.campaigns import MAX_INSTRUCTIONS, CampaignError
from annotations.models import AuditCampaign
from annotations.visibility import sees_results
from evaluation.audits.blindness import open_pilots, require_judges_open
from evaluation.audits.campaigns import (
    DEFAULT_PEOPLE,
    MAX_CONTROLS,
    MAX_PEOPLE,
    MAX_SIZE,
    AuditOptions,
    audited_pilots,
    open_audit,
)
from evaluation.audits.corrections import (
    CorrectionError,
    correct_by_audit,
    corrections_by,
    overturned_questions,
    take_corrections_back,
)
from evaluation.audits.judges import judges_document
from evaluation.audits.rounds import Numbers
from evaluation.models import ModelEndpoint
from evaluation.pilots.model_audits import plan_model_audit, start_model_audit
from evaluation.pilots.rejudging import MAX_SAMPLES, RejudgingError
from evaluation.results.scores import refresh_scores
from studio.access import ApiRequest, find_benchmark, require
from studio.api.base import ConflictAPIError
from studio.models import ApiToken, User


class NewAuditSerializer(serializers.Serializer[Any]):
    """The options of ``manage.py audit``."""

    benchmark = serializers.SlugField()
    pilots = serializers.ListField(child=serializers.IntegerField(), min_length=1, help_text="Their ids.")
    round = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        help_text="Which judging, if pilots were judged again; default: the round that scores each.",
    )
    rounds = serializers.DictField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        default=dict,
        help_text='Instead of `round`, for each pilot: `{"12": 2}`. Pilots left out: the round that scores.',
    )
    unit = serializers.ChoiceField(
        choices=AuditCampaign.Unit.choices, required=False, default=AuditCampaign.Unit.DECISION
    )
    size = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1, max_value=MAX_SIZE)
    half_width = serializers.FloatField(
        required=False, allow_null=True, default=None, help_text="In points, instead of `size`: as many as it takes."
    )
    strata = serializers.ChoiceField(
        choices=AuditCampaign.Strata.choices,
        required=False,
        allow_blank=True,
        default="",
        help_text="Default: sessions `pilot`, decisions `answer`.",
    )
    gold = serializers.FloatField(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_CONTROLS,
        help_text="Percent on top: items that earlier audits decided beyond doubt.",
    )
    planted = serializers.FloatField(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_CONTROLS,
        help_text="Percent: wrong verdicts planted to see who looks. In no score.",
    )
    second = serializers.FloatField(
        required=False,
        default=0,
        min_value=0,
        max_value=100,
        help_text="Percent: single decisions asked again, in truth, with the whole session.",
    )
    people = serializers.IntegerField(required=False, default=DEFAULT_PEOPLE, min_value=1, max_value=MAX_PEOPLE)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    auditors = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, help_text="Usernames; default: all auditors."
    )
    due = serializers.DateField(required=False, allow_null=True, default=None, help_text="By when: `2026-12-24`.")
    instructions = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=MAX_INSTRUCTIONS,
        help_text="Of your own, with examples, in Markdown. They cannot be changed afterwards.",
    )
    own_tasks = serializers.BooleanField(
        required=False, default=False, help_text="People may judge tasks they wrote, edited or approved."
    )


class ModelAuditSerializer(serializers.Serializer[Any]):
    """The options of ``manage.py audit_model``."""

    model = serializers.CharField()
    samples = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MAX_SAMPLES)
    estimate = serializers.BooleanField(required=False, default=False, help_text="Only say what it would cost.")


class CorrectionSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500)
    back = serializers.BooleanField(required=False, default=False, help_text="The judge's verdicts score again.")


FIELDS = {"overlap": "people"}


class AuditViewSet(CampaignViewSet):
    token_scope = ApiToken.Scope.WRITE

    @extend_schema(request=ModelAuditSerializer, responses={200: OpenApiTypes.OBJECT, 201: OpenApiTypes.OBJECT})
    @action(detail=True, methods=["post"], token_scope=ApiToken.Scope.FULL)  # may cost money
    def model(self, request: ApiRequest, pk: str) -> Response:
        """Let a model audit the same sessions or decisions. What it answers stands apart from people."""
        row = find_campaign(request.user, pk)
        require(request.user, row.benchmark, "plan_audit")
        given = ModelAuditSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        name = given.validated_data["model"]
        endpoint = ModelEndpoint.objects.usable_in(row.benchmark).filter(name=name).first()
        if endpoint is None:
            raise ValidationError({"model": [f"There is no model “{name}”."]})
        try:
            plan = plan_model_audit(row, endpoint, given.validated_data["samples"])
        except RejudgingError as error:
            raise ValidationError({error.field: [error.message]}) from error
        if given.validated_data["estimate"]:
            return Response(plan.as_json())
        start_model_audit(plan, by=request.user)
        return Response(plan.as_json(), status=status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="audits_judges",
        parameters=[OpenApiParameter("benchmark", str, required=True, description="Slug.")],
        responses=OpenApiResponse(OpenApiTypes.OBJECT, "What people decided, and each judge beside it."),
    )
    @action(detail=False)
    def judges(self, request: ApiRequest) -> Response:
        """How judges do on what people decided, and whether they are worse than the one in use."""
        benchmark = find_benchmark(request.user, request.query_params.get("benchmark", ""))
        require(request.user, benchmark, "plan_audit")
        require_judges_open(request.user, benchmark)
        return Response(judges_document(benchmark))

    @extend_schema(responses=OpenApiResponse(OpenApiTypes.OBJECT, "What people decided otherwise, and what scores."))
    @action(detail=True)
    def corrections(self, request: ApiRequest, pk: str) -> Response:
        """Where people decided otherwise than the judge, and how many verdicts score as they decided."""
        return Response(_corrections_json(self._planned(request, pk)))

    @extend_schema(request=CorrectionSerializer, responses=OpenApiResponse(OpenApiTypes.OBJECT, "As GET."))
    @corrections.mapping.post
    def correct(self, request: ApiRequest, pk: str) -> Response:
        """Let people's answers score, of a closed audit, or the judge's verdicts again."""
        row = self._planned(request, pk)
        given = CorrectionSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        act = take_corrections_back if given.validated_data["back"] else correct_by_audit
        try:
            act(row, by=request.user, reason=given.validated_data["reason"])
        except CorrectionError as error:
            if error.field:
                raise ValidationError({error.field: [str(error)]}) from error
            raise ConflictAPIError(str(error)) from error
        refresh_scores(audited_pilots(row))
        return Response(_corrections_json(row))

    def _planned(self, request: ApiRequest, pk: str) -> AuditCampaign:
        row = find_campaign(request.user, pk)
        require(request.user, row.benchmark, "plan_audit")
        if not sees_results(request.user, row):
            raise PermissionDenied("You judge in this audit yourself. Open its results first.")
        return row

    @extend_schema(request=NewAuditSerializer, responses={201: CampaignSerializer})
    def create(self, request: ApiRequest) -> Response:
        """Freeze a sample of what judges decided in pilots, for people to judge."""
        serializer = NewAuditSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        data = dict(serializer.validated_data)
        benchmark = find_benchmark(request.user, data.pop("benchmark"))
        require(request.user, benchmark, "plan_audit")
        wanted = set(data.pop("pilots"))
        pilots = list(open_pilots(request.user).filter(benchmark=benchmark, pk__in=wanted).order_by("pk"))
        if missing := wanted - {pilot.pk for pilot in pilots}:
            raise ValidationError({"pilots": [f"There is no pilot {', '.join(map(str, sorted(missing)))} here."]})
        names = set(data.pop("auditors"))
        auditors = list(User.objects.filter(username__in=names, memberships__benchmark=benchmark).distinct())
        if unknown := names - {user.username for user in auditors}:
            raise ValidationError({"auditors": [f"{', '.join(sorted(unknown))} cannot audit here."]})
        data["round"] = _rounds_of(data.pop("rounds"), data["round"])
        try:
            options = AuditOptions(overlap=data.pop("people"), auditors=auditors, **data)
            row = open_audit(pilots, options, by=request.user)
        except CampaignError as error:
            raise ValidationError({FIELDS.get(error.field, error.field): [str(error)]}) from error
        return Response(CampaignSerializer(row).data, status=status.HTTP_201_CREATED)


def _rounds_of(rounds: dict[str, int], number: int | None) -> Numbers | None:
    if rounds and number is not None:
        raise ValidationError({"rounds": ["Give either this or one round for all."]})
    if wrong := [key for key in rounds if not key.isdecimal()]:
        raise ValidationError({"rounds": [f"“{wrong[0]}” is no pilot’s id."]})
    return {int(key): value for key, value in rounds.items()} or number


def _corrections_json(row: AuditCampaign) -> dict[str, Any]:
    return {
        "overturned": [asdict(each) for each in overturned_questions(row)],
        "verdicts_corrected": len(corrections_by(row)),
    }

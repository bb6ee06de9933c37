"""Opening audits by the API. It is here because audits know nothing of pilots."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import Field
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.response import Response

from annotations.access import find_campaign
from annotations.api import CampaignSerializer, CampaignViewSet
from annotations.models import AuditCampaign
from annotations.seals import sees_results
from evaluation.audits.blindness import require_judges_open
from evaluation.audits.campaigns import audited_pilots
from evaluation.audits.corrections import (
    correct_by_audit,
    corrections_by,
    overturned_questions,
    take_corrections_back,
)
from evaluation.audits.gate import judges_document
from evaluation.audits.opening import AuditOptions, open_audit
from evaluation.pilots.model_audits import ModelAuditOptions, plan_model_audit, start_model_audit
from evaluation.results.scores import refresh_scores
from studio.access import ApiRequest, find_benchmark, require
from studio.api.base import given_in, named_in
from studio.domain.options import Options


class NewAudit(AuditOptions):
    benchmark: str
    """Its slug."""


class ModelAudit(ModelAuditOptions):
    estimate: bool = False
    """Only say what it would cost."""


class Correction(Options):
    reason: str = Field(max_length=500)
    back: bool = False
    """The judge's verdicts score again."""


class AuditViewSet(CampaignViewSet):
    @extend_schema(request=ModelAudit, responses={200: OpenApiTypes.OBJECT, 201: OpenApiTypes.OBJECT})
    @action(detail=True, methods=["post"])
    def model(self, request: ApiRequest, pk: str) -> Response:
        """Let a model audit the same sessions or decisions. What it answers stands apart from people."""
        row = self._planned(request, pk)
        options = given_in(request, ModelAudit)
        plan = plan_model_audit(row, options)
        if options.estimate:
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

    @extend_schema(request=Correction, responses=OpenApiResponse(OpenApiTypes.OBJECT, "As GET."))
    @corrections.mapping.post
    def correct(self, request: ApiRequest, pk: str) -> Response:
        """Let people's answers score, of a closed audit, or the judge's verdicts again."""
        row = self._planned(request, pk)
        given = given_in(request, Correction)
        (take_corrections_back if given.back else correct_by_audit)(row, by=request.user, reason=given.reason)
        refresh_scores(audited_pilots(row))
        return Response(_corrections_json(row))

    def _planned(self, request: ApiRequest, pk: str) -> AuditCampaign:
        row = find_campaign(request.user, pk)
        require(request.user, row.benchmark, "plan_audit")
        if not sees_results(request.user, row):
            raise PermissionDenied("You judge in this audit yourself. Open its results first.")
        return row

    @extend_schema(request=NewAudit, responses={201: CampaignSerializer})
    def create(self, request: ApiRequest) -> Response:
        """Freeze a sample of what judges decided in pilots, for people to judge."""
        benchmark = find_benchmark(request.user, named_in(request, "benchmark"))
        require(request.user, benchmark, "plan_audit")
        options = given_in(request, NewAudit)
        row = open_audit(benchmark, options, by=request.user)
        return Response(CampaignSerializer(row).data, status=status.HTTP_201_CREATED)


def _corrections_json(row: AuditCampaign) -> dict[str, Any]:
    return {
        "overturned": [asdict(each) for each in overturned_questions(row)],
        "verdicts_corrected": len(corrections_by(row)),
    }

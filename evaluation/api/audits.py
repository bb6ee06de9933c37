"""The API of audits that know of pilots, and of gold items whose known answers are typed before an audit."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from pydantic import Field
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.views import APIView

from annotations.api.campaigns import CampaignSerializer, CampaignViewSet
from annotations.gold import questions_of, type_answers
from annotations.models import AuditCampaign, GoldItem
from annotations.visibility import find_planned_campaign
from evaluation.audits.blindness import require_judges_open
from evaluation.audits.campaigns import audited_pilots
from evaluation.audits.corrections import (
    correct_by_audit,
    corrections_by,
    overturned_questions,
    take_corrections_back,
)
from evaluation.audits.gate import judges_document
from evaluation.audits.known import draw_gold_item, find_gold_item, gold_items, pilots_to_draw_from
from evaluation.audits.opening import AuditOptions, open_audit
from evaluation.pilots.model_audits import ModelAuditOptions, plan_model_audit, start_model_audit
from evaluation.results.scores import refresh_scores
from studio.access import ApiRequest, find_benchmark
from studio.api.base import given_in, named_in
from studio.domain.options import Options, OptionsError
from studio.models import ApiToken, Benchmark


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
        row = find_planned_campaign(request.user, pk)
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
        benchmark = find_benchmark(request.user, request.query_params.get("benchmark", ""), "plan_audit")
        require_judges_open(request.user, benchmark)
        return Response(judges_document(benchmark))

    @extend_schema(responses=OpenApiResponse(OpenApiTypes.OBJECT, "What people decided otherwise, and what scores."))
    @action(detail=True)
    def corrections(self, request: ApiRequest, pk: str) -> Response:
        """Where people decided otherwise than the judge, and how many verdicts score as they decided."""
        return Response(_corrections_json(find_planned_campaign(request.user, pk)))

    @extend_schema(request=Correction, responses=OpenApiResponse(OpenApiTypes.OBJECT, "As GET."))
    @corrections.mapping.post
    def correct(self, request: ApiRequest, pk: str) -> Response:
        """Let people's answers score, of a closed audit, or the judge's verdicts again."""
        row = find_planned_campaign(request.user, pk)
        given = given_in(request, Correction)
        (take_corrections_back if given.back else correct_by_audit)(row, by=request.user, reason=given.reason)
        refresh_scores(audited_pilots(row))
        return Response(_corrections_json(row))

    @extend_schema(request=NewAudit, responses={201: CampaignSerializer})
    def create(self, request: ApiRequest) -> Response:
        """Freeze a sample of what judges decided in pilots, for people to judge."""
        benchmark = find_benchmark(request.user, named_in(request, "benchmark"), "plan_audit")
        options = given_in(request, NewAudit)
        row = open_audit(benchmark, options, by=request.user)
        return Response(CampaignSerializer(row).data, status=status.HTTP_201_CREATED)


def _corrections_json(row: AuditCampaign) -> dict[str, Any]:
    return {
        "overturned": [asdict(each) for each in overturned_questions(row)],
        "verdicts_corrected": len(corrections_by(row)),
    }


ITEM = OpenApiResponse(OpenApiTypes.OBJECT, "The item as auditors will see it, its questions and known answers.")


class Draw(Options):
    pilot: int = Field(ge=0, le=2**63 - 1)
    """Its id."""
    unit: AuditCampaign.Unit = AuditCampaign.Unit.SESSION


class KnownAnswers(Options):
    answers: dict[str, str]
    """By key of the question; what is left out is open."""


class KnownAnswersView(APIView):
    token_scope = ApiToken.Scope.FULL

    @extend_schema(operation_id="known_answers", responses=OpenApiResponse(OpenApiTypes.OBJECT, "`items`: one each."))
    def get(self, request: ApiRequest, slug: str) -> Response:
        """The items of a benchmark, also those without answers as yet."""
        items = gold_items(self._benchmark(request, slug), request.user)
        return Response({"items": [_item_json(row) for row in items]})

    @extend_schema(operation_id="known_answers_draw", request=Draw, responses={201: ITEM})
    def post(self, request: ApiRequest, slug: str) -> Response:
        """Draw a session or a decision of a pilot, to type its answers."""
        benchmark = self._benchmark(request, slug)
        given = given_in(request, Draw)
        pilot = pilots_to_draw_from(benchmark, request.user).filter(pk=given.pilot).first()
        if pilot is None:
            raise OptionsError("pilot", f"There is no pilot {given.pilot} here with decisions to audit.")
        item = draw_gold_item(pilot, given.unit, by=request.user)
        return Response(_item_json(item), status=status.HTTP_201_CREATED)

    def _benchmark(self, request: ApiRequest, slug: str) -> Benchmark:
        benchmark = find_benchmark(request.user, slug, "plan_audit")
        return benchmark


class KnownAnswerView(APIView):
    token_scope = ApiToken.Scope.FULL

    @extend_schema(operation_id="known_answer", responses=ITEM)
    def get(self, request: ApiRequest, pk: int) -> Response:
        return Response(_item_json(find_gold_item(request.user, pk)))

    @extend_schema(operation_id="known_answer_type", request=KnownAnswers, responses=ITEM)
    def put(self, request: ApiRequest, pk: int) -> Response:
        """Type the known answers. You will never be asked this item."""
        item = find_gold_item(request.user, pk)
        given = given_in(request, KnownAnswers)
        try:
            type_answers(item, given.answers, by=request.user)
        except OptionsError as error:
            raise OptionsError(error.field or "answers", error.message) from error
        return Response(_item_json(item))

    @extend_schema(operation_id="known_answer_remove", responses={204: None})
    def delete(self, request: ApiRequest, pk: int) -> Response:
        """Audits that asked it keep it."""
        find_gold_item(request.user, pk).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _item_json(item: GoldItem) -> dict[str, Any]:
    questions = [{"key": row.key, "subject": row.subject, "choices": list(row.decisive)} for row in questions_of(item)]
    return {
        "id": item.pk,
        "unit": item.unit,
        "pilot": item.origin,
        "content": item.content,
        "questions": questions,
        "known": item.known,
        "by": item.by.get_username(),
    }

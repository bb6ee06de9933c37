"""The API of gold items whose known answers are typed before an audit."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from pydantic import Field
from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import APIView

from annotations.gold import questions_of, type_answers
from annotations.models import AuditCampaign, GoldItem
from evaluation.audits.known import draw_gold_item, find_gold_item, gold_items, pilots_to_draw_from
from studio.access import ApiRequest, find_benchmark, require
from studio.api.base import given_in
from studio.domain.options import Options, OptionsError
from studio.models import ApiToken, Benchmark

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
        benchmark = find_benchmark(request.user, slug)
        require(request.user, benchmark, "plan_audit")
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

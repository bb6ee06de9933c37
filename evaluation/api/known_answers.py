"""The API of gold items whose known answers are typed before an audit."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.views import APIView

from annotations.gold import GoldError, questions_of, type_answers
from annotations.models import AuditCampaign, GoldItem
from evaluation.audits.known import draw_gold_item, find_gold_item, gold_items, pilots_to_draw_from
from studio.access import ApiRequest, find_benchmark, require
from studio.models import Benchmark

ITEM = OpenApiResponse(OpenApiTypes.OBJECT, "The item as auditors will see it, its questions and known answers.")


class DrawSerializer(serializers.Serializer[Any]):
    pilot = serializers.IntegerField(help_text="Its id.")
    unit = serializers.ChoiceField(
        choices=AuditCampaign.Unit.choices, required=False, default=AuditCampaign.Unit.SESSION
    )


class KnownAnswersSerializer(serializers.Serializer[Any]):
    answers = serializers.DictField(
        child=serializers.CharField(allow_blank=True), help_text="By key of the question; what is left out is open."
    )


class KnownAnswersView(APIView):
    @extend_schema(operation_id="known_answers", responses=OpenApiResponse(OpenApiTypes.OBJECT, "`items`: one each."))
    def get(self, request: ApiRequest, slug: str) -> Response:
        """The items of a benchmark, also those without answers as yet."""
        items = gold_items(self._benchmark(request, slug), request.user)
        return Response({"items": [_item_json(row) for row in items]})

    @extend_schema(operation_id="known_answers_draw", request=DrawSerializer, responses={201: ITEM})
    def post(self, request: ApiRequest, slug: str) -> Response:
        """Draw a session or a decision of a pilot, to type its answers."""
        benchmark = self._benchmark(request, slug)
        given = DrawSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        key = given.validated_data["pilot"]
        pilot = pilots_to_draw_from(benchmark, request.user).filter(pk=key).first()
        if pilot is None:
            raise ValidationError({"pilot": [f"There is no pilot {key} here with decisions to audit."]})
        item = draw_gold_item(pilot, given.validated_data["unit"], by=request.user)
        return Response(_item_json(item), status=status.HTTP_201_CREATED)

    def _benchmark(self, request: ApiRequest, slug: str) -> Benchmark:
        benchmark = find_benchmark(request.user, slug)
        require(request.user, benchmark, "plan_audit")
        return benchmark


class KnownAnswerView(APIView):
    @extend_schema(operation_id="known_answer", responses=ITEM)
    def get(self, request: ApiRequest, pk: int) -> Response:
        return Response(_item_json(find_gold_item(request.user, pk)))

    @extend_schema(operation_id="known_answer_type", request=KnownAnswersSerializer, responses=ITEM)
    def put(self, request: ApiRequest, pk: int) -> Response:
        """Type the known answers. You will never be asked this item."""
        item = find_gold_item(request.user, pk)
        given = KnownAnswersSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        try:
            type_answers(item, given.validated_data["answers"], by=request.user)
        except GoldError as error:
            raise ValidationError({error.field or "answers": [str(error)]}) from error
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

"""The API of the episode board."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.access import ApiRequest
from studio.api.base import valid_in
from studio.domain.arrangement import ArrangementError
from studio.episodes import moves
from studio.models import Persona


class NeedSerializer(serializers.Serializer[Any]):
    task_id = serializers.CharField(help_text="The earlier task.")
    carries_over = serializers.CharField()


class BoardSerializer(serializers.Serializer[Any]):
    seen = serializers.CharField(help_text="Identifies this arrangement; a step names the arrangement it is based on.")
    order = serializers.ListField(child=serializers.CharField(), help_text="Task ids in run order.")
    unplaced = serializers.ListField(child=serializers.CharField(), help_text="Unplaced tasks.")
    groups = serializers.DictField(child=serializers.CharField(), help_text="Group by task; empty if none.")
    needs = serializers.DictField(child=NeedSerializer(many=True), help_text="Dependencies by task.")
    carries_over = serializers.DictField(child=serializers.CharField(), help_text="What carries over, by group.")
    splits = serializers.DictField(child=serializers.CharField(), help_text="Split by task; others are public.")


def _text_field(help_text: str, max_length: int = 200) -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_blank=True, default="", trim_whitespace=False, max_length=max_length, help_text=help_text
    )


class BoardStepSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField(choices=moves.ACTIONS)
    tasks = serializers.ListField(
        child=serializers.CharField(max_length=200, trim_whitespace=False),
        default=list,
        max_length=500,
        help_text="Ids of the tasks concerned.",
    )
    target = _text_field(
        "For move: the task to insert before, or “end”; for swap, depend and stop_depending: the other task."
    )
    group = _text_field("The group, for group operations.")
    name = _text_field("The new name; for merge_group, the other group.")
    carries_over = _text_field("What carries over.", 5_000)
    split = _text_field("The split, for split: public, validation or held_out.")
    seen = _text_field("The arrangement the step is based on; empty: the current one.")
    sure = serializers.BooleanField(default=False, help_text="Proceed even if approvals are withdrawn.")


class BoardChangeSerializer(serializers.Serializer[Any]):
    sentence = serializers.CharField(help_text="What was done.")
    board = BoardSerializer()


class BoardRefusalSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()
    reason = serializers.ChoiceField(
        choices=["changed", "unsure", "refused"],
        help_text="The board has changed, the step would withdraw approvals (send “sure”), or it is not possible.",
    )
    board = BoardSerializer()


class BoardDetail(APIView):
    """A persona's episode board. A step is applied completely or not at all."""

    @extend_schema(responses=BoardSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        return Response(_board(access.find_persona(request.user, slug, user_id)))

    @extend_schema(request=BoardStepSerializer, responses={200: BoardChangeSerializer, 409: BoardRefusalSerializer})
    def post(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        persona = access.find_persona(request.user, slug, user_id)
        access.require(request.user, persona.benchmark, "edit")
        data = valid_in(request, BoardStepSerializer)
        seen, sure = data.pop("seen"), data.pop("sure")
        move = moves.Move(**data | {"tasks": tuple(data["tasks"])})
        try:
            made = moves.make_move(persona.pk, move, by=request.user, seen=seen, confirmed=sure)
        except moves.BoardChangedError as error:
            return _refusal(persona, "changed", error)
        except moves.ConfirmationNeededError as error:
            return _refusal(persona, "unsure", error)
        except ArrangementError as error:
            return _refusal(persona, "refused", error)
        return Response({"sentence": made.summary, "board": _board(persona)})


def _board(persona: Persona) -> dict[str, Any]:
    current = moves.current_arrangement(persona)
    return {
        "seen": current.digest(),
        "order": list(current.order),
        "unplaced": current.unplaced,
        "groups": dict(current.groups),
        "needs": {
            task_id: [dependency.to_json() for dependency in dependencies]
            for task_id, dependencies in current.dependencies.items()
            if dependencies
        },
        "carries_over": current.group_notes_in_use(),
        "splits": dict(current.splits),
    }


def _refusal(persona: Persona, reason: str, error: Exception) -> Response:
    data = {"detail": str(error), "reason": reason, "board": _board(persona)}
    return Response(data, status=status.HTTP_409_CONFLICT)


urlpatterns = [
    path("benchmarks/<slug:slug>/personas/<str:user_id>/board/", BoardDetail.as_view(), name="api_board"),
]

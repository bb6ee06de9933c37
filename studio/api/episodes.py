"""The API of an episode's board: how it is arranged, and the steps that people make there."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.access import ApiRequest
from studio.domain.arrangement import ArrangementError
from studio.episodes import moves
from studio.models import Persona


class NeedSerializer(serializers.Serializer[Any]):
    task_id = serializers.CharField(help_text="The earlier task.")
    carries_over = serializers.CharField()


class BoardSerializer(serializers.Serializer[Any]):
    seen = serializers.CharField(help_text="Identifies this arrangement; a step names the arrangement it is based on.")
    order = serializers.ListField(child=serializers.CharField(), help_text="Task ids in run order.")
    aside = serializers.ListField(child=serializers.CharField(), help_text="Unplaced tasks.")
    groups = serializers.DictField(child=serializers.CharField(), help_text="Group by task; empty if none.")
    needs = serializers.DictField(child=NeedSerializer(many=True), help_text="Dependencies by task.")
    words = serializers.DictField(child=serializers.CharField(), help_text="What carries over, by group.")


def _text(words: str, longest: int = 200) -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_blank=True, default="", trim_whitespace=False, max_length=longest, help_text=words
    )


class BoardStepSerializer(serializers.Serializer[Any]):
    does = serializers.ChoiceField(choices=moves.ACTIONS)
    tasks = serializers.ListField(
        child=serializers.CharField(max_length=200, trim_whitespace=False),
        default=list,
        max_length=500,
        help_text="Ids of the tasks concerned.",
    )
    place = _text("For move: the task to insert before, or “end”; for swap, depend and stop_depending: the other task.")
    group = _text("The group, for group operations.")
    name = _text("The new name; for merge_group, the other group.")
    words = _text("What carries over.", 5_000)
    seen = _text("The arrangement the step is based on; empty: the current one.")
    sure = serializers.BooleanField(default=False, help_text="Proceed even if approvals are withdrawn.")


class MadeSerializer(serializers.Serializer[Any]):
    sentence = serializers.CharField(help_text="What was done.")
    board = BoardSerializer()


class NotMadeSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()
    reason = serializers.ChoiceField(
        choices=["changed", "unsure", "refused"],
        help_text="The board has changed, the step would withdraw approvals (send “sure”), or it is not possible.",
    )
    board = BoardSerializer()


class OneBoard(APIView):
    """A persona's episode as its board shows it. A step is made whole or not at all."""

    @extend_schema(responses=BoardSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        return Response(_board(access.find_persona(request.user, slug, user_id)))

    @extend_schema(request=BoardStepSerializer, responses={200: MadeSerializer, 409: NotMadeSerializer})
    def post(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        persona = access.find_persona(request.user, slug, user_id)
        access.require(request.user, persona.benchmark, "edit")
        wanted = BoardStepSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        seen, sure = given.pop("seen"), given.pop("sure")
        user: Any = request.user
        move = moves.Move(
            action=given["does"],
            tasks=tuple(given["tasks"]),
            target=given["place"],
            group=given["group"],
            name=given["name"],
            carries_over=given["words"],
        )
        try:
            made = moves.make_move(persona.pk, move, by=user, seen=seen, confirmed=sure)
        except moves.BoardChangedError as refusal:
            return _not_made(persona, "changed", refusal)
        except moves.ConfirmationNeededError as refusal:
            return _not_made(persona, "unsure", refusal)
        except ArrangementError as refusal:
            return _not_made(persona, "refused", refusal)
        return Response({"sentence": made.summary, "board": _board(persona)})


def _board(persona: Persona) -> dict[str, Any]:
    now = moves.current_arrangement(persona)
    return {
        "seen": now.digest(),
        "order": list(now.order),
        "aside": now.unplaced,
        "groups": dict(now.groups),
        "needs": {
            task_id: [need.to_json() for need in needed] for task_id, needed in now.dependencies.items() if needed
        },
        "words": now.group_notes_in_use(),
    }


def _not_made(persona: Persona, reason: str, refusal: Exception) -> Response:
    told = {"detail": str(refusal), "reason": reason, "board": _board(persona)}
    return Response(told, status=status.HTTP_409_CONFLICT)


urlpatterns = [
    path("benchmarks/<slug:slug>/personas/<str:user_id>/board/", OneBoard.as_view(), name="api_board"),
]

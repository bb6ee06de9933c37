"""The API of an episode's board: how it is arranged, and the steps that people make there."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.domain.arrangement import StepRefused
from studio.episodes import moves
from studio.models import Persona


class NeedSerializer(serializers.Serializer[Any]):
    task_id = serializers.CharField(help_text="The earlier task.")
    carries_over = serializers.CharField()


class BoardSerializer(serializers.Serializer[Any]):
    seen = serializers.CharField(help_text="Stands for this arrangement: a step names the one it was thought out for.")
    order = serializers.ListField(child=serializers.CharField(), help_text="Ids of the tasks as they run.")
    aside = serializers.ListField(child=serializers.CharField(), help_text="Tasks without a place.")
    groups = serializers.DictField(child=serializers.CharField(), help_text="By task: its group; empty: none.")
    needs = serializers.DictField(child=NeedSerializer(many=True), help_text="By task: what it builds on.")
    words = serializers.DictField(child=serializers.CharField(), help_text="By group: what it carries over.")


def _text(words: str, longest: int = 200) -> serializers.CharField:
    return serializers.CharField(
        required=False, allow_blank=True, default="", trim_whitespace=False, max_length=longest, help_text=words
    )


class BoardStepSerializer(serializers.Serializer[Any]):
    does = serializers.ChoiceField(choices=moves.STEPS)
    tasks = serializers.ListField(
        child=serializers.CharField(max_length=200, trim_whitespace=False),
        default=list,
        max_length=500,
        help_text="Ids of the tasks it is about.",
    )
    place = _text(
        "For move: the task in front of which they go, or “end”; for swap, depend and stop_depending: the other task."
    )
    group = _text("The group, for what is done to one.")
    name = _text("Its new name; for merge_group: the other group.")
    words = _text("What carries over.", 5_000)
    seen = _text("The arrangement the step was thought out for; empty: whichever there is.")
    sure = serializers.BooleanField(default=False, help_text="Also where approvals are taken back by it.")


class MadeSerializer(serializers.Serializer[Any]):
    sentence = serializers.CharField(help_text="What was done.")
    board = BoardSerializer()


class NotMadeSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()
    reason = serializers.ChoiceField(
        choices=["changed", "unsure", "refused"],
        help_text="The board is another one now; approvals would be taken back, say “sure”; or it cannot be done.",
    )
    board = BoardSerializer()


class OneBoard(APIView):
    """A persona's episode as its board shows it. A step is made whole or not at all."""

    @extend_schema(responses=BoardSerializer)
    def get(self, request: Request, slug: str, user_id: str) -> Response:
        return Response(_board(access.find_persona(request.user, slug, user_id)))

    @extend_schema(request=BoardStepSerializer, responses={200: MadeSerializer, 409: NotMadeSerializer})
    def post(self, request: Request, slug: str, user_id: str) -> Response:
        persona = access.find_persona(request.user, slug, user_id)
        access.require(request.user, persona.benchmark, "edit")
        wanted = BoardStepSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        given = wanted.validated_data
        seen, sure = given.pop("seen"), given.pop("sure")
        user: Any = request.user
        step = moves.Step(**{**given, "tasks": tuple(given["tasks"])})
        try:
            made = moves.arrange(persona.pk, step, by=user, seen=seen, sure=sure)
        except moves.BoardChanged as refusal:
            return _not_made(persona, "changed", refusal)
        except moves.NotSure as refusal:
            return _not_made(persona, "unsure", refusal)
        except StepRefused as refusal:
            return _not_made(persona, "refused", refusal)
        return Response({"sentence": made.sentence, "board": _board(persona)})


def _board(persona: Persona) -> dict[str, Any]:
    now = moves.arrangement_now(persona)
    return {
        "seen": now.digest(),
        "order": list(now.order),
        "aside": now.aside,
        "groups": dict(now.groups),
        "needs": {task_id: [need.to_json() for need in needed] for task_id, needed in now.needs.items() if needed},
        "words": now.words_kept(),
    }


def _not_made(persona: Persona, reason: str, refusal: Exception) -> Response:
    told = {"detail": str(refusal), "reason": reason, "board": _board(persona)}
    return Response(told, status=status.HTTP_409_CONFLICT)


urlpatterns = [
    path("benchmarks/<slug:slug>/personas/<str:user_id>/board/", OneBoard.as_view(), name="api_board"),
]

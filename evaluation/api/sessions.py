"""The API of sessions: turns, intents and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.api.base import is_key
from evaluation.audits.blindness import find_session, open_sessions
from evaluation.models import Session, SessionIntent, ToolCall, Turn, TurnNote, Verdict
from studio.api.base import KEY
from studio.domain.task import TaskSpec


class ToolCallSerializer(serializers.ModelSerializer[ToolCall]):
    arguments = serializers.JSONField()
    result = serializers.CharField()

    class Meta:
        model = ToolCall
        fields = ["position", "name", "arguments", "result", "ok", "milliseconds"]


class EventSerializer(serializers.Serializer[dict[str, Any]]):
    kind = serializers.ChoiceField(["webhook", "heartbeat", "feed", "file_drop"])
    payload = serializers.JSONField()
    note = serializers.CharField(help_text="The text sent with it.")


class NoteSerializer(serializers.ModelSerializer[TurnNote]):
    author = serializers.CharField(source="author.username", default="")

    class Meta:
        model = TurnNote
        fields = ["author", "text", "created_at"]


class TurnSerializer(serializers.ModelSerializer[Turn]):
    user_message = serializers.CharField()
    reply = serializers.CharField()
    tool_calls = ToolCallSerializer(many=True)
    files = serializers.JSONField(source="snapshot.manifest")
    aside = serializers.JSONField(help_text="What the agent did beside the conversation: a title and a text each.")
    thoughts = serializers.JSONField(
        help_text="The agent's reasoning, as far as it is readable: a text and its tokens for each answer with some."
    )
    remarks = serializers.JSONField(
        help_text="What the agent said beside its work, before its reply: a text, and how many tool calls it had made."
    )
    notes = NoteSerializer(many=True, help_text="What people noted on the turn.")
    event = EventSerializer(
        allow_null=True, help_text="What opened the session, if nobody said it; user_message is then its text."
    )

    class Meta:
        model = Turn
        fields = [
            "number",
            "user_message",
            "event",
            "reply",
            "empty",
            "remarks",
            "note",
            "agent_tokens",
            "milliseconds",
            "tool_calls",
            "files",
            "aside",
            "thoughts",
            "notes",
        ]


class IntentSerializer(serializers.ModelSerializer[SessionIntent]):
    class Meta:
        model = SessionIntent
        fields = ["index", "status", "turn"]


class VerdictSerializer(serializers.ModelSerializer[Verdict]):
    """A decision of a judging that scores."""

    scoring = serializers.ChoiceField(["", "compat", "strict"], read_only=True)
    sample = serializers.IntegerField(source="judging.sample", read_only=True)
    label = serializers.SerializerMethodField()  # type: ignore[assignment]  # a field of this name, not its label

    class Meta:
        model = Verdict
        fields = [
            "kind",
            "scoring",
            "sample",
            "turn",
            "index",
            "label",
            "grader",
            "met",
            "quote",
            "reason",
            "supported",
            "style",
            "error",
        ]

    def get_label(self, row: Verdict) -> str:
        return row.subject(self.context["task"])


class SessionSerializer(serializers.ModelSerializer[Session]):
    pilot = serializers.IntegerField(source="run.pilot_id")
    persona = serializers.CharField(source="run.persona_revision.persona.user_id")
    task = serializers.CharField(source="revision.task.task_id")
    run_number = serializers.IntegerField(source="run.number")

    class Meta:
        model = Session
        fields = [
            "id",
            "pilot",
            "persona",
            "task",
            "run_number",
            "position",
            "state",
            "reason",
            "blocked",
            "turn_count",
            "tokens",
            "cost",
            "started_at",
            "ended_at",
        ]


class SessionDetailSerializer(SessionSerializer):
    """With every turn."""

    turns = TurnSerializer(many=True)
    intents = IntentSerializer(many=True)
    verdicts = serializers.SerializerMethodField()

    class Meta(SessionSerializer.Meta):
        fields = [*SessionSerializer.Meta.fields, "turns", "intents", "verdicts"]

    @extend_schema_field(VerdictSerializer(many=True))
    def get_verdicts(self, row: Session) -> list[dict[str, Any]]:
        context = {"task": TaskSpec.model_validate(row.revision.spec)}
        return list(VerdictSerializer(Verdict.objects.of_session(row), many=True, context=context).data)


def session_lines(sessions: QuerySet[Session]) -> Iterator[str]:
    """Each of them in full, as JSON lines; one is in memory at a time."""
    for row in _in_full(sessions).iterator(chunk_size=1):
        yield JSONRenderer().render(SessionDetailSerializer(row).data).decode() + "\n"


def _in_full(sessions: QuerySet[Session]) -> QuerySet[Session]:
    return sessions.prefetch_related("turns__snapshot", "turns__tool_calls", "turns__notes__author")


@extend_schema_view(list=extend_schema(parameters=[OpenApiParameter("pilot", int, description="Only this pilot.")]))
class SessionViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Session]):
    """One task executed."""

    serializer_class = SessionSerializer
    lookup_value_regex = KEY
    queryset = Session.objects.none()

    def get_queryset(self) -> Any:
        sessions = open_sessions(self.request.user).order_by("-run__pilot", "run", "position")
        pilot = self.request.query_params.get("pilot", "")
        if pilot:
            sessions = sessions.filter(run__pilot=int(pilot)) if is_key(pilot) else sessions.none()
        return sessions

    @extend_schema(responses=SessionDetailSerializer)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """With its turns, tool calls and files, and what was decided of it."""
        row = find_session(request.user, kwargs["pk"])
        return Response(SessionDetailSerializer(_in_full(self.get_queryset()).get(pk=row.pk)).data)

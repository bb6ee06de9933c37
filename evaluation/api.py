"""The API on pilots, sessions, releases and models: the same rules as the pages, the same people."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import include, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_view,
)
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter

from evaluation import queries
from evaluation.blindness import is_blind, pending_in
from evaluation.models import ModelEndpoint, Pilot, Release, Session, SessionIntent, ToolCall, Turn, Verdict
from evaluation.pilots import MAX_RUNS, PilotRefused, start_pilot
from evaluation.releases import ReleaseBlocked, ReleaseRefused, cut_release
from evaluation.results import pilot_report
from studio.access import find_benchmark, require

ZIP = (200, "application/zip")
BENCHMARK = OpenApiParameter("benchmark", str, description="Slug: only of this benchmark.")


class EndpointSerializer(serializers.ModelSerializer[ModelEndpoint]):
    class Meta:
        model = ModelEndpoint
        fields = ["name", "model", "scripted"]


class PilotSerializer(serializers.ModelSerializer[Pilot]):
    benchmark = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    agent = serializers.SlugRelatedField(slug_field="name", read_only=True)
    user_model = serializers.SlugRelatedField(slug_field="name", read_only=True)
    judge = serializers.SlugRelatedField(slug_field="name", read_only=True)
    sessions = serializers.IntegerField(source="total", read_only=True)
    over = serializers.IntegerField(read_only=True)

    class Meta:
        model = Pilot
        fields = [
            "id",
            "number",
            "benchmark",
            "agent",
            "user_model",
            "judge",
            "runs_wanted",
            "limits",
            "scripted",
            "drafts",
            "state",
            "sessions",
            "over",
            "created_at",
            "finished_at",
        ]
        read_only_fields = fields


class NewPilotSerializer(serializers.Serializer[Any]):
    """As ``manage.py pilot`` takes it."""

    benchmark = serializers.SlugField()
    agent = serializers.CharField()
    user_model = serializers.CharField()
    judge = serializers.CharField()
    persona = serializers.CharField(required=False, default="", allow_blank=True)
    tasks = serializers.ListField(child=serializers.CharField(), required=False, default=list)
    runs = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MAX_RUNS)
    limits = serializers.DictField(child=serializers.FloatField(min_value=0), required=False, default=dict)


class ToolCallSerializer(serializers.ModelSerializer[ToolCall]):
    arguments = serializers.JSONField()

    class Meta:
        model = ToolCall
        fields = ["position", "name", "arguments", "result", "ok", "milliseconds"]


class TurnSerializer(serializers.ModelSerializer[Turn]):
    tool_calls = ToolCallSerializer(many=True)
    files = serializers.JSONField(source="snapshot.manifest")

    class Meta:
        model = Turn
        fields = ["number", "user_message", "reply", "note", "agent_tokens", "milliseconds", "tool_calls", "files"]


class IntentSerializer(serializers.ModelSerializer[SessionIntent]):
    class Meta:
        model = SessionIntent
        fields = ["index", "status", "turn"]


class VerdictSerializer(serializers.ModelSerializer[Verdict]):
    class Meta:
        model = Verdict
        fields = [
            "kind",
            "scoring",
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
            "turn_count",
            "tokens",
            "cost",
            "started_at",
            "ended_at",
        ]


class SessionDetailSerializer(SessionSerializer):
    """With every turn; ``intents`` and ``verdicts`` are null for who still judges decisions of the session."""

    turns = TurnSerializer(many=True)
    intents = serializers.SerializerMethodField()
    verdicts = serializers.SerializerMethodField()

    class Meta(SessionSerializer.Meta):
        fields = [*SessionSerializer.Meta.fields, "turns", "intents", "verdicts"]

    @extend_schema_field(IntentSerializer(many=True, allow_null=True))
    def get_intents(self, row: Session) -> list[dict[str, Any]] | None:
        return None if self.context["blind"] else list(IntentSerializer(row.intents.all(), many=True).data)

    @extend_schema_field(VerdictSerializer(many=True, allow_null=True))
    def get_verdicts(self, row: Session) -> list[dict[str, Any]] | None:
        return None if self.context["blind"] else list(VerdictSerializer(queries.verdicts_of(row), many=True).data)


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    benchmark = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    tasks = serializers.IntegerField(source="task_count", read_only=True)
    exceptions = serializers.JSONField(read_only=True)

    class Meta:
        model = Release
        fields = ["id", "benchmark", "version", "sha256", "tasks", "exceptions", "created_at"]
        read_only_fields = fields


class NewReleaseSerializer(serializers.Serializer[Any]):
    benchmark = serializers.SlugField()
    version = serializers.CharField(max_length=40)
    accept = serializers.CharField(required=False, default="", allow_blank=True)


@extend_schema_view(list=extend_schema(parameters=[BENCHMARK]))
class PilotViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Pilot]):
    """A model's runs over tasks."""

    serializer_class = PilotSerializer
    queryset = Pilot.objects.none()

    def get_queryset(self) -> Any:
        found = queries.with_counts(queries.visible_pilots(self.request.user)).order_by("-created_at", "-pk")
        return _of_benchmark(found, self.request)

    @extend_schema(request=NewPilotSerializer, responses={201: PilotSerializer})
    def create(self, request: Request) -> Response:
        """Start a pilot on the tasks as they are now."""
        wanted = NewPilotSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = dict(wanted.validated_data)
        benchmark = find_benchmark(request.user, data.pop("benchmark"))
        require(request.user, benchmark, "pilot")
        for part in ("agent", "user_model", "judge"):
            data[part] = _endpoint(part, data[part])
        try:
            pilot = start_pilot(benchmark, by=request.user, **data)
        except PilotRefused as refused:
            raise ValidationError({refused.field: [refused.message]}) from refused
        row = self.get_queryset().get(pk=pilot.pk)
        return Response(PilotSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py pilot --json`` gives it."))
    @action(detail=True)
    def report(self, request: Request, pk: str) -> Response:
        """Every session with its intents, items and scores."""
        row = self.get_object()
        if pending_in(request.user, row):
            raise PermissionDenied(
                "You judge decisions of this pilot blind. Its report opens once you have opened the audit's results."
            )
        return Response(pilot_report(row))


@extend_schema_view(list=extend_schema(parameters=[OpenApiParameter("pilot", int, description="Only of this pilot.")]))
class SessionViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Session]):
    """One task executed."""

    serializer_class = SessionSerializer
    queryset = Session.objects.none()

    def get_queryset(self) -> Any:
        found = queries.visible_sessions(self.request.user).order_by("-run__pilot", "run", "position")
        pilot = self.request.query_params.get("pilot", "")
        if pilot:
            found = found.filter(run__pilot=int(pilot)) if _is_key(pilot) else found.none()
        return found

    @extend_schema(responses=SessionDetailSerializer)
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """With its turns, tool calls and files, and what was decided of it."""
        row = self.get_object()
        context = {"blind": is_blind(request.user, row)}
        row = self.get_queryset().prefetch_related("turns__snapshot", "turns__tool_calls").get(pk=row.pk)
        return Response(SessionDetailSerializer(row, context=context).data)


@extend_schema_view(list=extend_schema(parameters=[BENCHMARK]))
class ReleaseViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Release]):
    """A frozen pack of tasks."""

    serializer_class = ReleaseSerializer
    queryset = Release.objects.none()

    def get_queryset(self) -> Any:
        return _of_benchmark(queries.visible_releases(self.request.user), self.request)

    @extend_schema(
        request=NewReleaseSerializer,
        responses={
            201: ReleaseSerializer,
            409: OpenApiResponse(OpenApiTypes.OBJECT, "``blocked_by``: what stands in the way, shortest first."),
        },
    )
    def create(self, request: Request) -> Response:
        """Cut a release of the benchmark as it is now."""
        wanted = NewReleaseSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        benchmark = find_benchmark(request.user, data["benchmark"])
        require(request.user, benchmark, "release")
        try:
            made = cut_release(benchmark, data["version"], by=request.user, accept=data["accept"])
        except ReleaseRefused as refused:
            raise ValidationError({"version": [str(refused)]}) from refused
        except ReleaseBlocked as blocked:
            problems = [one.to_json() for one in blocked.blockers]
            return Response({"blocked_by": problems}, status=status.HTTP_409_CONFLICT)
        row = self.get_queryset().get(pk=made.pk)
        return Response(ReleaseSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={ZIP: OpenApiTypes.BINARY})
    @action(detail=True)
    def download(self, request: Request, pk: str) -> HttpResponse:
        """The archive, to the byte."""
        row = self.get_object()
        response = HttpResponse(bytes(row.blob.content), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{row.benchmark.slug}-{row.version}.zip"'
        response["X-Content-Type-Options"] = "nosniff"
        return response


class EndpointViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[ModelEndpoint]):
    """The models there are, by name."""

    serializer_class = EndpointSerializer
    queryset = ModelEndpoint.objects.order_by("scripted", "name")


def _of_benchmark(found: Any, request: Request) -> Any:
    slug = request.query_params.get("benchmark", "")
    return found.filter(benchmark__slug=slug) if slug else found


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def _endpoint(part: str, name: str) -> ModelEndpoint:
    row = ModelEndpoint.objects.filter(name=name).first()
    if row is None:
        known = ", ".join(queries.endpoints().values_list("name", flat=True))
        raise ValidationError({part: [f"There is no model “{name}”. There are: {known}."]})
    return row


router = SimpleRouter()
router.register("pilots", PilotViewSet, basename="api-pilot")
router.register("sessions", SessionViewSet, basename="api-session")
router.register("releases", ReleaseViewSet, basename="api-release")
router.register("endpoints", EndpointViewSet, basename="api-endpoint")

urlpatterns = [path("", include(router.urls))]

"""The API of pilots and model endpoints."""

from __future__ import annotations

from typing import Any, Literal

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from evaluation import visibility
from evaluation.api.base import BENCHMARK, filter_by_benchmark, pilot_and_options
from evaluation.api.judgings import JudgingActions
from evaluation.api.sessions import session_lines
from evaluation.audits.blindness import find_pilot, open_pilots
from evaluation.models import ModelEndpoint, Pilot, Session
from evaluation.pilots.budgets import set_budgets
from evaluation.pilots.control import control_pilot
from evaluation.pilots.start import PilotOptions, start_pilot
from evaluation.results.document import submitted_json
from evaluation.results.pilot_report import pilot_report
from evaluation.submissions.submit import verify
from studio.access import ApiRequest, find_benchmark, require
from studio.api.base import KEY, given_in, named_in
from studio.domain.options import Options
from studio.models import ApiToken

JSON_LINES = (200, "application/jsonl")


class EndpointSerializer(serializers.ModelSerializer[ModelEndpoint]):
    class Meta:
        model = ModelEndpoint
        fields = ["name", "model", "effort", "scripted"]


class SubmittedSerializer(serializers.Serializer[Any]):
    """Of results that came from outside."""

    release = serializers.CharField(help_text="Its version.")
    by = serializers.CharField(allow_null=True)
    verified_by = serializers.CharField(allow_null=True, help_text="Who answers for them; null: nobody does.")


class PilotSerializer(serializers.ModelSerializer[Pilot]):
    benchmark: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    agent = serializers.CharField(source="agent_name", read_only=True)
    kind = serializers.CharField(source="agent_kind.kind", read_only=True)
    user_model = serializers.CharField(source="user_model_name", read_only=True)
    judge = serializers.CharField(source="judge_name", read_only=True)
    sessions = serializers.IntegerField(source="total", read_only=True)
    over = serializers.IntegerField(read_only=True)
    submitted = serializers.SerializerMethodField()
    base = serializers.IntegerField(source="base.number", read_only=True, allow_null=True, default=None)

    class Meta:
        model = Pilot
        fields = [
            "id",
            "number",
            "benchmark",
            "agent",
            "kind",
            "user_model",
            "judge",
            "mode",
            "protocol",
            "agent_loop",
            "base",
            "runs_wanted",
            "limits",
            "budgets",
            "reason",
            "scripted",
            "drafts",
            "submitted",
            "state",
            "sessions",
            "over",
            "created_at",
            "finished_at",
        ]
        read_only_fields = fields

    @extend_schema_field(SubmittedSerializer(allow_null=True))
    def get_submitted(self, pilot: Pilot) -> dict[str, Any] | None:
        return submitted_json(pilot)


class NewPilot(PilotOptions):
    benchmark: str
    """Its slug."""


class Control(Options):
    action: Literal["pause", "resume", "cancel", "retry"]
    everything: bool = False
    """With retry: the sessions that the agent failed, too."""


class Verified(Options):
    verified: bool = True
    """False: nobody answers for it any longer."""


class Budgets(Options):
    budgets: dict[str, dict[str, float]]


class ControlledPilotSerializer(serializers.Serializer[Any]):
    pilot = serializers.IntegerField()
    state = serializers.ChoiceField(choices=Pilot.State.choices)


@extend_schema_view(list=extend_schema(parameters=[BENCHMARK]))
class PilotViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, JudgingActions):
    """A model's runs over tasks."""

    token_scope = ApiToken.Scope.FULL  # a pilot may cost money
    serializer_class = PilotSerializer
    lookup_value_regex = KEY
    queryset = Pilot.objects.none()

    def get_queryset(self) -> Any:
        found = visibility.with_counts(open_pilots(self.request.user)).order_by("-created_at", "-pk")
        return filter_by_benchmark(found, self.request)

    def get_object(self) -> Pilot:
        rows = visibility.with_counts(visibility.visible_pilots(self.request.user))
        return find_pilot(self.request.user, self.kwargs["pk"], pilots=rows)

    @extend_schema(request=NewPilot, responses={201: PilotSerializer})
    def create(self, request: ApiRequest) -> Response:
        """Start a pilot on the tasks as they are now."""
        benchmark = find_benchmark(request.user, named_in(request, "benchmark"), "pilot")
        options = given_in(request, NewPilot)
        pilot = start_pilot(benchmark, options, by=request.user)
        row = self.get_queryset().get(pk=pilot.pk)
        return Response(PilotSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=Budgets, responses=Budgets)
    @action(detail=True, methods=["post"])
    def budget(self, request: ApiRequest, pk: str) -> Response:
        """Change the budgets named; the others stay. A paused pilot then goes on with ``control``."""
        row, given = pilot_and_options(request, pk, Budgets)
        set_budgets(row, given.budgets, by=request.user)
        return Response({"budgets": row.budgets})

    @extend_schema(request=Verified, responses=PilotSerializer)
    @action(detail=True, methods=["post"])
    def verified(self, request: ApiRequest, pk: str) -> Response:
        """Answer under your name for results that were submitted, or no longer."""
        row = self.get_object()
        require(request.user, row.benchmark, "release")
        verify(row, by=request.user, verified=given_in(request, Verified).verified)
        return Response(PilotSerializer(row).data)

    @extend_schema(request=Control, responses=ControlledPilotSerializer)
    @action(detail=True, methods=["post"])
    def control(self, request: ApiRequest, pk: str) -> Response:
        """Pause, resume, cancel or retry; as ``manage.py pilot_control``."""
        row, chosen = pilot_and_options(request, pk, Control)
        row = control_pilot(row.pk, chosen.action, by=request.user, everything=chosen.everything)
        return Response({"pilot": row.pk, "state": row.state})

    @extend_schema(responses=OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py pilot --json`` gives it."))
    @action(detail=True)
    def report(self, request: ApiRequest, pk: str) -> Response:
        """Every session with its intents, items and scores."""
        return Response(pilot_report(find_pilot(request.user, pk)))

    @extend_schema(responses={JSON_LINES: OpenApiResponse(OpenApiTypes.STR, "A session a line, as of its own.")})
    @action(detail=True)
    def sessions(self, request: ApiRequest, pk: str) -> StreamingHttpResponse:
        """All its sessions with their turns, tool calls, files and decisions, as JSON lines."""
        pilot = find_pilot(request.user, pk)
        rows = Session.objects.filter(run__pilot=pilot).order_by("run", "position")
        name = f"{pilot.benchmark.slug}-pilot-{pilot.number}-sessions.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse(session_lines(rows), content_type=JSON_LINES[1], headers=headers)


class EndpointViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[ModelEndpoint]):
    """The models there are, by name: the studio's, and those of your benchmarks."""

    serializer_class = EndpointSerializer

    def get_queryset(self) -> Any:
        return visibility.visible_endpoints(self.request.user)

"""The API of authoring: what the pages do, for other programs. Membership decides here as there."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema, extend_schema_field
from drf_spectacular.views import SpectacularAPIView
from pydantic import ValidationError as SpecInvalid
from rest_framework import generics, serializers, status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access, board_api, drafts, publishing, queries, review_api
from studio.importing import import_archive
from studio.models import Benchmark, Finding, Persona, Task
from studio.points import points_of
from studio.review_api import PointsSerializer
from studio.spec.task import TaskSpec


class Conflict(APIException):
    """The request was understood and does not fit what is stored now."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    roles = serializers.SerializerMethodField()

    class Meta:
        model = Benchmark
        fields = ["slug", "name", "description", "approvals_needed", "review_by_list", "created_at", "roles"]

    def get_roles(self, benchmark: Benchmark) -> list[str]:
        """What the asking person may be here."""
        return sorted(row.role for row in benchmark.memberships.all() if row.user_id == self.context["request"].user.pk)


class PersonaSerializer(serializers.ModelSerializer[Persona]):
    class Meta:
        model = Persona
        fields = ["user_id", "name", "occupation", "version", "updated_at"]


class PersonaDetailSerializer(PersonaSerializer):
    spec = serializers.SerializerMethodField()
    order = serializers.SerializerMethodField()

    class Meta(PersonaSerializer.Meta):
        fields = [*PersonaSerializer.Meta.fields, "spec", "order"]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_spec(self, persona: Persona) -> Any:
        return drafts.load_episode(persona).persona.to_json()

    def get_order(self, persona: Persona) -> list[str]:
        """Ids of the tasks as they run."""
        rows = persona.episode.tasks.filter(position__isnull=False).order_by("position")
        return list(rows.values_list("task_id", flat=True))


class TaskSerializer(serializers.ModelSerializer[Task]):
    persona = serializers.CharField(source="episode.persona.user_id")

    class Meta:
        model = Task
        fields = ["id", "persona", "task_id", "title", "position", "state", "version", "updated_at"]


class TaskDetailSerializer(TaskSerializer):
    spec = serializers.SerializerMethodField()

    class Meta(TaskSerializer.Meta):
        fields = [*TaskSerializer.Meta.fields, "spec"]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_spec(self, task: Task) -> Any:
        return drafts.load_task(task).to_json()


class SaveSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=0, help_text="The version the edit began from.")
    spec = serializers.DictField(help_text="The whole task, as a GET gives it.")
    note = serializers.CharField(required=False, allow_blank=True, max_length=300, default="")


class StepSerializer(serializers.Serializer[Any]):
    action = serializers.ChoiceField(choices=["submit", "withdraw", "approve", "request_changes"])
    version = serializers.IntegerField(required=False, help_text="The version that was read.")
    text = serializers.CharField(required=False, allow_blank=True, default="")
    points = PointsSerializer(required=False, allow_null=True, default=None)


class FindingSerializer(serializers.ModelSerializer[Finding]):
    persona = serializers.CharField(source="task.episode.persona.user_id")
    task = serializers.CharField(source="task.task_id")
    waived = serializers.CharField(
        allow_null=True, read_only=True, help_text="Why it may stay: waived, or an error that an owner set aside."
    )

    class Meta:
        model = Finding
        fields = ["persona", "task", "rule", "severity", "field", "item", "words", "message", "mend", "other", "waived"]


class ImportSerializer(serializers.Serializer[Any]):
    archive = serializers.FileField(help_text="A zip of one persona's folder, or of a data/ folder of several.")
    published = serializers.BooleanField(default=False, help_text="Take the tasks as approved elsewhere.")
    dry_run = serializers.BooleanField(default=False, help_text="Tell what would happen and store nothing.")


class Benchmarks(generics.ListAPIView[Benchmark]):
    """The benchmarks the asking person is a member of."""

    serializer_class = BenchmarkSerializer
    queryset = Benchmark.objects.none()

    def get_queryset(self) -> QuerySet[Benchmark]:
        return access.benchmarks_for(self.request.user).prefetch_related("memberships")


class Personas(generics.ListAPIView[Persona]):
    """A benchmark's personas."""

    serializer_class = PersonaSerializer
    queryset = Persona.objects.none()

    def get_queryset(self) -> QuerySet[Persona]:
        if "slug" not in self.kwargs:
            return Persona.objects.none()
        return access.find_benchmark(self.request.user, self.kwargs["slug"]).personas.order_by("position", "user_id")


class OnePersona(APIView):
    """A persona in full."""

    @extend_schema(responses=PersonaDetailSerializer)
    def get(self, request: Request, slug: str, user_id: str) -> Response:
        return Response(PersonaDetailSerializer(access.find_persona(request.user, slug, user_id)).data)


class Tasks(generics.ListAPIView[Task]):
    """A persona's tasks, in the order they run."""

    serializer_class = TaskSerializer
    queryset = Task.objects.none()

    def get_queryset(self) -> QuerySet[Task]:
        if "slug" not in self.kwargs:
            return Task.objects.none()
        persona = access.find_persona(self.request.user, self.kwargs["slug"], self.kwargs["user_id"])
        return (
            Task.objects.filter(episode__persona=persona)
            .select_related("episode__persona")
            .order_by("position", "task_id")
        )


class OneTask(APIView):
    """A task in full; saving it makes a version."""

    @extend_schema(responses=TaskDetailSerializer)
    def get(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        return Response(TaskDetailSerializer(access.find_task(request.user, slug, user_id, pk)).data)

    @extend_schema(request=SaveSerializer, responses={200: TaskDetailSerializer, 409: OpenApiTypes.OBJECT})
    def put(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        task = access.find_task(request.user, slug, user_id, pk)
        access.require(request.user, task.episode.persona.benchmark, "edit")
        wanted = SaveSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        try:
            spec = TaskSpec.model_validate(wanted.validated_data["spec"])
        except SpecInvalid as problem:
            raise ValidationError({"spec": [_sentence(error) for error in problem.errors()]}) from None
        _refuse_foreign_files(spec, task)
        try:
            drafts.save_task(
                task.pk,
                spec,
                by=request.user,
                note=wanted.validated_data["note"],
                base_version=wanted.validated_data["version"],
            )
        except drafts.StaleDraft as refusal:
            return Response({"detail": str(refusal), "version": refusal.current}, status=status.HTTP_409_CONFLICT)
        except drafts.DraftRefused as refusal:
            raise ValidationError({refusal.field: [str(refusal)]}) from None
        return Response(TaskDetailSerializer(access.find_task(request.user, slug, user_id, pk)).data)


class Steps(APIView):
    """One step on the task's way: submit, withdraw, approve, request_changes."""

    @extend_schema(request=StepSerializer, responses={200: TaskSerializer, 409: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str, user_id: str, pk: int) -> Response:
        task = access.find_task(request.user, slug, user_id, pk)
        wanted = StepSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        action, text = wanted.validated_data["action"], wanted.validated_data["text"]
        version = wanted.validated_data.get("version")
        given = wanted.validated_data["points"]
        points = None if given is None else points_of(given)
        reviewing = action in ("approve", "request_changes")
        access.require(request.user, task.episode.persona.benchmark, "review" if reviewing else "edit")
        user: Any = request.user
        try:
            if action == "submit":
                publishing.submit(pk, by=user, text=text)
            elif action == "withdraw":
                publishing.withdraw(pk, by=user)
            elif action == "approve":
                publishing.approve(pk, by=user, version=version, text=text, points=points)
            else:
                publishing.request_changes(pk, by=user, version=version, text=text, points=points)
        except publishing.PublishingRefused as refusal:
            raise Conflict(str(refusal)) from None
        return Response(TaskSerializer(access.find_task(request.user, slug, user_id, pk)).data)


@extend_schema(parameters=[OpenApiParameter("severity", str, enum=["error", "warning", "hint"])])
class Findings(generics.ListAPIView[Finding]):
    """What the checks say of a benchmark's tasks, errors first; ``waived`` says why one may stay."""

    serializer_class = FindingSerializer
    queryset = Finding.objects.none()

    def get_queryset(self) -> QuerySet[Finding]:
        if "slug" not in self.kwargs:
            return Finding.objects.none()
        benchmark = access.find_benchmark(self.request.user, self.kwargs["slug"])
        severity = self.request.query_params.get("severity", "")
        severity = severity if severity in ("error", "warning", "hint") else ""
        return queries.findings_of(benchmark, severity=severity, everything=True)


class Imports(APIView):
    """Import a zip: the report of ``pibench_import``. With errors nothing is stored."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=ImportSerializer, responses={200: OpenApiTypes.OBJECT, 422: OpenApiTypes.OBJECT})
    def post(self, request: Request, slug: str) -> Response:
        benchmark = access.find_benchmark(request.user, slug)
        access.require(request.user, benchmark, "edit")
        wanted = ImportSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        archive = wanted.validated_data["archive"]
        report = import_archive(
            benchmark,
            archive.read(),
            name=archive.name.removesuffix(".zip"),
            by=request.user,
            published=wanted.validated_data["published"],
            dry_run=wanted.validated_data["dry_run"],
        )
        return Response(report.to_json(), status=200 if report.ok else status.HTTP_422_UNPROCESSABLE_ENTITY)


@login_required
def about(request: HttpRequest) -> HttpResponse:
    """What there is, in words, and where the schema lies."""
    return render(request, "studio/api.html")


def _refuse_foreign_files(spec: TaskSpec, task: Task) -> None:
    """Files are named by their content's hash; one may only name what the task has or had."""
    known = {(file.path, file.sha256) for file in drafts.load_task(task).assets}
    for revision in task.revisions.values_list("spec", flat=True):
        known |= {(file["path"], file["sha256"]) for file in revision.get("assets", ())}
    for file in spec.assets:
        if (file.path, file.sha256) not in known:
            raise ValidationError({"assets": [f"“{file.path}” is not among the task's files: upload it on its page."]})


def _sentence(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {error['msg']}."


urlpatterns = [
    path("", about, name="api"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("benchmarks/", Benchmarks.as_view(), name="api_benchmarks"),
    path("benchmarks/<slug:slug>/personas/", Personas.as_view(), name="api_personas"),
    path("benchmarks/<slug:slug>/personas/<str:user_id>/", OnePersona.as_view(), name="api_persona"),
    path("benchmarks/<slug:slug>/personas/<str:user_id>/tasks/", Tasks.as_view(), name="api_tasks"),
    path("benchmarks/<slug:slug>/personas/<str:user_id>/tasks/<int:pk>/", OneTask.as_view(), name="api_task"),
    path("benchmarks/<slug:slug>/personas/<str:user_id>/tasks/<int:pk>/steps/", Steps.as_view(), name="api_steps"),
    path("benchmarks/<slug:slug>/findings/", Findings.as_view(), name="api_findings"),
    path("benchmarks/<slug:slug>/imports/", Imports.as_view(), name="api_imports"),
    *board_api.urlpatterns,
    *review_api.urlpatterns,
]

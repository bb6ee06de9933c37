"""The API of benchmarks: personas, findings and imports."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.access import ApiRequest
from studio.api.base import ConflictAPIError, given_in, valid_in
from studio.domain.credits import Credits
from studio.drafts.load import load_episode
from studio.findings.queries import findings_of
from studio.imports.importer import DEFER_ABOVE, import_archive
from studio.imports.publication import PublicationError, confirm_publication, decline_publication
from studio.models import ApiToken, Benchmark, Finding, Persona
from studio.models.benchmarks import CREDIT_FIELDS


class BenchmarkSerializer(serializers.ModelSerializer[Benchmark]):
    roles = serializers.SerializerMethodField()

    class Meta:
        model = Benchmark
        fields = [
            "slug",
            "name",
            "description",
            "approvals_needed",
            "review_by_list",
            "validated_releases",
            "created_at",
            "roles",
        ]

    def get_roles(self, benchmark: Benchmark) -> list[str]:
        """The requesting user's roles."""
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
        return load_episode(persona).persona.to_json()

    def get_order(self, persona: Persona) -> list[str]:
        """Task ids in run order."""
        rows = persona.tasks.filter(position__isnull=False).order_by("position")
        return list(rows.values_list("task_id", flat=True))


class FindingSerializer(serializers.ModelSerializer[Finding]):
    persona = serializers.CharField(source="task.persona.user_id")
    task = serializers.CharField(source="task.task_id")
    waived = serializers.CharField(
        allow_null=True,
        read_only=True,
        help_text=("Reason for the dismissal; an error can only be dismissed by an owner."),
    )

    class Meta:
        model = Finding
        fields = [
            "persona",
            "task",
            "rule",
            "severity",
            "field",
            "item",
            "passage",
            "message",
            "fix",
            "other",
            "waived",
        ]


class ImportSerializer(serializers.Serializer[Any]):
    archive = serializers.FileField(help_text="A zip of one persona's folder, or of a data/ folder of several.")
    published = serializers.BooleanField(
        default=False, help_text="Ask another owner to confirm that the tasks were approved elsewhere. Owners only."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Dry run: report what would happen and store nothing.")


class Benchmarks(generics.ListAPIView[Benchmark]):
    """The benchmarks the requesting user is a member of."""

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


class PersonaDetail(APIView):
    """A persona in full."""

    @extend_schema(responses=PersonaDetailSerializer)
    def get(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        return Response(PersonaDetailSerializer(access.find_persona(request.user, slug, user_id)).data)


@extend_schema(parameters=[OpenApiParameter("severity", str, enum=["error", "warning", "hint"])])
class Findings(generics.ListAPIView[Finding]):
    """Findings of a benchmark's tasks, errors first; ``waived`` is the reason for a dismissal."""

    serializer_class = FindingSerializer
    queryset = Finding.objects.none()

    def get_queryset(self) -> QuerySet[Finding]:
        if "slug" not in self.kwargs:
            return Finding.objects.none()
        benchmark = access.find_benchmark(self.request.user, self.kwargs["slug"])
        severity = self.request.query_params.get("severity", "")
        severity = severity if severity in ("error", "warning", "hint") else ""
        return findings_of(benchmark, severity=severity)


class Imports(APIView):
    """Import a zip. The response is the report of ``pibench_import``; with errors nothing is stored. Of more than 500
    changed tasks, ``unchecked`` says how many are stored but checked afterwards: until then, each has the error
    ``not-checked``."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=ImportSerializer, responses={200: OpenApiTypes.OBJECT, 422: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str) -> Response:
        benchmark = access.find_benchmark(request.user, slug)
        access.require(request.user, benchmark, "edit")
        data = valid_in(request, ImportSerializer)
        archive = data.pop("archive")
        name = archive.name.removesuffix(".zip")
        report = import_archive(benchmark, archive.read(), name=name, by=request.user, defer_above=DEFER_ABOVE, **data)
        return Response(report.to_json(), status=200 if report.ok else status.HTTP_422_UNPROCESSABLE_ENTITY)


class PublicationSerializer(serializers.Serializer[Any]):
    decision = serializers.ChoiceField(choices=["confirm", "decline"])


class PublicationAnswerSerializer(serializers.Serializer[Any]):
    approved = serializers.IntegerField(help_text="Tasks that are marked as approved now.")


class PublicationView(APIView):
    """The request to mark the tasks of an import as approved elsewhere."""

    token_scope = ApiToken.Scope.FULL

    @extend_schema(
        request=PublicationSerializer, responses={200: PublicationAnswerSerializer, 409: OpenApiTypes.OBJECT}
    )
    def post(self, request: ApiRequest, slug: str, pk: int) -> Response:
        """Confirm it as another owner, or decline."""
        benchmark = access.find_benchmark(request.user, slug)
        access.require(request.user, benchmark, "manage")
        row = get_object_or_404(benchmark.imports.defer("upload"), pk=pk)
        data = valid_in(request, PublicationSerializer)
        approved = 0
        try:
            if data["decision"] == "confirm":
                approved = confirm_publication(row.pk, by=request.user)
            else:
                decline_publication(row.pk, by=request.user)
        except PublicationError as error:
            raise ConflictAPIError(str(error)) from None
        return Response({"approved": approved})


class CreditsView(APIView):
    """Licence, contributors, contact, files from elsewhere, and the makers' own words in a pack."""

    token_scope = ApiToken.Scope.FULL

    @extend_schema(responses=Credits)
    def get(self, request: ApiRequest, slug: str) -> Response:
        return Response(access.find_benchmark(request.user, slug).credits.model_dump(mode="json"))

    @extend_schema(request=Credits, responses=Credits)
    def put(self, request: ApiRequest, slug: str) -> Response:
        """Replace them; what is left out is emptied."""
        benchmark = access.find_benchmark(request.user, slug)
        access.require(request.user, benchmark, "manage")
        benchmark.set_credits(given_in(request, Credits))
        benchmark.save(update_fields=CREDIT_FIELDS)
        return Response(benchmark.credits.model_dump(mode="json"))


urlpatterns = [
    path("benchmarks/", Benchmarks.as_view(), name="api_benchmarks"),
    path("benchmarks/<slug:slug>/personas/", Personas.as_view(), name="api_personas"),
    path("benchmarks/<slug:slug>/personas/<str:user_id>/", PersonaDetail.as_view(), name="api_persona"),
    path("benchmarks/<slug:slug>/findings/", Findings.as_view(), name="api_findings"),
    path("benchmarks/<slug:slug>/credits/", CreditsView.as_view(), name="api_credits"),
    path("benchmarks/<slug:slug>/imports/", Imports.as_view(), name="api_imports"),
    path("benchmarks/<slug:slug>/imports/<int:pk>/publication/", PublicationView.as_view(), name="api_publication"),
]

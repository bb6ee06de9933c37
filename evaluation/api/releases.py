"""The API on releases."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.response import Response

from evaluation import visibility
from evaluation.api.filters import BENCHMARK, of_benchmark
from evaluation.models import Release
from evaluation.releases.cut import ReleaseBlockedError, ReleaseError, cut_release
from studio.access import ApiRequest, find_benchmark, require

ZIP = (200, "application/zip")


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    benchmark: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
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
class ReleaseViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Release]):
    """A frozen pack of tasks."""

    serializer_class = ReleaseSerializer
    queryset = Release.objects.none()

    def get_queryset(self) -> Any:
        return of_benchmark(visibility.visible_releases(self.request.user), self.request)

    @extend_schema(
        request=NewReleaseSerializer,
        responses={
            201: ReleaseSerializer,
            409: OpenApiResponse(
                OpenApiTypes.OBJECT, ("``blocked_by``: what blocks the release, smallest groups first.")
            ),
        },
    )
    def create(self, request: ApiRequest) -> Response:
        """Cut a release of the benchmark as it is now."""
        wanted = NewReleaseSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        data = wanted.validated_data
        benchmark = find_benchmark(request.user, data["benchmark"])
        require(request.user, benchmark, "release")
        try:
            made = cut_release(benchmark, data["version"], by=request.user, accept=data["accept"])
        except ReleaseError as refused:
            raise ValidationError({"version": [str(refused)]}) from refused
        except ReleaseBlockedError as blocked:
            problems = [one.to_json() for one in blocked.blockers]
            return Response({"blocked_by": problems}, status=status.HTTP_409_CONFLICT)
        row = self.get_queryset().get(pk=made.pk)
        return Response(ReleaseSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={ZIP: OpenApiTypes.BINARY})
    @action(detail=True)
    def download(self, request: ApiRequest, pk: str) -> HttpResponse:
        """The archive, to the byte."""
        row = self.get_object()
        response = HttpResponse(bytes(row.blob.content), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{row.benchmark.slug}-{row.version}.zip"'
        response["X-Content-Type-Options"] = "nosniff"
        return response

"""The API of releases."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import FileResponse, HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, extend_schema_view
from pydantic import Field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.api.base import BENCHMARK, filter_by_benchmark
from evaluation.audits.blindness import find_release, open_pilots, open_releases, record_look, require_judges_open
from evaluation.models import Erratum, Release, ReleaseException
from evaluation.releases.blocker_kinds import open_blockers, readiness_of
from evaluation.releases.comparison import changes_since
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from evaluation.releases.download import archive_response, find_held_out, site_response, statement_response
from evaluation.releases.elsewhere import accept_elsewhere
from evaluation.releases.errata import ErratumOptions, publish_erratum
from evaluation.releases.exceptions import EVIDENCE, ExceptionOptions, accept_blockers, withdraw_exception
from evaluation.releases.pins import earlier_releases
from evaluation.releases.readiness import ReleaseLimits, limits_of, set_limits
from evaluation.releases.site import pilots_of
from studio.access import ApiRequest, find_benchmark
from studio.api.base import KEY, given_in, named_in
from studio.domain.options import Options, OptionsError
from studio.models import ApiToken, Benchmark

ZIP = (200, "application/zip")


class ErratumSerializer(serializers.ModelSerializer[Erratum]):
    class Meta:
        model = Erratum
        fields = ["number", "text", "tasks", "effect", "published", "statement"]
        read_only_fields = fields


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    benchmark: serializers.SlugRelatedField[Any] = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    tasks = serializers.IntegerField(source="task_count", read_only=True)
    exceptions = serializers.JSONField(read_only=True)
    errata = ErratumSerializer(many=True, read_only=True)
    splits = serializers.JSONField(source="manifest.splits", default=dict, read_only=True)
    signed_by = serializers.CharField(source="key.fingerprint", default=None, allow_null=True, read_only=True)

    class Meta:
        model = Release
        fields = [
            *("id", "benchmark", "version", "sha256", "signed_by", "tasks", "splits", "exceptions", "errata"),
            "created_at",
        ]
        read_only_fields = fields


class AcceptElsewhere(Options):
    benchmark: str
    """Its slug."""
    tasks: list[Annotated[int, Field(ge=1, le=2**63 - 1)]] | None = None
    """Ids; left out, all that wait for it."""


class AcceptedElsewhereSerializer(serializers.Serializer[Any]):
    accepted = serializers.IntegerField()


class NewRelease(ReleaseOptions):
    benchmark: str
    """Its slug."""


@extend_schema_view(list=extend_schema(parameters=[BENCHMARK]))
class ReleaseViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Release]):
    """A frozen pack of tasks."""

    token_scope = ApiToken.Scope.FULL
    serializer_class = ReleaseSerializer
    lookup_value_regex = KEY
    queryset = Release.objects.none()

    def get_queryset(self) -> Any:
        return filter_by_benchmark(open_releases(self.request.user).prefetch_related("errata"), self.request)

    def get_object(self) -> Release:
        return find_release(self.request.user, self.kwargs["pk"])

    @extend_schema(
        request=NewRelease,
        responses={
            201: ReleaseSerializer,
            409: OpenApiResponse(
                OpenApiTypes.OBJECT, ("``blocked_by``: what blocks the release, smallest groups first.")
            ),
        },
    )
    def create(self, request: ApiRequest) -> Response:
        """Cut a release of the benchmark as it is now."""
        benchmark = find_benchmark(request.user, named_in(request, "benchmark"), "release")
        options = given_in(request, NewRelease)
        try:
            release = cut_release(benchmark, options, by=request.user)
        except ReleaseBlockedError as blocked:
            problems = [blocker.to_json() for blocker in blocked.blockers]
            return Response({"blocked_by": problems}, status=status.HTTP_409_CONFLICT)
        row = self.get_queryset().get(pk=release.pk)
        return Response(ReleaseSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=AcceptElsewhere,
        responses={200: AcceptedElsewhereSerializer, 409: OpenApiTypes.OBJECT},
    )
    @action(detail=False, methods=["post"], url_path="accept-elsewhere")
    def accept_elsewhere(self, request: ApiRequest) -> Response:
        """Accept, under your name, that tasks were approved elsewhere; they no longer block a release."""
        benchmark = find_benchmark(request.user, named_in(request, "benchmark"), "release")
        wanted = given_in(request, AcceptElsewhere)
        accepted = accept_elsewhere(benchmark, wanted.tasks, by=request.user)
        return Response({"accepted": accepted})

    @extend_schema(request=ErratumOptions, responses={201: ErratumSerializer})
    @action(detail=True, methods=["post"])
    def errata(self, request: ApiRequest, pk: str) -> Response:
        """Publish a mistake of the release, signed by the benchmark's key. It cannot be taken back."""
        release = find_release(request.user, pk, "release")
        erratum = publish_erratum(release, given_in(request, ErratumOptions), by=request.user)
        return Response(ErratumSerializer(erratum).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={ZIP: OpenApiTypes.BINARY})
    @action(detail=True)
    def download(self, request: ApiRequest, pk: str) -> FileResponse:
        """The archive, to the byte."""
        return archive_response(find_release(request.user, pk))

    @extend_schema(
        parameters=[OpenApiParameter("since", OpenApiTypes.STR, required=True, description="The earlier version.")],
        responses={200: OpenApiTypes.OBJECT, 400: OpenApiTypes.OBJECT},
    )
    @action(detail=True)
    def changes(self, request: ApiRequest, pk: str) -> Response:
        """Its tasks by what they mean for comparing scores with an earlier release."""
        release = find_release(request.user, pk)
        version = request.query_params.get("since", "")
        if (since := earlier_releases(release).defer("manifest").filter(version=version).first()) is None:
            raise OptionsError("since", f"There is no earlier release “{version}”.")
        found = changes_since(release, since)
        return Response({"since": version, "tasks": found.tasks, "means": found.comparable})

    @extend_schema(responses={ZIP: OpenApiTypes.BINARY})
    @action(detail=True, url_path="held-out")
    def held_out(self, request: ApiRequest, pk: str) -> FileResponse:
        """The archive of its held-out tasks, for owners of the benchmark; 404 if it has none."""
        return archive_response(find_held_out(request.user, pk))

    @extend_schema(responses={ZIP: OpenApiTypes.BINARY})
    @action(detail=True)
    def site(self, request: ApiRequest, pk: str) -> HttpResponse:
        """Static pages for any web host, with the results that are evidence for the release or were submitted to it."""
        release = find_release(request.user, pk)
        pilots = pilots_of(release, open_pilots(request.user))
        record_look(request.user, pilots)
        return site_response(release, pilots)

    @extend_schema(responses={200: OpenApiTypes.OBJECT, 404: OpenApiResponse(description="It is not signed.")})
    @action(detail=True)
    def statement(self, request: ApiRequest, pk: str) -> HttpResponse:
        """An in-toto statement of the archive, signed, as a DSSE envelope."""
        return statement_response(find_release(request.user, pk))


class ExceptionSerializer(serializers.ModelSerializer[ReleaseException]):
    by = serializers.StringRelatedField[Any]()
    lets_pass = serializers.SerializerMethodField()

    class Meta:
        model = ReleaseException
        fields = ["id", "rule", "persona", "covers", "reason", "by", "created_at", "lets_pass"]
        read_only_fields = fields

    def get_lets_pass(self, row: ReleaseException) -> int:
        """Blockers; 0: it no longer applies."""
        return sum(each.by.pk == row.pk for each in self.context["accepted"])


class ReleaseExceptionsView(APIView):
    """What somebody lets pass, until they withdraw it."""

    token_scope = ApiToken.Scope.FULL

    @extend_schema(responses=ExceptionSerializer(many=True))
    def get(self, request: ApiRequest, slug: str) -> Response:
        benchmark = find_benchmark(request.user, slug, "release")
        require_judges_open(request.user, benchmark, EVIDENCE)
        return Response(self._rows(benchmark))

    @extend_schema(request=ExceptionOptions, responses={201: ExceptionSerializer})
    def post(self, request: ApiRequest, slug: str) -> Response:
        """Let what blocks a release pass, under your name."""
        benchmark = find_benchmark(request.user, slug, "release")
        wanted = given_in(request, ExceptionOptions)
        row = accept_blockers(benchmark, open_blockers(benchmark), wanted, by=request.user)
        [made] = [each for each in self._rows(benchmark) if each["id"] == row.pk]
        return Response(made, status=status.HTTP_201_CREATED)

    def _rows(self, benchmark: Benchmark) -> list[Any]:
        found = readiness_of(benchmark)
        return list(ExceptionSerializer(found.exceptions, many=True, context={"accepted": found.accepted}).data)


class ReleaseExceptionView(APIView):
    token_scope = ApiToken.Scope.FULL

    @extend_schema(responses={204: None})
    def delete(self, request: ApiRequest, slug: str, pk: int) -> Response:
        """Withdraw it: what it let pass blocks a release again."""
        benchmark = find_benchmark(request.user, slug, "release")
        withdraw_exception(get_object_or_404(ReleaseException, benchmark=benchmark, pk=pk), by=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReleaseLimitsView(APIView):
    """What audits and validations have to show before a release."""

    token_scope = ApiToken.Scope.FULL

    @extend_schema(responses=ReleaseLimits)
    def get(self, request: ApiRequest, slug: str) -> Response:
        return Response(limits_of(find_benchmark(request.user, slug)).model_dump())

    @extend_schema(request=ReleaseLimits, responses=ReleaseLimits)
    def put(self, request: ApiRequest, slug: str) -> Response:
        """Replace them; what is left out is as usual."""
        benchmark = find_benchmark(request.user, slug, "manage")
        limits = given_in(request, ReleaseLimits)
        set_limits(benchmark, limits, by=request.user)
        return Response(limits.model_dump())

"""The API of results that were played elsewhere."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.submissions.submit import submit
from studio.access import ApiRequest
from studio.api.base import valid_in


class BundleSerializer(serializers.Serializer[Any]):
    bundle = serializers.FileField(help_text="As “pibench bundle” writes it.")


class SubmittedPilotSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    benchmark = serializers.CharField()
    release = serializers.CharField(help_text="Its version.")
    is_new = serializers.BooleanField(help_text="Whether it was not here before.")
    page = serializers.CharField(help_text="Its address.")


class SubmissionsView(APIView):
    """Results of a release, played elsewhere. They become a pilot that is marked as submitted by you; scores follow
    from the decisions that came with them. The hash of the pack says of which release they are."""

    parser_classes = [MultiPartParser]

    @extend_schema(request=BundleSerializer, responses={200: SubmittedPilotSerializer, 201: SubmittedPilotSerializer})
    def post(self, request: ApiRequest) -> Response:
        """Hand in a bundle. The same one twice is answered with the pilot that it made."""
        submitted = submit(valid_in(request, BundleSerializer)["bundle"].read(), by=request.user)
        pilot, release = submitted.submission.pilot, submitted.submission.release
        document = {
            "id": pilot.pk,
            "number": pilot.number,
            "benchmark": release.benchmark.slug,
            "release": release.version,
            "is_new": submitted.is_new,
            "page": request.build_absolute_uri(pilot.get_absolute_url()),
        }
        return Response(document, status.HTTP_201_CREATED if submitted.is_new else status.HTTP_200_OK)

"""The API of whether tasks can be done, of validation, and of probing what was not probed yet."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.models import Validation
from evaluation.probes.cost import told_before
from evaluation.probes.standing import standings
from evaluation.probes.validation import ValidationOptions, start_validation
from evaluation.trials.outlook import outlook
from studio import access
from studio.access import ApiRequest
from studio.api.base import given_in
from studio.domain.base import JsonDict
from studio.models import ApiToken, Benchmark


class ProspectsView(APIView):
    @extend_schema(responses={200: OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py can_be_done --json``.")})
    def get(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        """Sign in and make plausible calls as each placed task says; nothing is stored."""
        persona = access.find_persona(request.user, slug, user_id)
        return Response({"tasks": [prospect.document() for prospect in outlook(persona)]})


DOCUMENT = OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py probe --json``.")


class ValidationView(APIView):
    token_scope = ApiToken.Scope.FULL  # a validation may cost money

    @extend_schema(responses={200: DOCUMENT})
    def get(self, request: ApiRequest, slug: str) -> Response:
        """The last validation, what is left with its likely cost, and of each placed task what its probes earned."""
        return Response(_document(access.find_benchmark(request.user, slug)))

    @extend_schema(request=ValidationOptions, responses={201: DOCUMENT, 400: OpenApiTypes.OBJECT})
    def post(self, request: ApiRequest, slug: str) -> Response:
        """Probe what was not probed before with the same content, in the background."""
        benchmark = access.find_benchmark(request.user, slug, "pilot")
        start_validation(benchmark, given_in(request, ValidationOptions), by=request.user)
        return Response(_document(benchmark), status=status.HTTP_201_CREATED)


def _document(benchmark: Benchmark) -> JsonDict:
    last = Validation.objects.filter(benchmark=benchmark).first()
    return {
        "validation": last and last.to_json(),
        "left": told_before(benchmark, ValidationOptions()),
        "tasks": [each.to_json() for each in standings(benchmark)],
    }

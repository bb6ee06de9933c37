"""The API of a benchmark's licence, contributors and what its packs say."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from studio import access
from studio.access import ApiRequest
from studio.api.base import given_in
from studio.domain.credits import Credits
from studio.models import ApiToken
from studio.models.benchmarks import CREDIT_FIELDS


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

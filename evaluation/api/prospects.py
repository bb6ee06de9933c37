"""The API of whether tasks can be done."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluation.trials.outlook import outlook
from studio import access
from studio.access import ApiRequest


class ProspectsView(APIView):
    @extend_schema(responses={200: OpenApiResponse(OpenApiTypes.OBJECT, "As ``manage.py can_be_done --json``.")})
    def get(self, request: ApiRequest, slug: str, user_id: str) -> Response:
        """Sign in and make plausible calls as each placed task says; nothing is stored."""
        persona = access.find_persona(request.user, slug, user_id)
        return Response({"tasks": [prospect.document() for prospect in outlook(persona)]})

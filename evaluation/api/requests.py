"""What the API's actions on a pilot have in common."""

from __future__ import annotations

from typing import Any

from rest_framework.serializers import Serializer

from evaluation.audits.blindness import find_pilot
from evaluation.models import Pilot
from studio.access import ApiRequest, require


def pilot_to_control(request: ApiRequest, pk: str) -> Pilot:
    """Raises Http404 and PermissionDenied."""
    pilot = find_pilot(request.user, pk)
    require(request.user, pilot.benchmark, "pilot")
    return pilot


def pilot_and_data(request: ApiRequest, pk: str, serializer: type[Serializer[Any]]) -> tuple[Pilot, dict[str, Any]]:
    """A pilot that the user may start and control, and the validated request. Raises Http404, PermissionDenied and
    ValidationError."""
    pilot = pilot_to_control(request, pk)
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return pilot, dict(given.validated_data)

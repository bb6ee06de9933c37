"""What the API's actions on a pilot have in common."""

from __future__ import annotations

from evaluation.audits.blindness import find_pilot
from evaluation.models import Pilot
from studio.access import ApiRequest, require
from studio.api.base import Given, given_in


def pilot_and_options(request: ApiRequest, pk: str, of: type[Given]) -> tuple[Pilot, Given]:
    """A pilot that the user may start and control, and the request's body. Raises Http404, PermissionDenied and
    OptionsError."""
    pilot = find_pilot(request.user, pk)
    require(request.user, pilot.benchmark, "pilot")
    return pilot, given_in(request, of)

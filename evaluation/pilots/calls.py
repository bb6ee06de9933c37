"""Model calls of a pilot that are under way."""

from __future__ import annotations

from evaluation.call_records import calls_in_flight
from evaluation.models import Pilot
from evaluation.models.pilots import ROLES

NAMES = {"agent": "agent", "user_model": "user model", "judge": "judge"}


def calls_by_role(pilot: Pilot) -> list[tuple[str, int]]:
    """Without those of none. An endpoint that serves several roles is named once, for the first."""
    endpoints = {(pilot.endpoint(role).base_url, pilot.endpoint(role).model): role for role in reversed(ROLES)}
    counted = [(NAMES[role], calls_in_flight(pilot, role)) for role in endpoints.values()]
    return [(name, number) for name, number in counted if number]

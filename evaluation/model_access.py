"""What calls to models need of the studio: its settings, slots shared by workers, and what was learned of a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.conf import settings

from evaluation.llm import Endpoint, Lane, Learned, Policy
from evaluation.llm.dialects import origin_of
from evaluation.models import ModelEndpoint
from evaluation.shared_slots import slots

_learned: dict[tuple[int, int, str], Learned] = {}
"""By process, row, and the model that it was when something was learned."""


def policy() -> Policy:
    rows = (entry.strip().partition("@") for entry in settings.OWNER_KEYS)
    return Policy(
        networks=tuple(settings.MODEL_NETWORKS),
        hosts=tuple(entry.strip() for entry in settings.MODEL_ADDRESSES),
        owner_keys=tuple((variable, host.casefold()) for variable, _, host in rows if host),
        scripted_url=settings.SCRIPTED_MODEL_URL,
    )


def endpoint_of(row: ModelEndpoint) -> Endpoint:
    """Raises ValueError."""
    return Endpoint.of(row, policy(), _learned_of(row))


def lane_of(group: str) -> Lane:
    return Lane(slots(), group)


def calls_in_flight(endpoint: Endpoint, group: str) -> int:
    """Over all workers."""
    return slots().in_flight(endpoint.place, group)


def _learned_of(row: ModelEndpoint) -> Learned:
    """What was learned of another model that the row once was counts for nothing."""
    if row.pk is None:
        return Learned()
    origin = origin_of(row.base_url, row.model)
    key = (os.getpid(), row.pk, origin)
    if key not in _learned:
        known = row.learned if row.learned.get("of") == origin else {}
        _learned[key] = Learned(known, partial(_store, row.pk, row.base_url, row.model))
    return _learned[key]


def _store(pk: int, base_url: str, model: str, facts: Mapping[str, Any]) -> None:
    """Unless the row is another model by now."""
    same = ModelEndpoint.objects.filter(pk=pk, base_url=base_url, model=model)
    same.update(learned={**facts, "of": origin_of(base_url, model)})

"""What calls to models need of the studio: its settings, slots shared by workers, and what was learned of a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.conf import settings

from evaluation.llm import Endpoint, EndpointLimits, Lane, Learned, Policy
from evaluation.llm.dialects import origin_of
from evaluation.llm.endpoint import SCRIPTED
from evaluation.models import ModelEndpoint
from evaluation.shared_slots import slots
from studio.models.transactions import atomic_with_retry

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
    return Endpoint(
        name=row.name,
        base_url=row.base_url,
        model=row.model,
        key_env=row.key_env,
        sealed_key=row.sealed_key,
        benchmark=row.benchmark_id,
        params=dict(row.params),
        prices=row.prices,
        api=row.api,
        dialect=row.dialect,
        effort=row.effort,
        limits=EndpointLimits(row.timeout_seconds, row.max_concurrency),
        scripted=row.scripted or row.base_url == SCRIPTED,
        policy=policy(),
        learned=_learned_of(row),
    )


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
        model = row.pk, row.base_url, row.model
        _learned[key] = Learned(on_change=partial(_store, *model), elsewhere=partial(_read, *model))
    _learned[key].add(_of(origin, row.learned))
    return _learned[key]


def _of(origin: str, known: Mapping[str, Any]) -> Mapping[str, Any]:
    return known if known.get("of") == origin else {}


def _read(pk: int, base_url: str, model: str) -> Mapping[str, Any]:
    known = ModelEndpoint.objects.filter(pk=pk).values_list("learned", flat=True).first()
    return _of(origin_of(base_url, model), known or {})


@atomic_with_retry
def _store(pk: int, base_url: str, model: str, facts: Mapping[str, Any]) -> None:
    """With what other workers learned; unless the row is another model by now."""
    origin = origin_of(base_url, model)
    same = ModelEndpoint.objects.select_for_update(no_key=True).filter(pk=pk, base_url=base_url, model=model)
    for row in same:
        learned = Learned(_of(origin, row.learned))
        learned.add(facts)
        row.learned = {**learned.facts, "of": origin}
        row.save(update_fields=["learned"])

"""Frozen tasks and personas, parsed once per process: a pilot runs the same ones many times."""

from __future__ import annotations

from functools import lru_cache

from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import PersonaRevision, Revision

KEPT = 256


@lru_cache(KEPT)
def task_of(revision_id: int) -> TaskSpec:
    return TaskSpec.model_validate(Revision.objects.values_list("spec", flat=True).get(pk=revision_id))


@lru_cache(KEPT)
def persona_of(revision_id: int) -> PersonaSpec:
    return PersonaSpec.model_validate(PersonaRevision.objects.values_list("spec", flat=True).get(pk=revision_id))

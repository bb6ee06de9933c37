"""What a benchmark asks of its audits and validations before a release."""

from __future__ import annotations

from pydantic import Field

from evaluation.feasibility.kinds import ALONE, BUILT_ON, IDLE, TOLD
from studio.domain.options import Options
from studio.models import Benchmark, Event, User
from studio.models.transactions import atomic_with_retry


class ReleaseLimits(Options):
    audited_decisions: int = Field(default=10, ge=0, le=1_000_000, title="Decisions that people have resolved")
    """At least so many: given what judges were shown, and again in truth."""
    disagreement: float = Field(default=0.1, ge=0, le=1, title="Decisions that people disagree with")
    """At most this share, from 0 to 1. The paper reports 0.027 for checklists and 0.015 for intents (Table 6)."""
    not_shown: float = Field(default=0.05, ge=0, le=1, title="Questions for which judges were shown too little")
    """At most this share of those that people decided."""
    probe_told: float = Field(default=TOLD.usual, ge=0, le=1, title=TOLD.label)
    """A share of the checklist’s weight, from 0 to 1, like the next three."""
    probe_built_on: float = Field(default=BUILT_ON.usual, ge=0, le=1, title=BUILT_ON.label)
    probe_alone: float = Field(default=ALONE.usual, ge=0, le=1, title=ALONE.label)
    probe_idle: float = Field(default=IDLE.usual, ge=0, le=1, title=IDLE.label)


def limits_of(benchmark: Benchmark) -> ReleaseLimits:
    return ReleaseLimits.read(benchmark.release_limits)


@atomic_with_retry
def set_limits(benchmark: Benchmark, limits: ReleaseLimits, *, by: User) -> None:
    """Only those that are not as usual are stored."""
    row = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    before, after = limits_of(row).model_dump(), limits.model_dump()
    changed = [
        f"{ReleaseLimits.model_fields[name].title}: {before[name]:g} → {after[name]:g}"
        for name in after
        if before[name] != after[name]
    ]
    if changed:
        row.release_limits = limits.model_dump(exclude_defaults=True)
        row.save(update_fields=["release_limits"])
        Event.objects.create(
            benchmark=row, actor=by, verb="limits_changed", summary=f"{'; '.join(changed)}.", data={"limits": after}
        )

"""Finished pilots with given outcomes."""

from __future__ import annotations

from itertools import product

from django.utils import timezone

from evaluation.models import Pilot, Session
from evaluation.protocol.scoring import ScoringMode
from studio.models import Benchmark
from tests.evaluation.builders import pilot_of
from tests.evaluation.factories import resolve_intent, verdict


def tried(benchmark: Benchmark, agent: str, covered: dict[str, int], met: int, **options: object) -> Pilot:
    """A finished pilot; intents covered by task, and the number of its two criteria that are met."""
    pilot = pilot_of(benchmark, agent, **options)
    now = timezone.now()
    for session in Session.objects.filter(run__pilot=pilot).select_related("revision", "run"):
        name, items = session.revision.spec["task_id"], session.revision.spec["checklist"]
        for mode, (index, item) in product(ScoringMode, enumerate(items, start=1)):
            verdict(session, scoring=mode.value, index=index, met=index <= met, label=item["criterion"])
        alone = f"{name} alone" if session.run.arm == "without" else name
        for index in range(1, 3):
            resolve_intent(session, index, "completed" if index <= covered[alone] else "provided", 1)
        Session.objects.filter(pk=session.pk).update(
            state="finished", ended_at=now, graded_strict_at=now, graded_compat_at=now, turn_count=2
        )
    Pilot.objects.filter(pk=pilot.pk).update(state="finished", finished_at=now)
    pilot.refresh_from_db()
    return pilot

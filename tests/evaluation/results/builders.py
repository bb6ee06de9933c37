"""Finished pilots with given outcomes."""

from __future__ import annotations

from django.db import connection
from django.utils import timezone

from evaluation.judging.judgings import open_judging
from evaluation.models import Pilot, Session, SessionIntent, Verdict
from evaluation.protocol.scoring import ScoringMode
from studio.models import Benchmark
from tests.evaluation.builders import pilot_of
from tests.evaluation.factories import a_verdict, an_intent


def tried(benchmark: Benchmark, agent: str, covered: dict[str, int], met: int, **options: object) -> Pilot:
    """A finished pilot; intents covered by task, and the number of its two criteria that are met."""
    pilot = pilot_of(benchmark, agent, **options)
    now = timezone.now()
    sessions = list(Session.objects.filter(run__pilot=pilot).select_related("revision", "run"))
    verdicts, intents = [], []
    for session in sessions:
        name, items = session.revision.spec["task_id"], session.revision.spec["checklist"]
        for mode in ScoringMode if items else ():
            judging = open_judging(session, mode.value)
            verdicts += [
                a_verdict(judging, index=index, met=index <= met, label="", uid=item["uid"])
                for index, item in enumerate(items, start=1)
            ]
        alone = f"{name} alone" if session.run.arm == "without" else name
        intents += [
            an_intent(session, index, "completed" if index <= covered[alone] else "provided", 1) for index in (1, 2)
        ]
    Verdict.objects.bulk_create(verdicts)
    SessionIntent.objects.bulk_create(intents)
    Session.objects.filter(run__pilot=pilot).update(
        state="finished", ended_at=now, graded_strict_at=now, graded_compat_at=now, turn_count=2
    )
    Pilot.objects.filter(pk=pilot.pk).update(state="finished", finished_at=now)
    pilot.refresh_from_db()
    return pilot


def kept() -> set[str]:
    """Keys of the results that no process computes again."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT cache_key FROM evaluation_computed")
        return {key for (key,) in cursor.fetchall()}

"""Rows that are written in single statements are as Django would have written them."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluation.models import Run, Session
from evaluation.models.inserts import insert_alike
from tests.evaluation.builders import benchmark_of, pilot_of, task

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("number", [0, 1, 3])
def test_rows_inserted_together_are_as_django_inserts_them(number: int):
    pilot = pilot_of(benchmark_of(task("a")))
    one = Session.objects.select_related("run").get()
    runs = Run.objects.bulk_create(
        Run(pilot=pilot, persona_revision=one.run.persona_revision, number=at) for at in range(2, 2 + 2 * number)
    )

    def rows(chosen: list[Run]) -> list[Session]:
        return [
            Session(
                run=run,
                revision=one.revision,
                position=at,
                intent_count=None,
                lease_until=timezone.now() if at % 2 else None,
                tokens={"agent": at},
                closing=[{"title": "b \\ \N{SNOWMAN}", "text": "a"}],
                cost="0.25",
            )
            for at, run in enumerate(chosen)
        ]

    insert_alike(rows(runs[:number]))
    Session.objects.bulk_create(rows(runs[number:]))

    left, right = (
        [
            {key: value for key, value in row.items() if key not in ("id", "run_id", "lease_until")}
            | {"leased": row["lease_until"] is not None}
            for row in Session.objects.filter(run__in=chosen).order_by("run").values()
        ]
        for chosen in (runs[:number], runs[number:])
    )
    assert left == right
    assert len(left) == number


def test_starting_a_pilot_takes_as_many_queries_for_one_run_as_for_twenty():
    benchmark = benchmark_of(task("a"), task("b"))
    pilot_of(benchmark)  # makes the agent

    def queries(runs: int) -> int:
        with CaptureQueriesContext(connection) as captured:
            pilot_of(benchmark, runs=runs)
        return len(captured)

    assert queries(20) == queries(1)
    assert Session.objects.count() == 44

"""Pilots and audits for tests of the pages that need them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from evaluation.models import Pilot
from evaluation.pilots.queue import leasable
from evaluation.pilots.session_work import work_on
from evaluation.pilots.start import PilotOptions, start_pilot
from studio.models import Benchmark


def work(pilot: Pilot | None, steps: int = 100) -> None:
    """Work on sessions, or on rehearsals, as a worker would, in another thread than the browser's."""

    def run() -> None:
        try:
            for _ in range(steps):
                due = leasable().filter(run__pilot=pilot).order_by("run", "position").first()
                if due is None or not work_on(due.pk):
                    return
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(run).result(timeout=60)


def a_finished_pilot(benchmark: Benchmark, *tasks: str) -> Pilot:
    options = PilotOptions(agent="scripted-helpful", persona="radio_producer", tasks=list(tasks))
    pilot = start_pilot(benchmark, options, by=benchmark.created_by)
    work(pilot)
    pilot.refresh_from_db()
    assert pilot.state == Pilot.State.FINISHED
    return pilot

"""How long starting a pilot of 2,000 sessions takes.

    .venv/bin/python -m tests.bench.pilot_start [--profile]

Twenty runs each of 100 personas with one task, and of 5 personas with 20 tasks: as many sessions, but 2,000 and 100
chains. Without workers; the broker is in memory.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from typing import Any

RUNS = 20
SHAPES = ((100, 1), (5, 20))
TIMES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-start-") as data:
        os.environ |= {"STUDIO_DATA_DIR": data, "DJANGO_SETTINGS_MODULE": "studio.settings"}
        from studio.local import shared_server
        from studio.local.services import ensure_database

        ensure_database(throwaway=True)
        os.environ["CELERY_BROKER_URL"] = "memory://"
        import django

        django.setup()
        try:
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            for personas, tasks in SHAPES:
                _measure(personas, tasks, profiled=options.profile)
        finally:
            from django.db import connections

            connections.close_all()
            shared_server.release_all()


def _measure(personas: int, tasks: int, *, profiled: bool) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from evaluation.models import Session
    from evaluation.pilots.start import PilotOptions, start_pilot

    benchmark = _benchmark(personas, tasks)
    options = PilotOptions(agent="scripted-helpful", user_model="scripted-helpful", judge="scripted-helpful", runs=RUNS)
    times, processor = [], []
    for _ in range(TIMES):
        before = time.monotonic(), time.process_time()
        pilot = start_pilot(benchmark, options, by=None)
        times.append(time.monotonic() - before[0])
        processor.append(time.process_time() - before[1])
    with CaptureQueriesContext(connection) as queries, cProfile.Profile() as profile:
        start_pilot(benchmark, options, by=None)
    sessions = Session.objects.filter(run__pilot=pilot).count()
    shown = f"{min(times):.2f} s, of it processor {min(processor):.2f} s; {len(queries)} queries"
    print(f"{personas} personas of {tasks} tasks, {RUNS} runs, {sessions} sessions: {shown}")
    if profiled:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


def _benchmark(personas: int, tasks: int) -> Any:
    from studio.domain.persona import PersonaSpec
    from studio.domain.task import HiddenIntent, TaskSpec
    from studio.models import Benchmark
    from studio.personas.create import create_persona
    from studio.tasks.create import create_task

    benchmark = Benchmark.objects.create(slug=f"start-{personas}", name="start")
    for number in range(personas):
        row = create_persona(benchmark, PersonaSpec(user_id=f"p{number}"), by=None)
        for place in range(tasks):
            hidden = tuple(
                HiddenIntent(uid=f"00000000-0000-0000-0000-{n:012d}", content=f"Point {n} must be covered.")
                for n in range(4)
            )
            spec = TaskSpec(task_id=f"t{number}-{place}", initial_request="Please begin.", intents=hidden)
            create_task(row, spec, by=None)
    return benchmark


if __name__ == "__main__":
    main()

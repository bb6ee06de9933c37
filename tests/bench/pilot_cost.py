"""Cost of a pilot with the scripted model: queries, milliseconds and tokens of a session.

    .venv/bin/python -m tests.bench.pilot_cost FOLDER [--runs 3]

FOLDER is one persona in the format of π-Bench. Everything is stored in a temporary database. The scripted model
answers in this process, so its time counts too.

Measured on two cores, law_trainee with ``scripted-helpful``: 20 sessions, 82 turns and 434 model calls in 5 s; a
session 240 ms (180 ms of our CPU), 134 queries; tokens agent 75 k, user 7 k, judge 11 k for each way of scoring.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--agent", default="scripted-helpful")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="pilot-cost-") as data:
        os.environ["STUDIO_DATA_DIR"] = data
        os.environ["DJANGO_SETTINGS_MODULE"] = "studio.settings"
        from studio.local import shared_server
        from studio.local.services import ensure_database

        ensure_database(throwaway=True)
        os.environ["CELERY_BROKER_URL"] = "memory://"
        import django

        django.setup()
        try:
            _measure(options)
        finally:
            from django.db import connections

            connections.close_all()
            shared_server.release_all()


def _measure(options: argparse.Namespace) -> None:
    from django.core.management import call_command
    from django.db import connection

    from evaluation.models import ModelCall, Session, Turn, Verdict
    from evaluation.pilots.session_work import work_on
    from evaluation.pilots.start import PilotOptions, start_pilot
    from evaluation.results.pilot_report import pilot_report
    from studio.imports.importer import import_path
    from studio.models import Benchmark

    call_command("migrate", verbosity=0)
    benchmark = Benchmark.objects.create(slug="cost", name="cost")
    import_path(benchmark, options.folder, by=None)
    parts = {"agent": options.agent, "user_model": "scripted-user", "judge": "scripted-judge"}
    pilot = start_pilot(benchmark, PilotOptions(**parts, runs=options.runs, protocol="release"), by=None)

    queries: Counter[str] = Counter()

    def count(execute, sql, params, many, context):  # type: ignore[no-untyped-def]  # Django gives the wrapper's arguments no types
        queries[sql.split(" ", 1)[0]] += 1
        return execute(sql, params, many, context)

    began, cpu = time.monotonic(), time.process_time()
    with connection.execute_wrapper(count):
        moved = True
        while moved:
            open_sessions = Session.objects.filter(run__pilot=pilot, graded_compat_at=None).order_by("run", "position")
            moved = sum(work_on(pk) for pk in list(open_sessions.values_list("pk", flat=True))) > 0
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    report = pilot_report(pilot)
    sessions = len(report["sessions"])
    print(f"{sessions} sessions, {Turn.objects.count()} turns, {ModelCall.objects.count()} model calls,")
    print(f"{Verdict.objects.count()} verdicts in {seconds:.1f} s, one after the other")
    print(f"a session: {1000 * seconds / sessions:.0f} ms, of it {1000 * cpu / sessions:.0f} ms of our CPU,")
    kinds = ", ".join(f"{kind} {number}" for kind, number in queries.most_common(6))
    print(f"           {queries.total() / sessions:.0f} queries ({kinds})")
    tokens = report["scores"]["tokens"] | {
        f"judge, {way}": used for way, used in report["scores"]["judge_tokens"].items()
    }
    print("tokens a session: " + ", ".join(f"{part} {used / sessions:.0f}" for part, used in tokens.items()))


if __name__ == "__main__":
    main()

"""How long 2,000 tasks take to import: `python -m tests.bench.import_2000` prints seconds and queries.

Writes into the configured studio's database and takes everything back at the end.
"""

from __future__ import annotations

import os
import sys
import time

TARGET_SECONDS = 60
PERSONAS, TASKS, INTENTS, CRITERIA = 100, 20, 5, 8


def files(personas: int = PERSONAS, tasks: int = TASKS) -> dict[str, bytes]:
    """A ``data/`` folder of that many personas, each task with intents, criteria and a file."""
    found: dict[str, bytes] = {}
    for number in range(personas):
        user = f"persona_{number:03}"
        base = f"data/{user}"
        found[f"{base}/profile.yaml"] = f"schema_version: v2\nuser_id: {user}\nrole: Someone\n".encode()
        found[f"{base}/tools.yaml"] = b"tool_names: [gmail__send_email, todoist__create_task]\n"
        entries = []
        for place in range(tasks):
            task = f"{user}_task_{place:03}"
            setup = place % 3 == 0
            needed = f"[{user}_task_{place - 1:03}]" if place % 3 == 1 else "[]"
            entries.append(f"- task_id: {task}\n  depends_on: {needed}\n")
            found[f"{base}/tasks/{task}/task.yaml"] = _task(user, task, setup=setup)
            found[f"{base}/tasks/{task}/notes.md"] = f"# Notes of {task}\n".encode() * 40
        found[f"{base}/episode.yaml"] = (
            f"schema_version: v2\nepisode_id: ep_{user}\nuser_id: {user}\ntasks:\n{''.join(entries)}".encode()
        )
    return found


def _task(user: str, task: str, *, setup: bool) -> bytes:
    words = "a sentence of about the length that people write when they say what they need " * 2
    intents = "".join(f"    - content: Need {number}, {words}\n" for number in range(INTENTS))
    criteria = "".join(f"    - criterion: Check {number}, {words}\n" for number in range(CRITERIA))
    objectives = "" if setup else f"objectives:\n  checklist:\n{criteria}"
    return (
        f"schema_version: v2\ntask_id: {task}\nuser_id: {user}\nenvironment_id: env_{user}\ntitle: Title of {task}\n"
        f"description: ''\ntask_type: long_term\n"
        f"trigger:\n  type: user\nintent:\n  initial_input: |\n    Please see to {task} today.\n"
        f"  hidden_intent:\n{intents}{objectives}metadata:\n  difficulty: medium\n"
    ).encode()


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from studio.local.schema import migrate_if_needed
    from studio.local.services import ensure_database

    if ensure_database():
        migrate_if_needed("bench")
    import django

    django.setup()
    from django.db import connection, transaction
    from django.test.utils import CaptureQueriesContext

    from studio.imports.importer import import_files
    from studio.models import Benchmark

    content = files()
    seconds = []
    with transaction.atomic():
        benchmark = Benchmark.objects.create(slug="bench-import", name="Bench")
        for what in ("first", "again"):
            with CaptureQueriesContext(connection) as queries:
                start = time.perf_counter()
                report = import_files(benchmark, content, by=None)
                seconds.append(time.perf_counter() - start)
            changed = len(report.created) + len(report.updated)
            print(
                f"{what}: {report.totals['tasks']} tasks, {changed} stored, {seconds[-1]:.1f} s, {len(queries)} queries"
            )
        transaction.set_rollback(True)
    print(f"target: {TARGET_SECONDS} s")
    return int(max(seconds) > TARGET_SECONDS)


if __name__ == "__main__":
    sys.exit(main())

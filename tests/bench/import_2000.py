"""Time to import 2,000 tasks: `python -m tests.bench.import_2000` prints seconds and queries.

Uses the configured studio's database in a transaction that is rolled back.
"""

from __future__ import annotations

import os
import sys
import time

TARGET_SECONDS = 60
PERSONAS, TASKS, INTENTS, CRITERIA = 100, 20, 5, 8


def files(personas: int = PERSONAS, tasks: int = TASKS) -> dict[str, bytes]:
    """A ``data/`` folder with this many personas; each task has intents, criteria and a file."""
    files_by_path: dict[str, bytes] = {}
    for number in range(personas):
        user = f"persona_{number:03}"
        base = f"data/{user}"
        files_by_path[f"{base}/profile.yaml"] = f"schema_version: v2\nuser_id: {user}\nrole: Someone\n".encode()
        files_by_path[f"{base}/tools.yaml"] = b"tool_names: [gmail__send_email, todoist__create_task]\n"
        entries = []
        for position in range(tasks):
            task = f"{user}_task_{position:03}"
            setup = position % 3 == 0
            needed = f"[{user}_task_{position - 1:03}]" if position % 3 == 1 else "[]"
            entries.append(f"- task_id: {task}\n  depends_on: {needed}\n")
            files_by_path[f"{base}/tasks/{task}/task.yaml"] = _task(user, task, setup=setup)
            files_by_path[f"{base}/tasks/{task}/notes.md"] = f"# Notes of {task}\n".encode() * 40
        files_by_path[f"{base}/episode.yaml"] = (
            f"schema_version: v2\nepisode_id: ep_{user}\nuser_id: {user}\ntasks:\n{''.join(entries)}".encode()
        )
    return files_by_path


def _task(user: str, task: str, *, setup: bool) -> bytes:
    sentence = "a sentence of about the length that people write when they say what they need " * 2
    intents = "".join(f"    - content: Need {number}, {sentence}\n" for number in range(INTENTS))
    criteria = "".join(f"    - criterion: Check {number}, {sentence}\n" for number in range(CRITERIA))
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

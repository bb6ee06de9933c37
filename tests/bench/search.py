"""Time to search 2,000 tasks: `python -m tests.bench.search` prints medians in milliseconds.

Uses the configured studio's database in a transaction that is rolled back. On two shared cores, with 100
personas, 2,000 tasks, 10,000 intents and 10,400 checklist items:

| | a rare word | a word in everything (20,400 found) | nothing |
|---|---|---|---|
| search | 44 ms | 63 ms | 58 ms |
| palette | 55 ms | 20 ms | 29 ms |
"""

from __future__ import annotations

import os
import statistics
import sys
import time

from tests.bench.import_2000 import files

TARGET_MS = 100
ROUNDS = 7
QUERIES = {
    "a rare word": "persona_042_task_007",
    "two words": "check sentence",
    "a word in everything": "people",
    "a phrase": '"about the length"',
    "nothing": "xylophone",
}


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from studio.local.services import ensure_database

    ensure_database()
    import django

    django.setup()
    from django.db import connection, transaction

    from studio import access
    from studio.imports.importer import import_files
    from studio.models import User
    from studio.search.query import find_destinations, search

    worst = 0.0
    with transaction.atomic():
        owner = User.objects.create(username="bench-search")
        benchmark = access.create_benchmark(name="Bench", slug="bench-search", by=owner)
        import_files(benchmark, files(), by=owner)
        connection.cursor().execute("ANALYZE")
        for name, text in QUERIES.items():
            for what, ask in (("search", search), ("palette", find_destinations)):
                spent = []
                for _ in range(ROUNDS):
                    start = time.perf_counter()
                    result = ask(owner, text)
                    spent.append((time.perf_counter() - start) * 1000)
                number = result.total if what == "search" else len(result)
                worst = max(worst, statistics.median(spent))
                print(f"{what:8} {name:22} {statistics.median(spent):6.1f} ms, {number} found")
        transaction.set_rollback(True)
    print(f"target: {TARGET_MS} ms")
    return int(worst > TARGET_MS)


if __name__ == "__main__":
    sys.exit(main())

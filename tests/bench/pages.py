"""Server time of each page: `python -m tests.bench.pages` prints a table.

Uses a temporary database with two benchmarks: 40 tasks of two personas, and 2,000 tasks of a hundred. Milliseconds are
medians of several requests after a warm-up, without the network: wall-clock time, and CPU time of this process and its
database connection, which holds on a busy machine. Queries are those of one request. Arguments choose pages. Exit
status 1 if a page takes more than LIMIT milliseconds of CPU time.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

LIMIT = 100
REQUESTS = 7
SIZES = {"40 tasks": (2, 20), "2,000 tasks": (100, 20)}


class Cost(NamedTuple):
    """Wall-clock and CPU milliseconds, queries, and bytes of the response of one page."""

    clock: float
    core: float
    queries: int
    size: int


def main(chosen: Collection[str] = ()) -> int:
    """``chosen``: names of pages; none: all of them."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    render_as_in_production()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        table: dict[str, dict[str, Cost]] = {}
        for size, (personas, tasks) in SIZES.items():
            for name, url, who in pages(personas, tasks):
                if not chosen or name in chosen:
                    table.setdefault(name, {})[size] = measure(url, who)
    finally:
        teardown_databases(databases, verbosity=0)
    return print_table(table)


def print_table(table: dict[str, dict[str, Cost]]) -> int:
    print(f"{'page':<24}" + "".join(f"{size:>14}{'CPU':>14}{'queries':>9}{'kB':>6}" for size in SIZES))
    for name, costs_by_size in table.items():
        costs = [costs_by_size[size] for size in SIZES]
        print(
            f"{name:<24}"
            + "".join(f"{c.clock:>11.0f} ms{c.core:>11.0f} ms{c.queries:>9}{c.size / 1000:>6.0f}" for c in costs)
        )
    slow = [
        f"{name} with {size}"
        for name, costs_by_size in table.items()
        for size in SIZES
        if costs_by_size[size].core > LIMIT
    ]
    print(f"above {LIMIT} ms of CPU time: {', '.join(slow) or 'none'}")
    return int(bool(slow))


def measure(url: str, who: Any) -> Cost:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(who)
    clock, core, size = [], [], 0
    for _ in range(REQUESTS + 1):
        start, spent = time.perf_counter(), time.process_time() + database_cpu_seconds()
        answer = client.get(url)
        size = len(b"".join(answer) if answer.streaming else answer.content)
        clock.append((time.perf_counter() - start) * 1000)
        core.append((time.process_time() + database_cpu_seconds() - spent) * 1000)
        assert answer.status_code == 200, (url, answer.status_code)
    with CaptureQueriesContext(connection) as queries:
        client.get(url)
    return Cost(statistics.median(clock[1:]), statistics.median(core[1:]), len(queries), size)


def render_as_in_production() -> None:
    """Removes the copies of contexts that tests keep, which make long pages slow."""
    from django.template.base import Template

    Template._render = lambda template, context: template.nodelist.render(context)  # type: ignore[method-assign]  # undoes Django's test instrumentation


def database_cpu_seconds() -> float:
    """CPU seconds of our connection's database process; 0 if the system does not report it."""
    from django.db import connection

    connection.ensure_connection()
    statistics = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return int(statistics.read_text().split()[0]) / 1e9 if statistics.exists() else 0.0


def pages(personas: int, tasks: int) -> Iterator[tuple[str, str, Any]]:
    """Name, address and user of every page of a benchmark of this size."""
    from django.db import connection

    from annotations.leases import next_packet
    from evaluation.models import Session
    from evaluation.pilots.start import PilotOptions, start_pilot
    from evaluation.pilots.wait import wait_for_pilot
    from studio.imports.importer import import_files
    from studio.models import Benchmark, Blob, GraderScript, Membership, Role, Task, User
    from tests.annotations.builders import open_audit
    from tests.bench.import_2000 import files
    from tests.evaluation.builders import endpoint

    owner, auditor = (User.objects.create_user(f"{name}-{personas}") for name in ("owner", "auditor"))
    slug = f"bench-{personas}"
    benchmark = Benchmark.objects.create(slug=slug, name=f"{personas * tasks} tasks", created_by=owner)
    Membership.objects.create(benchmark=benchmark, user=owner, role=Role.OWNER)
    Membership.objects.create(benchmark=benchmark, user=auditor, role=Role.AUDITOR)
    import_files(benchmark, files(personas, tasks), by=owner)
    for name in ("scripted-asks", "scripted-user", "scripted-judge"):
        endpoint(name)
    one = PilotOptions(agent="scripted-asks", persona="persona_001")
    played = wait_for_pilot(start_pilot(benchmark, one, by=owner))
    whole = start_pilot(
        benchmark, PilotOptions(agent="scripted-asks"), by=owner
    )  # never run: its page has a session for each task
    session = Session.objects.filter(run__pilot=played).order_by("-turn_count").first()
    audit = open_audit(played, size=60, by=owner)
    task = Task.objects.filter(persona__benchmark=benchmark, position=2).first()
    packet = next_packet(audit, auditor)
    assert session and task and packet
    script = GraderScript.objects.create(
        persona=benchmark.personas.get(user_id="persona_001"),
        path="scripts/kept.py",
        blob_id=Blob.objects.store([b"def score(history):\n    return {'kept': True}\n"])[0],
    )
    connection.cursor().execute("ANALYZE")  # which autovacuum would do in production
    base, persona = f"/b/{slug}/", f"/b/{slug}/p/persona_001/"

    yield "home", "/", owner
    yield "activity feed", "/happened/", owner
    yield "inbox", "/inbox/", owner
    yield "search", "/search/?q=sentence", owner
    yield "palette", "/search/places/?q=title", owner
    yield "benchmarks", "/benchmarks/", owner
    yield "benchmark", base, owner
    yield "tasks", f"{base}tasks/", owner
    yield "tasks, searched", f"{base}tasks/?q=sentence&findings=none", owner
    yield "tasks, filtered", f"{base}tasks/?state=approved&persona=persona_001", owner
    yield "statistics", f"{base}statistics/", owner
    yield "gaps", f"{base}gaps/", owner
    yield "members", f"{base}members/", owner
    yield "copy", f"{base}tasks/copy/?task={task.pk}:{task.version}", owner
    yield "findings", f"{base}findings/", owner
    yield "history", f"{base}history/", owner
    yield "import", f"{base}import/", owner
    yield "benchmark's settings", f"{base}change/", owner
    yield "assistance", f"/benchmarks/{slug}/help/", owner
    yield "new persona", f"{base}personas/new/", owner
    yield "board", persona, owner
    yield "board, a task", f"{persona}?task={task.pk}", owner
    yield "task", task.get_absolute_url(), owner
    yield "file of a task", f"{task.get_absolute_url()}files/notes.md", owner
    yield "new template", f"{task.get_absolute_url()}template/", owner
    yield "new task", f"{persona}new/", owner
    yield "activity of a task", f"{task.get_absolute_url()}activity/", owner
    yield "versions", f"{task.get_absolute_url()}versions/", owner
    yield "version", f"{task.get_absolute_url()}versions/1/", owner
    yield "rehearse", f"{task.get_absolute_url()}rehearse/", owner
    yield "profile", f"{persona}profile/", owner
    yield "persona's history", f"{persona}history/", owner
    yield "persona's version", f"{persona}versions/1/", owner
    yield "behaviour", f"{persona}behaviour/", owner
    yield "new skill", f"{persona}skills/", owner
    yield "new script", f"{persona}scripts/new/", owner
    yield "script", f"{persona}scripts/{script.pk}/", owner
    yield "pilots", "/pilots/", owner
    yield "start a pilot", f"/benchmarks/{slug}/pilots/new/", owner
    yield "pilot, one episode", played.get_absolute_url(), owner
    yield "pilot, all tasks", whole.get_absolute_url(), owner
    yield "session", session.get_absolute_url(), owner
    yield "audits", "/audits/", auditor
    yield "new audit", f"/audits/new/?benchmark={slug}", owner
    yield "audit", audit.get_absolute_url(), owner
    yield "judging", f"{audit.get_absolute_url()}judge/{packet.position}/", auditor
    yield "releases", "/releases/", owner
    yield "settings", "/settings/", owner
    yield "models", "/settings/models/", owner
    yield "readiness for release", f"/benchmarks/{slug}/releases/", owner


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

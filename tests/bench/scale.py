"""Cost of pages, the API, exports and memory with 10,000 tasks: `python -m tests.bench.scale` prints a table with aims.

Figures are CPU time of this process and its database connection, medians after a warm-up. On a busy machine CPU time
grows, too, since others share the cores' caches: a fixed piece of work is measured before each row, and the row's time
is divided by how much longer than on a quiet machine (REFERENCE_MS) that work took. The table has both: as measured,
and so divided, which is compared with the aim.

`--personas 50` takes a smaller benchmark, other arguments choose rows. Exit status 1 if a row misses its aim by more
than a quarter. A new row is a `Row` in ROWS: its name, its aim and a function that measures it.

The floor is the least that the row could cost: its rows read straight from PostgreSQL.
"""

# ruff: noqa: S608

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.bench import writes
from tests.bench.population import OWNER, SLUG, populated_database

PERSONAS = 500
TOLERANCE = 1.25
REQUESTS = 9
REFERENCE_MS = 24.0
"""CPU time of ``reference_work`` on two quiet cores (AMD EPYC, 2.4 GHz class)."""
MIXED_REQUESTS = 10_000
SEARCHES = ("persona_042b_task_007", "borrower consent", "harbour", '"electricity borrower"', "xylophone")


class Row(NamedTuple):
    name: str
    aim: float
    unit: str
    measure: Callable[[], float]
    floor: Callable[[], float] | None = None
    at_least: bool = False


def page(url: str) -> Callable[[], float]:
    return lambda: cpu_ms(lambda: _get(url))


def cpu_ms(work: Callable[[], Any], *, times: int = REQUESTS) -> float:
    """The median of CPU milliseconds of this process, the processes it started and ended, and its database
    connection."""
    spent = []
    for _ in range(times + 1):
        before = cpu_seconds()
        work()
        spent.append((cpu_seconds() - before) * 1000)
    return statistics.median(spent[1:])


def cpu_seconds() -> float:
    from tests.bench.processor_time import database_cpu_seconds

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime + database_cpu_seconds()


def sql(text: str) -> Callable[[], float]:
    from tests.bench.population import _rows

    return lambda: cpu_ms(lambda: _rows(text))


def search() -> float:
    """The dearest of several searches."""
    return max(cpu_ms(lambda text=text: _get("/search/", q=text)) for text in SEARCHES)


def part(name: str, key: str) -> Callable[[], float]:
    """A figure of a process of its own: what a part prints as JSON."""

    def measure() -> float:
        if name not in _parts:
            requests = ["--requests", str(_arguments.requests)]
            command = [sys.executable, "-m", "tests.bench.scale", "--part", name, *requests]
            _parts[name] = json.loads(
                subprocess.run(command, env=environment(), check=True, stdout=subprocess.PIPE).stdout
            )
        return float(_parts[name][key])

    return measure


_parts: dict[str, dict[str, float]] = {}
_arguments = argparse.Namespace(personas=PERSONAS, requests=MIXED_REQUESTS)

BASE = f"/b/{SLUG}/"
FIFTY = "SELECT * FROM studio_task ORDER BY id LIMIT 50"
ROWS = [
    Row("task list, page of 50", 20, "ms", page(f"{BASE}tasks/"), sql(FIFTY)),
    Row("task list, page 100", 20, "ms", page(f"{BASE}tasks/?page=100"), sql(FIFTY)),
    Row("task list, filtered", 20, "ms", page(f"{BASE}tasks/?state=in_review&findings=warning"), sql(FIFTY)),
    Row("findings", 50, "ms", page(f"{BASE}findings/")),
    Row("gaps", 50, "ms", page(f"{BASE}gaps/")),
    Row("statistics", 50, "ms", page(f"{BASE}statistics/")),
    Row("benchmark", 50, "ms", page(BASE)),
    Row("release page", 50, "ms", page(f"/benchmarks/{SLUG}/releases/")),
    Row("home", 50, "ms", page("/")),
    Row("search, the dearest of five", 50, "ms", search),
    Row("search, 100,000 matches", 50, "ms", page("/search/?q=number")),
    Row("API update of one task", 40, "ms", lambda: writes.update_by_api(_client("identity"))),
    Row("check while typing", 25, "ms", lambda: writes.live_check(_client("identity"))),
    Row("autosave", 10, "ms", lambda: writes.autosave(_client("identity"))),
    Row("comment, create", 15, "ms", lambda: writes.create_comment(_client("identity"))),
    Row("comment, update", 15, "ms", lambda: writes.update_comment(_client("identity"))),
    Row(
        "import with checks, two cores",
        300,
        "tasks/s",
        lambda: writes.import_with_checks(_client("identity")),
        at_least=True,
    ),
    Row(
        "import, checks deferred",
        2_500,
        "tasks/s",
        lambda: writes.import_deferring_checks(_client("identity")),
        at_least=True,
    ),
    Row("check 2,000 tasks, two cores", 5, "s", part("checks", "seconds")),
    Row("check 2,000 tasks, peak memory", 250, "MB", part("checks", "megabytes")),
    Row("export", 5, "s", part("export", "seconds"), lambda: cpu_ms(_read_all, times=1) / 1000),
    Row("export, peak memory", 200, "MB", part("export", "megabytes")),
    Row("first page, compressed", 60, "kB", lambda: first_page_bytes() / 1000),
    Row("memory over mixed requests", 10, "% growth", part("memory", "growth")),
]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--personas", type=int, default=PERSONAS)
    parser.add_argument("--requests", type=int, default=MIXED_REQUESTS, help="of the memory run")
    parser.add_argument("--part", choices=["export", "memory", "checks"], help=argparse.SUPPRESS)
    parser.add_argument("rows", nargs="*", help="beginnings of names of rows")
    parser.parse_args(namespace=_arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.test.utils import setup_test_environment

    from tests.bench.processor_time import render_as_in_production

    setup_test_environment()
    render_as_in_production()
    if _arguments.part:
        print(
            json.dumps(
                {"export": run_export, "memory": run_memory, "checks": writes.run_check_tasks}[_arguments.part]()
            )
        )
        return 0
    with populated_database(_arguments.personas):
        return print_table([row for row in ROWS if not _arguments.rows or row.name.startswith(tuple(_arguments.rows))])


def print_table(rows: list[Row]) -> int:
    missed = []
    print(f"{_arguments.personas * 20:,} tasks")
    print(f"{'':<32}{'aim':>8}{'measured':>10}{'quiet':>10}{'floor':>9}{'ratio':>7}")
    for row in rows:
        slowdown = machine_slowdown() if row.unit in ("ms", "s") else 1.0
        measured = row.measure()
        figure = measured / slowdown
        floor = row.floor() if row.floor else 0.0
        ratio = f"{floor:>9.2f}{measured / floor:>6.0f}×" if floor else " " * 16
        late = figure < row.aim / TOLERANCE if row.at_least else figure > row.aim * TOLERANCE
        missed += [row.name] if late else []
        end = f"{row.unit}{'  MISSED' if late else ''}"
        print(f"{row.name:<32}{row.aim:>8g}{measured:>10.1f}{figure:>10.1f}{ratio} {end}", flush=True)
    print(f"missed by more than a quarter: {', '.join(missed) or 'none'}")
    return int(bool(missed))


def machine_slowdown() -> float:
    """How many times longer than on a quiet machine a fixed piece of work takes now."""
    spent = []
    for _ in range(9):
        before = time.process_time()
        reference_work()
        spent.append((time.process_time() - before) * 1000)
    return max(1.0, statistics.median(spent) / REFERENCE_MS)


def reference_work() -> int:
    texts = {str(number): f"x{number}" for number in range(40_000)}
    return len("".join(text for text in texts.values() if len(text) > 3))


def run_export() -> dict[str, float]:
    from django.core.management import call_command

    from tests.bench.processor_time import database_cpu_seconds

    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time() + database_cpu_seconds()
        call_command("pibench_export", "--benchmark", SLUG, "--out", str(Path(folder, "out")), stdout=io.StringIO())
        seconds = time.process_time() + database_cpu_seconds() - before
    return {"seconds": seconds, "megabytes": peak_megabytes()}


def run_memory() -> dict[str, float]:
    """Reads and writes as of several people at work, in one process: its growth between a tenth of the requests and
    all, in per cent of the former."""
    from studio.models import Task

    rows = Task.objects.filter(persona__benchmark__slug=SLUG)  # the row of imports leaves other benchmarks
    keys = list(rows.order_by("pk").values_list("pk", flat=True)[::37])
    tasks = list(rows.filter(pk__in=keys).select_related("persona__benchmark").order_by("pk"))
    pages = [
        "/",
        BASE,
        *(f"{BASE}{name}/" for name in ("tasks", "findings", "gaps", "statistics")),
        "/search/?q=number",
    ]
    client, sizes = _client("identity"), {}
    for number in range(1, _arguments.requests + 1):
        task = tasks[number * 7 % len(tasks)]
        match number % 10:
            case 0:
                _get(pages[number // 10 % len(pages)])
            case 1 | 2 | 3:
                _get(task.get_absolute_url())
            case 4 | 5:
                _get(writes.api_address(task))
            case 6:
                writes.post_form(client, task, "check", f"Typed {number}")
            case 7:
                writes.post_form(client, task, "keep", f"Typed {number}")
            case 8:
                writes.update(client, task, number)
            case 9:
                writes.comment(client, task, number)
        if number % max(_arguments.requests // 10, 1) == 0:
            sizes[number] = _resident()
            print(f"after {number:,} requests {sizes[number]:.0f} MB", file=sys.stderr, flush=True)
    first, *_, last = sizes.values()
    return {"growth": 100 * (last - first) / first, "megabytes": last}


def first_page_bytes() -> int:
    """Bytes of the home page and everything it loads, as sent to a browser that accepts gzip."""
    from tests.bench.first_page import page_and_assets

    return sum(page_and_assets("/", _client()).values())


def _get(url: str, **query: str) -> None:
    answer = _client().get(url, query or None)
    assert answer.status_code == 200, (url, answer.status_code)


def _client(encoding: str = "gzip") -> Any:
    from django.test import Client

    from studio.models import User

    if encoding not in _clients:
        _clients[encoding] = Client(headers={"accept-encoding": encoding})
        _clients[encoding].force_login(User.objects.get(username=OWNER))
    return _clients[encoding]


_clients: dict[str, Any] = {}


def _read_all() -> None:
    from tests.bench.population import _rows

    for table in ("task", "revision"):
        _rows(f"SELECT * FROM studio_{table}")


def environment() -> dict[str, str]:
    from django.db import connection

    parts = os.environ["DATABASE_URL"].partition("?")
    address = parts[0].rpartition("/")[0] + "/" + connection.settings_dict["NAME"] + parts[1] + parts[2]
    return {**os.environ, "DATABASE_URL": address}


def peak_megabytes() -> float:
    """Of this process alone; ``getrusage`` begins with what its parent had."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def _resident() -> float:
    """Megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


if __name__ == "__main__":
    sys.exit(main())

"""CPU, wall time and connections of workers that run sessions of 16 model calls against a stub with a fixed latency.

    .venv/bin/python -m tests.bench.engine --sessions 192 --latency 200 --processes 1

Each session belongs to a run of its own, so all can be under way at once. CPU is user and system time of the workers
and of PostgreSQL together, from the start of the pilot to its end. ``wall/ideal`` divides by calls × latency / at once,
where at once is the endpoint's limit on concurrent requests (``--at-once``). Figures are in docs/engine.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

TICK = os.sysconf("SC_CLK_TCK")
RUNS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=192)
    parser.add_argument("--latency", type=float, default=200, help="milliseconds")
    parser.add_argument("--at-once", type=int, default=64, help="the endpoint's limit on concurrent requests")
    parser.add_argument("--processes", type=int, default=1, help="worker processes")
    parser.add_argument("--intents", type=int, default=4, help="of each task; 4 make 16 calls, 1 makes 3")
    parser.add_argument("--worker", default="", help="the worker's command line in place of the studio's own")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="bench-engine-") as data:
        os.environ |= {
            "STUDIO_DATA_DIR": data,
            "DJANGO_SETTINGS_MODULE": "studio.settings",
            "STUDIO_MODEL_NETWORKS": "127.0.0.1",
        }
        for variable in ("DATABASE_URL", "CELERY_BROKER_URL"):
            os.environ.pop(variable, None)
        from studio.local import shared_server
        from studio.local.services import ensure_broker, ensure_database

        ensure_database()
        ensure_broker()
        import django

        django.setup()
        try:
            figures = _measure(options)
        finally:
            from django.db import connections

            connections.close_all()
            shared_server.release_all()
    if options.json:
        print(json.dumps(figures))
    else:
        print("\n".join(f"{name:28} {value}" for name, value in figures.items()))


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    from django.core.management import call_command
    from django.db import connection

    from evaluation.models import ModelCall, ModelEndpoint, Pilot, Session
    from evaluation.pilots.start import PilotOptions, start_pilot
    from studio.celery import workers_answer
    from studio.local.stack import ALLOCATOR

    call_command("migrate", verbosity=0)
    benchmark = _benchmark(-(-options.sessions // RUNS), options.intents)
    stub = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.engine_stub", "--latency", str(options.latency)], stdout=subprocess.PIPE
    )
    assert stub.stdout is not None
    address = f"http://127.0.0.1:{int(stub.stdout.readline())}"
    model = ModelEndpoint.objects.create(
        name="stub", base_url=f"{address}/v1", model="stub", max_concurrency=options.at_once
    )
    settings = os.environ | ALLOCATOR
    workers = [
        subprocess.Popen(_worker(options.worker), stderr=subprocess.DEVNULL, env=settings)
        for _ in range(options.processes)
    ]
    try:
        while not workers_answer():
            time.sleep(0.2)
        time.sleep(2)
        postgres = _postgres(Path(os.environ["STUDIO_DATA_DIR"]))
        connections = _Connections(postgres)
        before = {pid: _cpu(pid) for pid in [*(worker.pid for worker in workers), postgres]}
        began = time.monotonic()
        models: dict[str, Any] = {"agent": model.name, "user_model": model.name, "judge": model.name}
        pilot = start_pilot(benchmark, PilotOptions(**models, runs=RUNS, protocol="release"), by=None)
        extra = list(Session.objects.order_by("-pk").values_list("pk", flat=True)[: -options.sessions % RUNS])
        Session.objects.filter(pk__in=extra).update(state="cancelled")
        started = time.monotonic() - began
        connection.close()
        own = time.process_time()
        resident: list[int] = []
        looks = 0
        while Pilot.objects.filter(pk=pilot.pk, state__in=["waiting", "running"]).exists():
            if looks % 5 == 0:
                resident.append(sum(_resident(worker.pid) for worker in workers))
            looks += 1
            time.sleep(0.05)
        wall = time.monotonic() - began
        cpu = {pid: _cpu(pid) - seconds for pid, seconds in before.items()}
        own = time.process_time() - own
        most = connections.stop()
        with urllib.request.urlopen(f"{address}/stats") as answer:
            stats = json.load(answer)
        pilot.refresh_from_db()
        calls = ModelCall.objects.count()
        finished = Session.objects.filter(state="finished").count()
        ideal = calls * options.latency / 1000 / min(options.at_once, options.sessions)
        database = cpu.pop(postgres)
        return {
            "pilot": pilot.state,
            "sessions finished": finished,
            "calls stored, sent": f"{calls}, {stats['calls']}",
            "most in flight": stats["most"],
            "start of the pilot, s": round(started, 2),
            "wall, s": round(wall, 2),
            "wall/ideal": round(wall / ideal, 2) if ideal else None,
            "CPU of workers, ms a call": round(1000 * sum(cpu.values()) / calls, 2),
            "CPU of PostgreSQL, ms a call": round(1000 * database / calls, 2),
            "CPU together, ms a call": round(1000 * (sum(cpu.values()) + database) / calls, 2),
            "database connections of workers": most,
            "peak memory of workers, MiB": max(resident, default=0),
            "at each quarter of the time": ", ".join(str(resident[len(resident) * n // 4 - 1]) for n in range(1, 5)),
        }
    finally:
        for process in [*workers, stub]:
            process.kill()
            process.wait()


def _worker(given: str) -> list[str]:
    if given:
        return given.split()
    from studio.local.stack import worker_processes

    return list(worker_processes()[0].argv)


def _benchmark(personas: int, intents: int = 4) -> Any:
    from studio.domain.persona import PersonaSpec
    from studio.domain.task import HiddenIntent, TaskSpec
    from studio.models import Benchmark
    from studio.personas.create import create_persona
    from studio.tasks.create import create_task

    benchmark = Benchmark.objects.create(slug="engine", name="engine")
    for number in range(personas):
        row = create_persona(benchmark, PersonaSpec(user_id=f"p{number}"), by=None)
        hidden = tuple(
            HiddenIntent(uid=f"00000000-0000-0000-0000-{n:012d}", content=f"Point {n} must be covered.")
            for n in range(intents)
        )
        create_task(row, TaskSpec(task_id=f"t{number}", initial_request="Please begin.", intents=hidden), by=None)
    return benchmark


class _Connections:
    """The most backends of the studio's database at once, other than this process's."""

    def __init__(self, postgres: int) -> None:
        self._postgres = postgres
        self._most = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._stopped.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._stopped.wait(0.25):
            backends = 0
            for pid in _children(self._postgres):
                try:
                    title = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
                except OSError:
                    continue
                backends += b" studio studio " in title
            self._most = max(self._most, backends - 1)


def _postgres(data: Path) -> int:
    return int(next(data.rglob("postmaster.pid")).read_text().split("\n", 1)[0])


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def _cpu(pid: int) -> float:
    """Of the process with all its children, also those that ended."""
    seconds = 0.0
    for one in [pid, *_children(pid)]:
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        seconds += sum(map(int, fields[11:15])) / TICK
    return seconds


def _resident(pid: int) -> int:
    try:
        line = next(line for line in Path(f"/proc/{pid}/status").read_text().split("\n") if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0
    return int(line.split()[1]) // 1024


if __name__ == "__main__":
    main()

"""What edits and checks cost on the benchmark of `tests.bench.scale`."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import resource
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from tests.bench.population import SLUG

_numbers = itertools.count(1)
IMPORTED = 10
"""Personas of 20 tasks in the measured import."""


def _tasks() -> list[Any]:
    """Of one persona; edits go round them."""
    from studio.models import Task

    rows = Task.objects.filter(persona__user_id="persona_000a").select_related("persona__benchmark")
    return list(rows.order_by("position"))


def _rounds(client: Any, work: Callable[[Any, Any, int], None]) -> float:
    from tests.bench.scale import cpu_ms

    tasks = itertools.cycle(_tasks()[3:])
    return cpu_ms(lambda: work(client, next(tasks), next(_numbers)))


def api_address(task: Any) -> str:
    return f"/api/benchmarks/{SLUG}/personas/{task.persona.user_id}/tasks/{task.pk}/"


def update_by_api(client: Any) -> float:
    """A changed title; reading the task before is part of it."""
    return _rounds(client, update)


def update(client: Any, task: Any, number: int) -> None:
    stored = client.get(api_address(task)).json()
    stored["spec"]["title"] = f"Another title {number} of {task.task_id}"
    body = json.dumps({"version": stored["version"], "spec": stored["spec"]})
    answer = client.put(api_address(task), body, content_type="application/json")
    assert answer.status_code == 200, answer.content[:300]


def live_check(client: Any) -> float:
    return _posted(client, "check")


def autosave(client: Any) -> float:
    return _posted(client, "keep")


def _posted(client: Any, name: str) -> float:
    from tests.studio.page_forms import form_of

    task = _tasks()[4]
    form = form_of(client.get(task.get_absolute_url()).content.decode(), "task")
    data = form.data()

    def post(client: Any, _: Any, number: int) -> None:
        """As the page's script sends it."""
        data["title"] = [f"Typed {number}"]
        body = urlencode(data, doseq=True)
        answer = client.post(f"{task.get_absolute_url()}{name}/", body, "application/x-www-form-urlencoded")
        assert answer.status_code == 200, answer.content[:300]
        if name == "keep":
            assert "stale" not in answer.json()
            data["base_draft"] = [str(answer.json()["draft"])]

    return _rounds(client, post)


def post_form(client: Any, task: Any, name: str, title: str) -> None:
    """The task's page is opened and its form sent with another title."""
    from tests.studio.page_forms import form_of

    data = form_of(client.get(task.get_absolute_url()).content.decode(), "task").data()
    data["title"] = [title]
    body = urlencode(data, doseq=True)
    answer = client.post(f"{task.get_absolute_url()}{name}/", body, "application/x-www-form-urlencoded")
    assert answer.status_code == 200, answer.content[:300]


def create_comment(client: Any) -> float:
    return _rounds(client, comment)


def comment(client: Any, task: Any, number: int) -> int:
    answer = client.post(f"{api_address(task)}remarks/", {"text": f"Comment {number}"}, content_type="application/json")
    assert answer.status_code == 201, answer.content[:300]
    return int(answer.json()["id"])


def update_comment(client: Any) -> float:
    task = _tasks()[3]
    key = comment(client, task, 0)

    def change(client: Any, _: Any, number: int) -> None:
        body = {"text": f"Changed {number}"}
        answer = client.patch(f"{api_address(task)}remarks/{key}/", body, content_type="application/json")
        assert answer.status_code == 200, answer.content[:300]

    return _rounds(client, change)


def import_with_checks(client: Any) -> float:
    """Tasks a second on two cores, from the CPU time of one process and its database."""
    from studio.imports.importer import import_files
    from studio.models import Benchmark
    from tests.bench.import_2000 import files
    from tests.bench.scale import cpu_ms

    def run() -> None:
        number = next(_numbers)
        benchmark = Benchmark.objects.create(slug=f"imported-{number}", name=f"Imported {number}")
        import_files(benchmark, files(IMPORTED), by=None)

    return 2 * IMPORTED * 20 * 1000 / cpu_ms(run, times=1)


def import_deferring_checks(client: Any) -> float:
    """Tasks stored in a second of processor time of one process and its database; a worker checks them later."""
    from studio.imports.importer import import_files
    from studio.models import Benchmark
    from tests.bench.import_2000 import files
    from tests.bench.scale import cpu_ms

    def run() -> None:
        number = next(_numbers)
        benchmark = Benchmark.objects.create(slug=f"deferred-{number}", name=f"Deferred {number}")
        import_files(benchmark, files(), by=None, defer_above=0)

    return 2_000 * 1000 / cpu_ms(run, times=1)


def run_check_tasks() -> dict[str, float]:
    """`check_tasks` for 100 personas, 2,000 tasks: seconds on two cores, from the processor time of all processes,
    and the memory of the largest."""
    from django.core.management import call_command

    from studio.models import Benchmark, Persona
    from tests.bench.processor_time import database_cpu_seconds
    from tests.bench.scale import peak_megabytes

    other = Benchmark.objects.create(slug="checked", name="Checked")
    rows = Persona.objects.filter(benchmark__slug=SLUG).order_by("pk").values_list("pk", flat=True)[:100]
    moved = Persona.objects.filter(pk__in=list(rows))
    moved.update(benchmark=other)
    before = time.process_time() + database_cpu_seconds()
    with contextlib.suppress(SystemExit):  # there are findings
        call_command("check_tasks", "--benchmark", other.slug, stdout=io.StringIO())
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + database_cpu_seconds() - before + children.ru_utime + children.ru_stime
    moved.update(benchmark=Benchmark.objects.get(slug=SLUG))
    return {"seconds": seconds / 2, "megabytes": max(peak_megabytes(), children.ru_maxrss / 1024)}

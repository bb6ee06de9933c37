"""Server time of the editor while someone types: `python -m tests.bench.typing` prints a table.

Measures one of twenty tasks of an episode, of ordinary size and with 60 intents and 200 items: the page, the page with
all rows of long lists unfolded (``?whole``), a check of the form, and its autosave. Milliseconds are CPU time of this
process and its database connection, which holds on a busy machine: the median of several requests after a warm-up. The
last lines are ratios, which do not depend on the machine: the long task to the ordinary one, and the folded page to the
whole one.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode

from tests.bench.processor_time import database_cpu_seconds, render_as_in_production

if TYPE_CHECKING:
    from django.http import HttpResponse

REQUESTS = 9
SIZES = {"5 intents, 7 items": (5, 7), "60 intents, 200 items": (60, 200)}
LIMITED = ("page", "check", "autosave")
AS_SENT = "application/x-www-form-urlencoded"
LIMIT = 100
"""Milliseconds of the page and of a check, for a task of either size."""


class Cost(NamedTuple):
    core: float
    size: int

    def __str__(self) -> str:
        return f"{self.core:>5.0f} ms {self.size / 1000:>6.0f} kB"


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    render_as_in_production()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        costs_by_size = {size: measure(*numbers) for size, numbers in SIZES.items()}
    finally:
        teardown_databases(databases, verbosity=0)
    print(f"{'':<24}" + "".join(f"{name:>20}" for name in next(iter(costs_by_size.values()))))
    for size, costs in costs_by_size.items():
        print(f"{size:<24}" + "".join(f"{cost!s:>20}" for cost in costs.values()))
    short, long = costs_by_size.values()
    for name in ("core", "size"):
        times = (getattr(long[key], name) / getattr(short[key], name) for key in long)
        print(f"{'long to ordinary, ' + name:<24}" + "".join(f"{ratio:>20.1f}" for ratio in times))
    print(
        f"of the long page's whole: {long['page'].core / long['whole page'].core:.2f} of the work, "
        f"{long['page'].size / long['whole page'].size:.2f} of the bytes"
    )
    slow = [
        f"{name} of {size}" for size, costs in costs_by_size.items() for name in LIMITED if costs[name].core > LIMIT
    ]
    print(f"above {LIMIT} ms of CPU time: {', '.join(slow) or 'none'}")
    return int(bool(slow))


def measure(intents: int, items: int) -> dict[str, Cost]:
    from django.test import Client
    from django.urls import reverse

    from studio.domain.task import ChecklistItem, HiddenIntent
    from studio.domain.uids import default_uid
    from studio.models import Role
    from tests.factories import BenchmarkFactory, a_persona, a_task, member
    from tests.studio.page_forms import form_of

    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("write_file",))
    for number in range(19):
        a_task(persona, f"bread_{number}", by=author, title=f"Bread for day {number}")
    needs = tuple(
        HiddenIntent(
            uid=default_uid("b", "t", "i", number), content=f"Order {number} goes out before loaf number {number * 7}."
        )
        for number in range(intents)
    )
    wanted = tuple(
        ChecklistItem(
            uid=default_uid("b", "t", "k", number),
            criterion=f"The plan names the hour at which order {number} leaves.",
            follows_from=(needs[number % intents].uid,),
        )
        for number in range(items)
    )
    task = a_task(persona, "long", by=author, title="The long one", intents=needs, checklist=wanted)
    client = Client()
    client.force_login(author)
    form = form_of(client.get(task.get_absolute_url()).content.decode(), "task").data()
    typed = urlencode(form, doseq=True)
    path = [benchmark.slug, persona.user_id, task.pk]
    return {
        "page": median(lambda: client.get(task.get_absolute_url())),
        "whole page": median(lambda: client.get(task.get_absolute_url(), {"whole": 1})),
        "check": median(lambda: client.post(reverse("studio:check", args=path), typed, content_type=AS_SENT)),
        "autosave": median(lambda: client.post(reverse("studio:autosave", args=path), typed, content_type=AS_SENT)),
    }


def median(ask: Callable[[], HttpResponse]) -> Cost:
    taken, size = [], 0
    for _ in range(REQUESTS + 1):
        start = time.process_time() + database_cpu_seconds()
        size = len(ask().content)
        taken.append((time.process_time() + database_cpu_seconds() - start) * 1000)
    return Cost(statistics.median(taken[1:]), size)


if __name__ == "__main__":
    sys.exit(main())

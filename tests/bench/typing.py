"""How long the studio takes while somebody writes: `python -m tests.bench.typing` prints a table.

A task among twenty of its episode, of an ordinary size and of 60 intents and 200 items. Milliseconds are the median of
some requests after one to warm up, without the network: the page, a check of what is typed, keeping it.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable
from urllib.parse import urlencode

REQUESTS = 9
SIZES = {"5 intents, 7 items": (5, 7), "60 intents, 200 items": (60, 200)}
AS_SENT = "application/x-www-form-urlencoded"
LIMIT = 100
"""Milliseconds of a check of an ordinary task."""


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    kept = setup_databases(verbosity=0, interactive=False)
    try:
        found = {size: measure(*numbers) for size, numbers in SIZES.items()}
    finally:
        teardown_databases(kept, verbosity=0)
    for size, times in found.items():
        print(f"{size:<24}" + "".join(f"{name} {taken:>5.0f} ms   " for name, taken in times.items()))
    return int(found["5 intents, 7 items"]["check"] > LIMIT)


def measure(intents: int, items: int) -> dict[str, float]:
    from django.test import Client
    from django.urls import reverse

    from studio.models import Role
    from studio.spec.task import ChecklistItem, HiddenIntent
    from studio.spec.uids import default_uid
    from tests.factories import BenchmarkFactory, a_persona, a_task, member
    from tests.studio.forms import form_of

    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("write_file",))
    for number in range(19):
        a_task(persona, f"bread_{number}", by=author, title=f"Bread for day {number}")
    needs = tuple(
        HiddenIntent(uid=default_uid("b", "t", "i", at), content=f"Order {at} goes out before loaf number {at * 7}.")
        for at in range(intents)
    )
    wanted = tuple(
        ChecklistItem(
            uid=default_uid("b", "t", "k", at),
            criterion=f"The plan names order {at} and the loaf that comes after it.",
            follows_from=(needs[at % intents].uid,),
        )
        for at in range(items)
    )
    task = a_task(persona, "long", by=author, title="The long one", intents=needs, checklist=wanted)
    client = Client()
    client.force_login(author)
    form = form_of(client.get(task.get_absolute_url()).content.decode(), "task").data()
    typed = urlencode(form, doseq=True)
    where = [benchmark.slug, persona.user_id, task.pk]
    return {
        "page": median(lambda: client.get(task.get_absolute_url())),
        "check": median(lambda: client.post(reverse("studio:check", args=where), typed, content_type=AS_SENT)),
        "keep": median(lambda: client.post(reverse("studio:keep", args=where), typed, content_type=AS_SENT)),
    }


def median(ask: Callable[[], object]) -> float:
    taken = []
    for _ in range(REQUESTS + 1):
        start = time.perf_counter()
        ask()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken[1:])


if __name__ == "__main__":
    sys.exit(main())

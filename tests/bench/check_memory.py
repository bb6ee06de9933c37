"""Memory of a web process that checks long drafts: `python -m tests.bench.check_memory` prints a line a hundred checks.

Each check is of a request of 39 kB that no check has read before, so that every cache keyed by texts takes its fill.
Status 1 if the process grows by more than a tenth between the hundredth check and the last, or by more than 150 MB in
all. Before caches were bounded in bytes, a hundred such checks added 500 MB.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from urllib.parse import urlencode

CHECKS = 300
STEP = 100
REQUEST_CHARACTERS = 39_000
MOST_GROWTH = 1.1
"""Of the resident memory, from the first ``STEP`` checks to the last."""
MOST_ADDED = 150e6
WORDS = """bakery order loaf invoice supplier deadline oven delivery recipe allergy customer weekend market flour price
kitchen schedule manager packaging review menu sample crate inspection""".split()


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.test.utils import setup_databases, setup_test_environment, teardown_databases

    setup_test_environment()
    databases = setup_databases(verbosity=0, interactive=False)
    try:
        sizes = measure()
    finally:
        teardown_databases(databases, verbosity=0)
    for checks, size in sizes.items():
        print(f"after {checks:>3} checks {size / 1e6:>6.0f} MB")
    growth, added = sizes[CHECKS] / sizes[STEP], sizes[CHECKS] - sizes[0]
    print(f"from {STEP} to {CHECKS} checks: × {growth:.2f}; added in all: {added / 1e6:.0f} MB")
    return int(growth > MOST_GROWTH or added > MOST_ADDED)


def measure() -> dict[int, int]:
    """Resident bytes after that many checks; 0 is after one, which loads what every process needs."""
    from django.test import Client
    from django.urls import reverse

    from studio.models import Role
    from tests.factories import BenchmarkFactory, a_persona, a_task, member
    from tests.studio.page_forms import form_of

    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author)
    task = a_task(persona, "long", by=author, title="The long one")
    client = Client()
    client.force_login(author)
    form = form_of(client.get(task.get_absolute_url()).content.decode(), "task").data()
    address = reverse("studio:check", args=[benchmark.slug, persona.user_id, task.pk])
    texts = random.Random(7)

    assert "initial_request" in form

    def check() -> None:
        form["initial_request"] = [long_text(texts)]
        sent = client.post(address, urlencode(form, doseq=True), content_type="application/x-www-form-urlencoded")
        assert sent.status_code == 200, sent.content[:500]

    check()
    sizes = {0: resident_bytes()}
    for number in range(1, CHECKS + 1):
        check()
        if number % STEP == 0:
            sizes[number] = resident_bytes()
    return sizes


def long_text(texts: random.Random) -> str:
    sentences, length = [], 0
    while length < REQUEST_CHARACTERS:
        words = [texts.choice(WORDS) for _ in range(texts.randint(6, 16))]
        sentences.append(f"{' '.join(words).capitalize()} {texts.randint(1, 10**6)}.")
        length += len(sentences[-1]) + 1
    return " ".join(sentences)[:REQUEST_CHARACTERS]


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())

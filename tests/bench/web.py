"""Time of a search in a persona's web: `python -m tests.bench.web` prints medians and least in milliseconds.

Uses the configured studio's database in a transaction that is rolled back; 300 pages of about 8,000 characters.
"""

from __future__ import annotations

import os
import random
import statistics
import time

PAGES, WORDS, ROUNDS = 300, 1_300, 9
QUERIES = {
    "a word on one page": "zeppelin",
    "a word on a tenth of the pages": "harbour",
    "words on every page": "permit cost building",
    "nothing": "xylophone",
}


def page_of(number: int, random_words: random.Random, vocabulary: list[str]) -> bytes:
    words = random_words.choices(vocabulary, weights=range(len(vocabulary), 0, -1), k=WORDS)
    words[100:100] = ["permit"] * (number % 3 + 1) + ["costs", "building"]
    words[500:500] = ["harbour"] * (number % 10 == 0) + ["zeppelin"] * (number == 150)
    return f"---\naddress: https://example.org/{number}\ntitle: Page {number}\n---\n{' '.join(words)}.".encode()


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
    from studio.local.services import ensure_database

    ensure_database()
    import django

    django.setup()
    from django.db import connection, transaction

    from evaluation.workspaces.web_corpus import open_corpus
    from studio.domain.base import FileRef
    from studio.domain.persona import PersonaSpec
    from studio.models import Blob

    chance = random.Random(7)  # the same words each time
    vocabulary = ["".join(chance.choices("abcdefghilmnoprstu", k=chance.randint(3, 10))) for _ in range(6_000)]
    with transaction.atomic():
        contents = [page_of(number, chance, vocabulary) for number in range(PAGES)]
        files = [
            FileRef(path=f"web/{number:03}.md", sha256=sha, size=1)
            for number, sha in enumerate(Blob.objects.store(contents))
        ]
        persona = PersonaSpec(user_id="bench", files=tuple(files))
        corpus = open_corpus(persona, "task")
        assert corpus is not None
        start = time.perf_counter()
        corpus.count()
        print(f"stored once: {(time.perf_counter() - start) * 1000:.0f} ms for {PAGES} pages")
        connection.cursor().execute("ANALYZE evaluation_storedwebpage")
        corpus = open_corpus(persona, "task")
        assert corpus is not None
        for name, query in QUERIES.items():
            spent = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                found = corpus.search(query, 5, 0)
                spent.append((time.perf_counter() - start) * 1000)
            print(f"{name:32} {statistics.median(spent):6.1f} ms, least {min(spent):5.1f}   {len(found)} shown")
        start = time.perf_counter()
        corpus.page("https://example.org/150")
        print(f"{'one page by its address':32} {(time.perf_counter() - start) * 1000:6.1f} ms")
        transaction.set_rollback(True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

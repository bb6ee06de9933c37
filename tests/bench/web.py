"""Time of a search in a persona's web: `python -m tests.bench.web` prints medians and least in milliseconds.

300 pages of about 8,000 characters.
"""

from __future__ import annotations

import random
import statistics
import time

from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from tests.evaluation.contents import MemoryContents

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
    chance = random.Random(7)  # the same words each time
    vocabulary = ["".join(chance.choices("abcdefghilmnoprstu", k=chance.randint(3, 10))) for _ in range(6_000)]
    contents = MemoryContents()
    shas = contents.keep([page_of(number, chance, vocabulary) for number in range(PAGES)])
    files = tuple(FileRef(path=f"web/{number:03}.md", sha256=sha, size=1) for number, sha in enumerate(shas))
    corpus = open_corpus(PersonaSpec(user_id="bench", files=files), "task", contents.read)
    assert corpus is not None
    start = time.perf_counter()
    corpus.count()
    print(f"read once a process: {(time.perf_counter() - start) * 1000:.0f} ms for {PAGES} pages")
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
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

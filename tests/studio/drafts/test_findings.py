from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.findings import refresh
from studio.models import Blob
from tests.factories import a_task_spec

FILES = {f"{number:064x}": f"note {number}" for number in range(2_000)}
NAMES = sorted(FILES)


@pytest.fixture
def eager_switching() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def episode_with(sha256s: list[str]) -> EpisodeSpec:
    assets = tuple(FileRef(path=f"{sha256}.md", sha256=sha256, size=len(FILES[sha256])) for sha256 in sha256s)
    persona = PersonaSpec.model_construct(skills=(), scripts=())
    return EpisodeSpec(episode_id="e", persona=persona, tasks=(a_task_spec(assets=assets),))


def test_texts_are_complete_while_other_threads_fill_the_cache(
    monkeypatch: pytest.MonkeyPatch, eager_switching: None
) -> None:
    def read(sha256s: list[str]) -> dict[str, bytes]:
        return {sha256: FILES[sha256].encode() for sha256 in sha256s}

    def wrong_calls(seed: int) -> int:
        random = Random(seed)
        wrong = 0
        for _ in range(300):
            wanted = random.sample(NAMES, 40)
            texts = refresh.load_texts([episode_with(wanted)])
            wrong += texts != {sha256: FILES[sha256] for sha256 in wanted}
        return wrong

    monkeypatch.setattr(Blob.objects, "read", read)
    monkeypatch.setattr(refresh, "_texts", refresh.BoundedCache(100_000))  # far less than all of them
    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(wrong_calls, range(16))) == 0

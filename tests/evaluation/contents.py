"""File contents in memory, and comparing texts, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import takewhile


class MemoryContents:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def read(self, sha256s: Sequence[str]) -> dict[str, bytes]:
        return {sha: self.kept[sha] for sha in sha256s if sha in self.kept}

    def keep(self, contents: Sequence[bytes]) -> list[str]:
        shas = [hashlib.sha256(content).hexdigest() for content in contents]
        self.kept |= dict(zip(shas, contents, strict=True))
        return shas


def beginning(one: str, other: str) -> str:
    """That both have."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)

"""File contents in memory, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


class MemoryContents:
    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def read(self, sha256s: Sequence[str]) -> dict[str, bytes]:
        return {sha: self.kept[sha] for sha in sha256s if sha in self.kept}

    def keep(self, contents: Sequence[bytes]) -> list[str]:
        shas = [hashlib.sha256(content).hexdigest() for content in contents]
        self.kept |= dict(zip(shas, contents, strict=True))
        return shas

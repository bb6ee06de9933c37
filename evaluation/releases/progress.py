"""How far the making of a release is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass
class Progress:
    """For whoever looks from another thread."""

    step: str = ""
    done: int = 0
    of: int = 0

    def begin(self, step: str, of: int = 0) -> None:
        self.step, self.done, self.of = step, 0, of

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """The same, counted one after another."""
        for item in items:
            yield item
            self.done += 1

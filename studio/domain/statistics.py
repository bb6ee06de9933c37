"""Benchmark statistics as in the paper's appendix A."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Figures:
    """A persona's row in the paper's Table 2, with further counts."""

    tasks: int = 0
    sessions: int = 0
    """Placed tasks."""
    local: int = 0
    """Session-local intents."""
    persistent: int = 0
    rubric: int = 0
    rule: int = 0
    """Rule items, and the checks of the grader scripts."""
    dependencies: int = 0
    files: int = 0
    tools: int = 0
    """Bound to the persona."""
    skills: int = 0

    @property
    def intents(self) -> int:
        return self.local + self.persistent

    @property
    def items(self) -> int:
        return self.rubric + self.rule

    def per_task(self, name: str) -> str:
        """The mean over tasks with one decimal; a dash if there are no tasks."""
        return f"{getattr(self, name) / self.tasks:.1f}" if self.tasks else "–"

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


def sum_figures(figures: Iterable[Figures]) -> Figures:
    rows = [tuple(vars(row).values()) for row in figures]
    return Figures(*map(sum, zip(*rows, strict=True))) if rows else Figures()

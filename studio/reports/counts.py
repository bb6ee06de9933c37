"""Counts of personas and benchmarks, in a constant number of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from studio.domain.statistics import Figures
from studio.models import (
    Benchmark,
    GraderScript,
    Persona,
    Task,
    TaskState,
)
from studio.reports.statistics import totals_of


@dataclass
class Counts:
    personas: int = 0
    figures: Figures = field(default_factory=Figures)
    uncounted: int = 0
    """Grader scripts in use whose keys are unknown."""
    states: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    """Open ones, by severity."""

    @property
    def approved(self) -> int:
        return self.states[TaskState.APPROVED] + self.states[TaskState.RELEASED]

    @property
    def errors(self) -> int:
        return self.findings["error"]

    @property
    def warnings(self) -> int:
        return self.findings["warning"]


def persona_counts(personas: Iterable[Persona]) -> dict[int, Counts]:
    counts = _counts("persona", [persona.pk for persona in personas])
    _add_scripts(counts, "")
    return counts


def benchmark_counts(benchmarks: Iterable[Benchmark]) -> dict[int, Counts]:
    counts = _counts("benchmark", [benchmark.pk for benchmark in benchmarks])
    _add_scripts(counts, "__benchmark")
    return counts


def _counts(owner: Literal["persona", "benchmark"], keys: Iterable[int]) -> dict[int, Counts]:
    return {
        key: Counts(total.personas, total.figures, 0, total.states, total.findings)
        for key, total in totals_of(owner, keys).items()
    }


def _add_scripts(counts: dict[int, Counts], up: str) -> None:
    """``up``: the path from a persona to the owner of the counts."""
    scripts = GraderScript.objects.filter(**{f"persona{up}__in": counts})
    existing = set()
    for key, persona, path, keys in scripts.values_list(f"persona{up}", "persona", "path", "keys"):
        existing.add((persona, path))
        counts[key].uncounted += keys is None
        counts[key].figures = replace(counts[key].figures, rule=counts[key].figures.rule + len(keys or ()))
    graded = Task.objects.filter(**{f"persona{up}__in": counts}).exclude(grader_path="").order_by()
    of = "persona"
    for key, persona, user_id, path in graded.values_list(f"{of}{up}", of, f"{of}__user_id", "grader_path"):
        relative = path.strip().removeprefix("./").removeprefix(f"data/{user_id}/")
        counts[key].uncounted += (persona, relative) not in existing

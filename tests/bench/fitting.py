"""Fits the models of studio/domain/text/leaks.py and cross-validates them: `python -m tests.bench.fitting`.

Reads development data only. Each task is tested with a model fitted without it, or without its persona, which is the
better estimate for unseen texts. Real tasks have double weight, because our own sentences leak more often.
"""

from __future__ import annotations

import json
import math
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from studio.domain.checks.sources import opening_text
from studio.domain.episode import EpisodeSpec
from studio.domain.text.coverage import coverage
from studio.domain.text.leak_features import LeakFeatures, leak_features
from studio.domain.text.leaks import LONGEST, SAID_WEIGHT, topic_of
from studio.domain.text.prose import without_data
from tests.bench.checks import PERSONAS, ROOT, read
from tests.bench.own import LABELS, own_labels, own_leaks, own_tasks

WHOLLY = ("at_once", "exact", "share", "echo", "letters", "chain", "lead_in", "gap", "facts", "directs")
AT_ALL = ("exact", "share", "echo", "letters", "facts", "directs", "length")
FOLDS = 12
REAL = 2.0
RIDGE = 2.0
"""Penalty on large weights; the fewer the labels, the higher it must be."""
LIMITS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8)


class Pair(NamedTuple):
    degree: str
    features: LeakFeatures | None
    """None: too few shared words to be a leak."""
    task: str
    persona: str
    real: bool


def main() -> int:
    folder = Path(os.environ.get("PIBENCH_DATA") or ROOT.parent / "shared" / "pibench")
    pairs = list(_pairs(folder))
    print(f"{len(pairs)} pairs: " + ", ".join(f"{sum(p.degree == d for p in pairs)} {d}" for d in "WPN"))
    for what, names, wanted in (("wholly", WHOLLY, "W"), ("at all", AT_ALL, "WP")):
        base, weights = fit([pair for pair in pairs if pair.features], names, wanted)
        print(f"\n{what}: {base:.2f}, " + ", ".join(f"{n} {w:.2f}" for n, w in zip(names, weights, strict=True)))
        _print_rates("fitted to the same", pairs, [_chance(pair, names, base, weights) for pair in pairs], wanted)
        for left_out, fold in (("task", _by_task), ("persona", _by_persona)):
            _print_rates(f"without the {left_out}", pairs, _cross_validate(pairs, names, wanted, fold), wanted)
    return 0


def _pairs(folder: Path) -> Iterator[Pair]:
    real = PERSONAS["development"]
    labels = json.loads((LABELS / f"{real}.json").read_text("utf-8"))["intents"]
    yield from _pairs_of(read(folder, real)[0], labels, real)
    for episode in own_tasks("development"):
        yield from _pairs_of(episode, own_labels("development")["intents"], "")
    yield from _pairs_of(*own_leaks(), "")


def _pairs_of(episode: EpisodeSpec, letters: dict[str, str], real: str) -> Iterator[Pair]:
    for task in episode.tasks:
        topic = topic_of((intent.content for intent in task.intents), task.title)
        for degree, intent in zip(letters[task.task_id], task.intents, strict=True):
            demand, text = intent.content[:2_000], without_data(opening_text(task)[:LONGEST])
            covered = coverage(demand, text, topic)
            enough = bool(covered.clauses) and covered.together * covered.weight >= SAID_WEIGHT
            features = leak_features(demand, text, covered) if enough else None
            yield Pair(degree, features, task.task_id, real or task.task_id, bool(real))


def fit(pairs: Sequence[Pair], names: Sequence[str], wanted: str) -> tuple[float, list[float]]:
    """Ridge logistic regression by Newton's method: intercept and weights on the original scale."""
    raw = [[getattr(pair.features, name) for name in names] for pair in pairs]
    means = [sum(column) / len(raw) for column in zip(*raw, strict=True)]
    spans = [
        math.sqrt(sum((value - mean) ** 2 for value in column) / len(raw)) or 1.0
        for column, mean in zip(zip(*raw, strict=True), means, strict=True)
    ]
    rows = [[1.0, *((v - m) / s for v, m, s in zip(row, means, spans, strict=True))] for row in raw]
    size = len(names) + 1
    weights = [0.0] * size
    for _ in range(12):
        slope = [0.0] + [-RIDGE * weight for weight in weights[1:]]
        bend = [[RIDGE * (i == j and i > 0) for j in range(size)] for i in range(size)]
        for pair, row in zip(pairs, rows, strict=True):
            counts = REAL if pair.real else 1.0
            chance = 1 / (1 + math.exp(-sum(w * v for w, v in zip(weights, row, strict=True))))
            pull, spread = counts * ((pair.degree in wanted) - chance), counts * chance * (1 - chance)
            for i, value in enumerate(row):
                slope[i] += pull * value
                for j in range(i + 1):
                    bend[i][j] += spread * value * row[j]
        for i in range(size):
            for j in range(i):
                bend[j][i] = bend[i][j]
        weights = [w + step for w, step in zip(weights, _solve(bend, slope), strict=True)]
    plain = [weight / span for weight, span in zip(weights[1:], spans, strict=True)]
    return weights[0] - sum(weight * mean for weight, mean in zip(plain, means, strict=True)), plain


def _solve(matrix: list[list[float]], wanted: list[float]) -> list[float]:
    rows = [[*row, value] for row, value in zip(matrix, wanted, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda number: abs(rows[number][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for number in range(size):
            if number != column:
                share = rows[number][column] / rows[column][column]
                rows[number] = [a - share * b for a, b in zip(rows[number], rows[column], strict=True)]
    return [row[size] / row[column] for column, row in enumerate(rows)]


def _by_task(pair: Pair) -> int:
    return zlib.crc32(pair.task.encode()) % FOLDS


def _by_persona(pair: Pair) -> int:
    return -1 if pair.real else _by_task(pair)


def _cross_validate(
    pairs: Sequence[Pair], names: Sequence[str], wanted: str, fold: Callable[[Pair], int]
) -> list[float]:
    fitted = {
        number: fit([pair for pair in pairs if pair.features and fold(pair) != number], names, wanted)
        for number in {fold(pair) for pair in pairs}
    }
    return [_chance(pair, names, *fitted[fold(pair)]) for pair in pairs]


def _chance(pair: Pair, names: Sequence[str], base: float, weights: Sequence[float]) -> float:
    if pair.features is None:
        return 0.0
    odds = base + sum(w * getattr(pair.features, name) for name, w in zip(names, weights, strict=True))
    return 1 / (1 + math.exp(-odds))


def _print_rates(how: str, pairs: Sequence[Pair], chances: Sequence[float], wanted: str) -> None:
    for whose, real in (("all", None), ("real", True)):
        rows = [(p.degree in wanted, c) for p, c in zip(pairs, chances, strict=True) if real is None or p.real]
        print(f"  {how:<20} {whose:<5}" + "".join(f"  {limit}: {_rates(rows, limit)}" for limit in LIMITS))


def _rates(rows: Sequence[tuple[bool, float]], limit: float) -> str:
    hits = sum(right and chance >= limit for right, chance in rows)
    reported, wanted = sum(chance >= limit for _, chance in rows), sum(right for right, _ in rows)
    return f"{hits / max(reported, 1):.2f}/{hits / max(wanted, 1):.2f}"


if __name__ == "__main__":
    sys.exit(main())

"""How good the written rules are, and how quick: `make bench-checks` prints precision and recall against labels.

Labels are in tests/data/labels: development data, which rules may be tuned on, and held-out data, which they may
not. Both name sentences by task and position only; the personas themselves have to be beside the checkout, or in the
folder that PIBENCH_DATA names.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from studio.spec.checks import find_problems
from studio.spec.episode import EpisodeSpec
from studio.spec.findings import Finding
from studio.spec.pibench import read_personas
from studio.spec.text.leaks import find_leak

ROOT = Path(__file__).resolve().parents[2]
LABELS = ROOT / "tests" / "data" / "labels"
PERSONAS = {"development": "law_trainee", "held out": "marketer"}
TASK_SECONDS, EPISODE_SECONDS = 0.1, 1.0


class Score(NamedTuple):
    name: str
    wanted: set[Any]
    found: set[Any]

    def __str__(self) -> str:
        hits = len(self.wanted & self.found)
        precision = f"{hits / len(self.found):.2f}" if self.found else "–"
        recall = f"{hits / len(self.wanted):.2f}" if self.wanted else "–"
        return f"  {self.name:<42} {precision:>9} {recall:>7} {len(self.wanted):>8} {len(self.found):>6}"


def main() -> int:
    folder = Path(os.environ.get("PIBENCH_DATA") or ROOT.parent / "shared" / "pibench")
    print(f"  {'rule':<42} {'precision':>9} {'recall':>7} {'labelled':>8} {'found':>6}")
    slow = False
    for what, name in PERSONAS.items():
        if not (folder / name).is_dir():
            print(f"{what}: {name} is not in {folder}; name its folder in PIBENCH_DATA", file=sys.stderr)
            return 2
        episode, texts = read(folder, name)
        start = time.process_time()
        findings = find_problems(episode, texts=texts)
        whole = time.process_time() - start
        start = time.process_time()
        for task in episode.tasks:
            find_problems(episode, task.task_id, texts=texts)
        one = (time.process_time() - start) / len(episode.tasks)
        labels = json.loads((LABELS / f"{name}.json").read_text("utf-8"))
        print(f"{what}: {name}; readings agree with κ {kappa(*labels['readings']):.2f}")
        rows = scores(episode, findings, labels)
        for score in rows:
            print(score)
        measured = {score.name.partition(":")[0] for score in rows}
        others = Counter(each.rule for each in findings if each.rule not in measured)
        print(f"  found without labels: {', '.join(f'{rule} {count}' for rule, count in sorted(others.items()))}")
        print(f"  {len(episode.tasks)} tasks: {whole:.2f} s of a core at first; one after an edit: {one * 1000:.0f} ms")
        slow |= whole > EPISODE_SECONDS or one > TASK_SECONDS
    print("sentences of our own")
    for score in own_scores():
        print(score)
    return int(slow)


def read(folder: Path, name: str) -> tuple[EpisodeSpec, dict[str, str]]:
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / name).rglob("*") if path.is_file()
    }
    reading = read_personas(found)
    texts = {sha256: content.decode("utf-8", "replace") for sha256, content in reading.contents.items()}
    return reading.episodes[0], texts


def scores(episode: EpisodeSpec, findings: Iterable[Finding], labels: Mapping[str, Any]) -> list[Score]:
    findings = list(findings)

    def found(rule: str, *severities: str) -> set[Any]:
        chosen = [each for each in findings if each.rule == rule and (not severities or each.severity in severities)]
        return {(each.task, each.item) for each in chosen}

    degrees = {(task, n): degree for task, row in labels["intents"].items() for n, degree in enumerate(row, 1)}
    bundles = {(task, n) for task, row in labels["requirements"].items() for n, count in enumerate(row, 1) if count > 1}
    exact = _places(labels["exact"])
    pairs = {(task, other) for task, others in labels["undeclared"].items() for other in others}
    calls = [each for each in findings if each.rule == "undeclared-dependency"]
    rows = [
        Score(
            "intent-in-request: wholly (error)",
            {k for k, d in degrees.items() if d == "W"},
            found("intent-in-request", "error"),
        ),
        Score(
            "intent-in-request: wholly or partly",
            {k for k, d in degrees.items() if d != "N"},
            found("intent-in-request"),
        ),
        Score("criterion-not-atomic: warnings", bundles, found("criterion-not-atomic", "warning")),
        Score("criterion-not-atomic: and hints", bundles, found("criterion-not-atomic")),
        Score("criterion-should-be-rule: warnings", exact, found("criterion-should-be-rule", "warning")),
        Score("criterion-should-be-rule: and hints", exact, found("criterion-should-be-rule")),
        Score("undeclared-dependency: tasks", {task for task, _ in pairs}, {each.task for each in calls}),
        Score("undeclared-dependency: pairs", pairs, {(each.task, each.other) for each in calls}),
        Score("undeclared-dependency: declared ones removed", *_removed(episode)),
        Score("intent-bundled", _places(labels["bundled_intents"]), found("intent-bundled")),
        Score("intent-vague", _places(labels["vague_intents"]), found("intent-vague")),
        Score("intent-in-title", _places(labels["titles"]), found("intent-in-title")),
        Score("title-elsewhere", set(labels["foreign_titles"]), {task for task, _ in found("title-elsewhere")}),
        Score(
            "request-benchmark-words", set(labels["benchmark_words"]), {t for t, _ in found("request-benchmark-words")}
        ),
        Score("files-read-input", set(labels["input_files_read"]), {task for task, _ in found("files-read-input")}),
    ]
    rows += [
        Score(f"{rule}: of those read", {tuple(place) for place in judged["hits"]}, found(rule))
        for rule, judged in sorted(labels.get("judged", {}).items())
    ]
    return [row for row in rows if row.wanted or row.found]


def _removed(episode: EpisodeSpec) -> tuple[set[Any], set[Any]]:
    """What the rule finds of the declared dependencies when nobody declares them."""
    wanted = {(task.task_id, dependency.task_id) for task in episode.tasks for dependency in task.depends_on}
    bare = tuple(task.model_copy(update={"depends_on": ()}) for task in episode.tasks)
    findings = find_problems(episode.model_copy(update={"tasks": bare}))
    found = {(each.task, each.other) for each in findings if each.rule == "undeclared-dependency"}
    return wanted, found


def own_scores() -> list[Score]:
    rows = json.loads((LABELS / "own_leaks.json").read_text("utf-8"))
    degrees = {n: degree for n, (degree, _, _) in enumerate(rows)}
    leaks = {n: leak.degree for n, (_, request, intent) in enumerate(rows) if (leak := find_leak(intent, request))}
    return [
        Score(
            "wholly stated",
            {n for n, degree in degrees.items() if degree == "W"},
            {n for n, degree in leaks.items() if degree == "wholly"},
        ),
        Score("wholly or partly stated", {n for n, degree in degrees.items() if degree != "N"}, set(leaks)),
    ]


def kappa(first: Mapping[str, str], second: Mapping[str, str]) -> float:
    """Cohen's κ of two readings of the same intents."""
    one, two = "".join(first.values()), "".join(second.values())
    same = sum(a == b for a, b in zip(one, two, strict=True)) / len(one)
    chance = sum(one.count(degree) * two.count(degree) for degree in "NPW") / len(one) ** 2
    return (same - chance) / (1 - chance)


def _places(labels: Mapping[str, Iterable[int]]) -> set[Any]:
    return {(task, position) for task, positions in labels.items() for position in positions}


if __name__ == "__main__":
    sys.exit(main())

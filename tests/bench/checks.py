"""Precision, recall and speed of the checks: `make bench-checks` compares them with labels.

Labels are in tests/data/labels: development data, on which rules may be tuned, and held-out data, on which they may
not. They name personas by task and position only; the personas have to be beside the checkout, or in the folder named
by PIBENCH_DATA. Arguments choose sets, so that held-out data is used rarely. Exit status 1: something is below its
floor (floors.json) or slow; 2: a persona is missing. What is slow is told by a fixed piece of work
(``reference_seconds``) measured in the same run, since seconds depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annotations.intervals import wilson
from studio.domain.checks import Known, find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.pibench import read_personas
from tests.bench.flaws import own_flaws
from tests.bench.opinions import SecondOpinions
from tests.bench.own import LABELS, own_episodes, own_findings, own_labels, own_leaks, own_tasks
from tests.forgetting import forget_texts

ROOT = Path(__file__).resolve().parents[2]
PERSONAS = {"development": "law_trainee", "held out": "marketer"}
OWN = ("development", "own held out", "second own held out")
FLAWED = ("development", "own held out")
TASK_LIMIT, EPISODE_LIMIT = 1.0, 45.0
"""How many times the processor time of the reference work the checks of a task after an edit, and those of an episode
that was never read, may take."""
TRIES = 3
"""The quickest counts: what else the machine does slows some of them."""
REFERENCE_TEXT = " ".join(f"word{number % 997} {number}" for number in range(15_000))


class Speed(NamedTuple):
    """Processor time: of an episode and of a task as multiples of the reference work, and the three in seconds."""

    episode: float
    task: float
    episode_seconds: float
    task_seconds: float
    reference_seconds: float


class Score(NamedTuple):
    name: str
    wanted: set[Any]
    reported: set[Any]

    @property
    def precision(self) -> float | None:
        return len(self.wanted & self.reported) / len(self.reported) if self.reported else None

    @property
    def recall(self) -> float | None:
        return len(self.wanted & self.reported) / len(self.wanted) if self.wanted else None

    def __str__(self) -> str:
        hits = len(self.wanted & self.reported)
        rates = f"{_rate(hits, len(self.reported))}  {_rate(hits, len(self.wanted))}"
        return f"  {self.name:<44} {rates} {len(self.wanted):>8} {len(self.reported):>6}"


def _rate(hits: int, n: int) -> str:
    if not n:
        return f"{'–':>16}"
    rate = wilson(hits, n)
    return f"{hits / n:.2f} [{rate.low:.2f}–{rate.high:.2f}]"


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="", help="ask this model for second opinions; its address and the variable "
                        "of its key are in STUDIO_BENCH_URL and STUDIO_BENCH_KEY_ENV")  # fmt: skip
    parser.add_argument("sets", nargs="*", help="names of sets; none: all")
    options = parser.parse_args(arguments)
    chosen = options.sets
    asked = SecondOpinions(options.model) if options.model else None
    folder = Path(os.environ.get("PIBENCH_DATA") or ROOT.parent / "shared" / "pibench")
    floors = json.loads((LABELS / "floors.json").read_text("utf-8"))
    print(f"  {'rule':<44} {'precision, 95 %':>16}  {'recall, 95 %':>16} {'labelled':>8} {'found':>6}")
    bad = False
    for set_name, name in PERSONAS.items():
        if chosen and set_name not in chosen:
            continue
        if not (folder / name).is_dir():
            print(f"{set_name}: {name} is not in {folder}; name its folder in PIBENCH_DATA", file=sys.stderr)
            return 2
        episode, texts = read(folder, name)
        findings = find_problems(episode, texts=texts, known=Known(opinions=asked.about([episode])) if asked else None)
        labels = json.loads((LABELS / f"{name}.json").read_text("utf-8"))
        print(f"{set_name}: {name}; readings agree with κ {kappa(*labels['readings']):.2f}")
        rows = scores(findings, labels, episode, texts)
        bad |= _print(rows, floors.get(name, {}))
        measured = {score.name.partition(":")[0] for score in rows}
        others = Counter(each.rule for each in findings if each.rule not in measured)
        print(f"  found without labels: {', '.join(f'{rule} {count}' for rule, count in sorted(others.items()))}")
        bad |= _print_speed(min(measure(episode, texts) for _ in range(TRIES)), len(episode.tasks))
    for set_name in OWN:
        if not chosen or set_name in chosen:
            labels = own_labels(set_name)
            counts = f"{len(own_tasks(set_name))} tasks and {len(own_episodes(set_name))} episodes of our own"
            print(f"{set_name}: {counts}; readings agree with κ {kappa(*labels['readings']):.2f}")
            opinions = asked.about(own_tasks(set_name)) if asked else None
            bad |= _print(scores(own_findings(set_name, opinions), labels), floors.get(f"own, {set_name}", {}))
            if flaws := flaw_scores(set_name):
                print(f"{set_name}: small tasks of our own with one flaw each, and others that only look alike")
                bad |= _print(flaws, floors.get(f"flaws, {set_name}", {}))
    if not chosen or "development" in chosen:
        print("development: sentences of our own")
        bad |= _print(sentence_scores(), floors.get("sentences", {}))
    return int(bad)


def reference_seconds() -> float:
    """Processor time of a fixed piece of work like the checks': words are found, counted and remembered."""
    spent = []
    for _ in range(5):
        start = time.process_time()
        counts = Counter(match[0].casefold() for match in re.finditer(r"[a-z]+|\d+", REFERENCE_TEXT))
        assert sorted(counts, key=lambda word: (-counts[word], word))
        spent.append(time.process_time() - start)
    return statistics.median(spent)


def measure(episode: EpisodeSpec, texts: Mapping[str, str]) -> Speed:
    forget_texts()
    before = reference_seconds()
    start = time.process_time()
    find_problems(episode, texts=texts)
    episode_seconds = time.process_time() - start
    start = time.process_time()
    for task in episode.tasks:
        find_problems(episode, task.task_id, texts=texts)
    task_seconds = (time.process_time() - start) / len(episode.tasks)
    reference = (before + reference_seconds()) / 2
    return Speed(episode_seconds / reference, task_seconds / reference, episode_seconds, task_seconds, reference)


def _print_speed(speed: Speed, tasks: int) -> bool:
    """Whether it is slow."""
    print(
        f"  {tasks} tasks: {speed.episode_seconds:.2f} CPU s in all, {speed.task_seconds * 1000:.0f} ms after an edit;"
        f" {speed.episode:.1f} and {speed.task:.1f} times the reference work ({speed.reference_seconds * 1000:.0f} ms),"
        f" allowed {EPISODE_LIMIT:g} and {TASK_LIMIT:g}"
    )
    return speed.episode > EPISODE_LIMIT or speed.task > TASK_LIMIT


def below(rows: Iterable[Score], floors: Mapping[str, Sequence[float]]) -> list[str]:
    """Scores below their floors, ``[precision, recall]`` by name, and floors without a score."""
    by_name = {row.name: row for row in rows}
    return [
        f"{name}: {what} {value if value is None else round(value, 2)} is below {floor}"
        for name, pair in floors.items()
        for what, floor in zip(("precision", "recall"), pair, strict=True)
        if (value := getattr(by_name.get(name), what, None)) is None or value < floor
    ]


def _print(rows: Sequence[Score], floors: Mapping[str, Sequence[float]]) -> bool:
    for row in rows:
        print(row)
    worse = below(rows, floors)
    for line in worse:
        print(f"  BELOW ITS FLOOR  {line}")
    return bool(worse)


def read(folder: Path, name: str) -> tuple[EpisodeSpec, dict[str, str]]:
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / name).rglob("*") if path.is_file()
    }
    reading = read_personas(files)
    texts = {sha256: content.decode("utf-8", "replace") for sha256, content in reading.contents.items()}
    return reading.episodes[0], texts


def scores(
    findings: Iterable[Finding],
    labels: Mapping[str, Any],
    episode: EpisodeSpec | None = None,
    texts: Mapping[str, str] | None = None,
) -> list[Score]:
    """For every rule with labels; with the ``episode``, also for its declared dependencies."""
    findings = list(findings)

    def reported(rule: str, *severities: str) -> set[Any]:
        chosen = [each for each in findings if each.rule == rule and (not severities or each.severity in severities)]
        return {(each.task, each.item) for each in chosen}

    degrees = {(task, n): degree for task, row in labels["intents"].items() for n, degree in enumerate(row, 1)}
    bundles = {(task, n) for task, row in labels["requirements"].items() for n, count in enumerate(row, 1) if count > 1}
    exact = _positions(labels["exact"])
    pairs = {(task, other) for task, others in labels["undeclared"].items() for other in others}
    calls = [each for each in findings if each.rule == "undeclared-dependency"]
    rows = [
        Score(
            "intent-in-request: wholly (error)",
            {k for k, d in degrees.items() if d == "W"},
            reported("intent-in-request", "error"),
        ),
        Score(
            "intent-in-request: wholly or partly",
            {k for k, d in degrees.items() if d != "N"},
            reported("intent-in-request"),
        ),
        Score("criterion-not-atomic: warnings", bundles, reported("criterion-not-atomic", "warning")),
        Score("criterion-not-atomic: and hints", bundles, reported("criterion-not-atomic")),
        Score("criterion-should-be-rule: warnings", exact, reported("criterion-should-be-rule", "warning")),
        Score("criterion-should-be-rule: and hints", exact, reported("criterion-should-be-rule")),
        Score("undeclared-dependency: tasks", {task for task, _ in pairs}, {each.task for each in calls}),
        Score("undeclared-dependency: pairs", pairs, {(each.task, each.other) for each in calls}),
    ]
    if episode:
        rows.append(Score("undeclared-dependency: declared ones removed", *_undeclare_all(episode, texts or {})))
    rows += [
        Score(rule, _positions(labels[key]), reported(rule))
        for rule, key in (
            ("intent-bundled", "bundled_intents"),
            ("intent-vague", "vague_intents"),
            ("intent-in-title", "titles"),
        )
        if key in labels
    ]
    rows += [
        Score(rule, set(labels[key]), {task for task, _ in reported(rule)})
        for rule, key in (
            ("title-elsewhere", "foreign_titles"),
            ("request-benchmark-words", "benchmark_words"),
            ("files-read-input", "input_files_read"),
        )
        if key in labels
    ]
    rows += [
        Score(f"{rule}: of those read", {tuple(position) for position in judged["hits"]}, reported(rule))
        for rule, judged in sorted(labels.get("judged", {}).items())
    ]
    return [row for row in rows if row.wanted or row.reported]


def _undeclare_all(episode: EpisodeSpec, texts: Mapping[str, str]) -> tuple[set[Any], set[Any]]:
    """Declared dependencies, and those the rule finds if none is declared."""
    wanted = {(task.task_id, dependency.task_id) for task in episode.tasks for dependency in task.depends_on}
    bare = tuple(task.model_copy(update={"depends_on": ()}) for task in episode.tasks)
    findings = find_problems(episode.model_copy(update={"tasks": bare}), texts=texts)
    reported = {(each.task, each.other) for each in findings if each.rule == "undeclared-dependency"}
    return wanted, reported


def flaw_scores(name: str) -> list[Score]:
    """For each rule with cases: whether it reports the flawed ones and no others."""
    cases = own_flaws(name)
    return [
        Score(
            rule,
            {case.number for case in cases if case.rule == rule and case.flawed},
            {case.number for case in cases if case.rule == rule and case.findings},
        )
        for rule in dict.fromkeys(case.rule for case in cases)
    ]


def sentence_scores() -> list[Score]:
    """Only pairs of a request and an intent, because nothing else is labelled in them."""
    episode, letters = own_leaks()
    findings = [each for each in find_problems(episode) if each.rule == "intent-in-request"]
    labels = {"intents": letters, "requirements": {}, "exact": {}, "undeclared": {}}
    return scores(findings, labels)


def kappa(first: Mapping[str, str], second: Mapping[str, str]) -> float:
    """Cohen's κ of two readings of the same intents."""
    first_letters, second_letters = "".join(first.values()), "".join(second.values())
    same = sum(a == b for a, b in zip(first_letters, second_letters, strict=True)) / len(first_letters)
    chance = (
        sum(first_letters.count(degree) * second_letters.count(degree) for degree in "NPW") / len(first_letters) ** 2
    )
    return (same - chance) / (1 - chance)


def _positions(labels: Mapping[str, Iterable[int]]) -> set[Any]:
    return {(task, position) for task, positions in labels.items() for position in positions}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

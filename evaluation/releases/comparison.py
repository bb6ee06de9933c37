"""What became of each task since another release, what that means for comparing scores, and a first text of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluation.models import Erratum, Release
from evaluation.releases.documents.changelog import CLASSES
from evaluation.releases.errata import names_of
from evaluation.releases.pins import Pin, pins_of
from studio.domain.base import JsonDict
from studio.domain.content import SCRIPT, TASK, own_part, parts_of_tasks
from studio.domain.episode import Split
from studio.domain.persona import PersonaSpec
from studio.domain.phrases import count_of
from studio.domain.splits import PUBLISHED
from studio.models import Benchmark, PersonaRevision, Review, Revision, TaskState

ASKED_OF_THE_OUTCOME = ("checklist", "grader_script")
"""Fields of a task that only judges of a finished session see."""


@dataclass(frozen=True)
class _Frozen:
    user_id: str = ""
    documents: Mapping[str, JsonDict] = field(default_factory=dict)
    """``TaskSpec`` as JSON by task id."""
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Changes(NamedTuple):
    """Of a release since an earlier one."""

    since: Release
    tasks: Mapping[str, Sequence[str]]
    """``compare``"""

    @property
    def by_meaning(self) -> list[tuple[str, Sequence[str]]]:
        """What it means for comparing scores, and the tasks of which it is true."""
        return [(meaning, self.tasks[name]) for name, meaning in CLASSES.items() if self.tasks.get(name)]

    @property
    def comparable(self) -> str:
        """What it means for scores of both, as a sentence."""
        counts = {name: len(tasks) for name, tasks in self.tasks.items()}
        if again := counts["rerun"] + counts["added"] + counts["removed"]:
            differing = f"{count_of(again, 'task')} differ{'s' if again == 1 else ''}"
            first = f", after judging earlier sessions of {counts['rejudge']} of them again" * bool(counts["rejudge"])
            return (
                f"Scores of the two are of different tasks: {differing}. "
                f"Compare them on the others, as `pibench compare` does{first}."
            )
        if counts["rejudge"]:
            return "Judge earlier sessions of the changed tasks again; then the scores can be compared."
        return "Scores of the two can be compared as they are."


def changes_since(release: Release, since: Release) -> Changes:
    return Changes(since, compare(pins_of(since), pins_of(release)))


def compare(
    before: Sequence[Pin], after: Sequence[Pin], splits: Collection[Split] = tuple(Split)
) -> dict[str, list[str]]:
    """By name of ``CLASSES``: the tasks of these splits as ``persona/task``, in the order of the personas and by id."""
    old, new = _by_persona(before), _by_persona(after)
    found: dict[str, list[str]] = {name: [] for name in CLASSES}
    for key in (*new, *(key for key in old if key not in new)):
        was, now = _load(old.get(key), splits), _load(new.get(key), splits)
        for task in sorted(was.documents.keys() | now.documents.keys()):
            if name := _class_of(task, was, now):
                found[name].append(f"{now.user_id or was.user_id}/{task}")
    return found


def _class_of(task: str, was: _Frozen, now: _Frozen) -> str:
    """Empty: it is the same."""
    if task not in was.documents or task not in now.documents:
        return "removed" if task in was.documents else "added"
    before, after = was.documents[task], now.documents[task]
    changed = {name for name, _ in was.parts[task].items() ^ now.parts[task].items()}
    if TASK in changed:
        asked = {name: after[name] for name in ASKED_OF_THE_OUTCOME}
        if own_part(before | asked) == own_part(after):
            changed = changed - {TASK} | {SCRIPT}
    if not changed:
        return "" if before == after else "words"
    return "rejudge" if all(name.startswith(SCRIPT) for name in changed) else "rerun"


def _by_persona(pins: Sequence[Pin]) -> dict[int, Pin]:
    return {pin.row: pin for pin in pins}


def _load(pin: Pin | None, splits: Collection[Split]) -> _Frozen:
    if pin is None:
        return _Frozen()
    revision = PersonaRevision.objects.get(pk=pin.persona)
    persona, split_of = PersonaSpec.model_validate(revision.spec), revision.episode.get("splits", {})
    specs = Revision.objects.filter(pk__in=pin.tasks).values_list("spec", flat=True)
    documents = {spec["task_id"]: spec for spec in specs if split_of.get(spec["task_id"], Split.PUBLIC) in splits}
    return _Frozen(persona.user_id, documents, parts_of_tasks(documents.values(), persona))


LONGEST = 15_000
"""Characters of the draft."""


def draft_changes(benchmark: Benchmark) -> str:
    """Of published tasks, by persona and position: notes of new versions, why reviewers asked for them, and mistakes
    that were published. Empty before the first release. Which tasks changed is added to the changelog by itself."""
    last = benchmark.releases.order_by("-pk").only("pk", "version", "created_at").first()
    if last is None:
        return ""
    revisions = Revision.objects.filter(
        task__persona__benchmark=benchmark, task__split__in=PUBLISHED, created_at__gt=last.created_at
    )
    notes = revisions.exclude(task__state=TaskState.RETIRED).order_by(
        "task__persona__position", "task__position", "task", "number"
    )
    said: dict[tuple[str, str], list[str]] = {}
    """By persona and task."""
    for persona, task, note in notes.values_list("task__persona__user_id", "task__task_id", "note"):
        said.setdefault((persona, task), []).append(_line(note))
    reviews = Review.objects.filter(
        revision__task__persona__benchmark=benchmark,
        decision=Review.Decision.CHANGES_REQUESTED,
        created_at__gt=last.created_at,
    ).order_by("pk")
    asked = ("revision__task__persona__user_id", "revision__task__task_id", "text")
    for persona, task, text in reviews.values_list(*asked):
        if (persona, task) in said and text.strip():
            said[persona, task].append(f"A reviewer asked: {_line(text)}")
    own = {key: list(dict.fromkeys(filter(None, lines))) for key, lines in said.items()}
    lines = [f"- {persona}/{task}: {' '.join(texts)}" for (persona, task), texts in own.items() if texts]
    errata = Erratum.objects.filter(release=last).order_by("number")
    published = names_of(last.manifest) if errata else set()
    mended = [
        f"- Erratum {row.number} of {last.version}: {_line(row.text)}"
        for row in errata
        if not row.tasks or published & set(row.tasks)
    ]
    return _fitting([*mended, *lines])


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if not line or line.endswith((".", "!", "?", "…")) else f"{line}."


def _fitting(lines: list[str]) -> str:
    kept: list[str] = []
    room = LONGEST
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return "\n".join([*kept, f"- … and {len(lines) - len(kept)} more"])
        kept.append(line)
    return "\n".join(kept)

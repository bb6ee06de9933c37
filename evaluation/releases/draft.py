"""A first text of what changed, from what people wrote since the last release. It is edited before it is released."""

from __future__ import annotations

from evaluation.models import Erratum
from evaluation.releases.errata import names_of
from studio.domain.splits import PUBLISHED
from studio.models import Benchmark, Review, Revision, TaskState

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

"""Approvals that are outdated: what a task's score depends on has changed since, though its text has not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from studio.domain import content
from studio.domain.app_changes import compare_app_data
from studio.domain.app_data import CLOCK, app_names, read_app
from studio.domain.diff import Difference, FieldChange, compare, line_pieces
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.drafts.authors import authors_of_newest
from studio.models import Blob, Persona, Review, Revision, Task, User
from studio.models.review import STANDING
from studio.models.tasks import OUTDATED
from studio.models.transactions import atomic_with_retry
from studio.review.checklist import ReviewAnswers
from studio.review.workflow import approve
from studio.tasks.transitions import WorkflowError

MOST_TEXT = 200_000
"""Characters of a file that are compared."""


@dataclass(frozen=True)
class PartChange:
    """A part that changed since the approval, and the tasks whose approval it outdates."""

    name: str
    label: str
    changes: Sequence[FieldChange]
    tasks: Sequence[Task]


def outdated_tasks(persona: Persona) -> list[Task]:
    """With their benchmark, in order."""
    rows = Task.objects.filter(OUTDATED, persona=persona)
    return list(rows.select_related("persona__benchmark").order_by("position", "task_id"))


def changed_labels(task: Task) -> list[str]:
    """What changed since a task was approved, in words; empty if its approval holds."""
    return [label_of(name) for name in _changed([task])[task.pk]] if task.outdated else []


def changes_since_approval(tasks: Sequence[Task]) -> list[PartChange]:
    """Of tasks of one persona, each difference once."""
    found: dict[tuple[str, str, str], list[Task]] = {}
    changed = _changed(tasks)
    for task in tasks:
        for name, (was, now) in changed[task.pk].items():
            found.setdefault((name, was, now), []).append(task)
    return [
        PartChange(name, label_of(name), list(_compare(name, was, now, same[0])), same)
        for (name, was, now), same in found.items()
    ]


def may_approve_again(tasks: Sequence[Task], user: User) -> list[Task]:
    """Those of which the user wrote nothing and that they have not approved as they are now."""
    authors = authors_of_newest(tasks)
    given = (
        Review.objects.approvals(reviewer=user, content__in=[task.content for task in tasks])
        .select_related("revision")
        .defer("revision__spec")
    )
    done = {(review.revision.task_id, review.content) for review in given}
    return [task for task in tasks if user.pk not in authors[task.pk] and (task.pk, task.content) not in done]


@atomic_with_retry
def approve_again(
    persona: Persona, contents: Collection[str], *, by: User, text: str = "", answers: ReviewAnswers | None = None
) -> list[Task]:
    """Approve the outdated tasks of the persona whose ``content`` the reviewer has seen. Raises WorkflowError if none
    is left, and where one cannot be approved."""
    tasks = [task for task in may_approve_again(outdated_tasks(persona), by) if task.content in contents]
    if not tasks:
        raise WorkflowError(
            "It was changed again while you were reading, or somebody else has approved it. Look again."
        )
    return [
        approve(task.pk, by=by, version=task.version, content=task.content, text=text, answers=answers)
        for task in tasks
    ]


def label_of(part: str) -> str:
    if part.startswith(content.APP) and (app := part.removeprefix(content.APP)) in app_names():
        return "the clock" if app == CLOCK else f"the app data of {read_app(app, None).title}"
    for prefix, words in (
        (content.SKILL, "the skill {}"),
        (content.SCRIPT, "the grader script {}"),
        (content.APP, "the app data of {}"),
        (content.EARLIER, "the earlier task {}"),
    ):
        if part.startswith(prefix):
            return words.format(part.removeprefix(prefix).removeprefix("scripts/"))
    return LABELS[part]


LABELS = {
    content.TASK: "the task",
    content.PROFILE: "the profile",
    content.TOOLS: "the tools",
    content.SERVER_FILES: "the tool servers",
    content.WEB: "the recorded web pages",
}


def _changed(tasks: Sequence[Task]) -> dict[int, dict[str, tuple[str, str]]]:
    """sha256 by part then and now, by task key. One query."""
    reviews = Review.objects.filter(STANDING, revision__task__in=tasks).select_related("revision")
    approved = {review.revision.task_id: review for review in reviews.defer("revision__spec")}
    changed: dict[int, dict[str, tuple[str, str]]] = {}
    for task in tasks:
        then = approved[task.pk].parts if task.pk in approved else task.parts
        differing = content.changed_parts(then, task.parts)
        changed[task.pk] = {name: (then.get(name, ""), now) for name, now in differing.items()}
    return changed


def _compare(name: str, was: str, now: str, task: Task) -> Iterator[FieldChange]:
    if name.startswith(content.SCRIPT):
        yield _file_change("", was, now)
    elif name.startswith(content.APP):
        stored = Blob.objects.read([sha256 for sha256 in (was, now) if sha256])
        yield from compare_app_data(name.removeprefix(content.APP), stored.get(was, b""), stored.get(now, b""))
    elif name.startswith(content.EARLIER):
        yield from _earlier_changes(task, name.removeprefix(content.EARLIER), was)
    else:
        persona = task.persona
        last = persona.revisions.filter(changed__contains={name: was}).first() if was else None
        old = PersonaSpec.model_validate(last.spec) if last else PersonaSpec(user_id=persona.user_id)
        yield from _persona_changes(name, old, PersonaSpec.model_validate(persona.spec))


def _persona_changes(name: str, old: PersonaSpec, new: PersonaSpec) -> Iterator[FieldChange]:
    if name in (content.PROFILE, content.TOOLS):
        fields = content.PROFILE_FIELDS if name == content.PROFILE else ("tools",)
        yield from (change for change in compare(old, new) if change.field in fields)
        return
    before, after = ({file.path: file.sha256 for file in content.files_of(name, spec)} for spec in (old, new))
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            yield _file_change(path, before.get(path, ""), after.get(path, ""))


def _earlier_changes(task: Task, earlier: str, was: str) -> Iterator[FieldChange]:
    rows = Revision.objects.filter(task__persona=task.persona_id, task__task_id=earlier).order_by("-number")
    specs = [row.spec for row in rows]
    old = next((spec for spec in specs if content.own_part(spec) == was), None)
    if specs and old:
        yield from compare(TaskSpec.model_validate(old), TaskSpec.model_validate(specs[0]))


def _file_change(path: str, was: str, now: str) -> FieldChange:
    contents = Blob.objects.read([sha256 for sha256 in (was, now) if sha256])
    old, new = (contents.get(sha256, b"").decode("utf-8", "replace") for sha256 in (was, now))
    shown = Difference("", line_pieces(old[:MOST_TEXT], new[:MOST_TEXT]))
    if old[:MOST_TEXT] != new[:MOST_TEXT] and old[MOST_TEXT:] == new[MOST_TEXT:]:
        return FieldChange(path, path, [shown])
    more = "It changes in what is not shown here too: bytes that are no text, or what comes after its first 200,000 "
    return FieldChange(path, path, [shown, Difference("", (("new", f"{more}characters."),))])

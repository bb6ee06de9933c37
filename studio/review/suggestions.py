"""Applying suggestions as new versions. If the text has changed since, a person resolves the conflict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone

from studio.domain.anchors import FieldKey, quotable_texts, replace_text
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task, lock
from studio.models import Comment, Revision, Task, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify
from studio.review.comments import normalize_text
from studio.review.threads import anchor_of, original_texts
from studio.tasks.save import save_rebased
from studio.tasks.transitions import WorkflowError
from studio.tasks.versions import spec_at


class SuggestionOutdatedError(ValueError):
    """The text that a suggestion would replace has changed since it was seen."""


@dataclass(frozen=True)
class Applied:
    revision: Revision | None
    """The new version; None if nothing could be applied."""
    unresolved: list[Comment]
    """Suggestions for text that has changed since."""


@atomic_with_retry
def apply(task_id: int, keys: Sequence[int], *, by: User) -> Applied:
    """Apply these suggestions to the newest version, as one new version; return those as ``unresolved`` whose text has
    changed since. Raises WorkflowError unless all are unapplied suggestions of this task."""
    task = lock(task_id)
    rows = _suggestions(task, keys)
    spec = load_task(task)
    texts = quotable_texts(spec.to_json())
    originals = original_texts(rows)
    edits: dict[FieldKey, list[tuple[int, int, Comment]]] = {}
    unresolved = []
    for row in rows:
        key, span = _target(row, texts, originals)
        if span is None:
            unresolved.append(row)
        else:
            edits.setdefault(key, []).append((*span, row))
    applied = []
    for key, changes in edits.items():
        text, next_start = texts[key], len(texts[key]) + 1
        for start, end, row in sorted(changes, key=lambda change: change[:2], reverse=True):
            if end > next_start:
                raise WorkflowError("Two of these change the same text. Apply one, then review the other.")
            text, next_start = text[:start] + (row.suggestion or "") + text[end:], start
            applied.append(row)
        spec = replace_text(spec, key, text)
    if not applied:
        return Applied(None, unresolved)
    return Applied(_save(task, spec, applied, by), unresolved)


@dataclass(frozen=True)
class SuggestionConflict:
    """The three texts, of the whole field or row, of a suggestion whose target has changed since."""

    original: str
    current: str | None
    """None: the row is gone."""
    suggested: str
    version: int


def conflict_of(suggestion: Comment) -> SuggestionConflict:
    task = Task.objects.get(pk=suggestion.task_id)
    texts = quotable_texts(load_task(task).to_json())
    originals = original_texts([suggestion])
    anchor = anchor_of(suggestion, texts, originals)
    field_key = (anchor.field, anchor.row)
    original = originals.get(suggestion.revision_id or 0, {}).get(
        (suggestion.field, str(suggestion.item_uid or "")), suggestion.quote
    )
    base, span = original, (suggestion.start, suggestion.start + len(suggestion.quote))
    if anchor.span and field_key in texts:
        base, span = texts[field_key], (anchor.span.start, anchor.span.end)
    suggested = base[: span[0]] + (suggestion.suggestion or "") + base[span[1] :]
    return SuggestionConflict(original, texts.get(field_key), suggested, task.version)


@atomic_with_retry
def apply_resolved(task_id: int, key: int, text: str, *, by: User, version: int) -> Revision:
    """Apply a suggestion with the ``text`` a person chose for the whole field or row, based on the ``version`` they
    saw. Raises SuggestionOutdatedError if that text has changed since, WorkflowError if the row is gone."""
    task = lock(task_id)
    [row] = _suggestions(task, [key])
    seen = spec_at(task, version)
    texts = quotable_texts(seen.to_json())
    anchor = anchor_of(row, texts, original_texts([row]))
    if (anchor.field, anchor.row) not in texts:
        raise WorkflowError("The row no longer exists. Copy the text to where it belongs.")
    if quotable_texts(load_task(task).to_json()).get((anchor.field, anchor.row)) != texts[anchor.field, anchor.row]:
        raise SuggestionOutdatedError("Someone has changed this text since you saw it.")
    return _save(
        task, replace_text(seen, (anchor.field, anchor.row), normalize_text(text, strip=False)), [row], by, version
    )


def _save(task: Task, spec: TaskSpec, applied: Sequence[Comment], by: User, version: int | None = None) -> Revision:
    names = ", ".join(dict.fromkeys(str(row.author) for row in applied))
    subject = "a suggestion" if len(applied) == 1 else f"{len(applied)} suggestions"
    note = f"Applied {subject} by {names}."[:300]
    saved = save_rebased(task.pk, spec, by=by, base_version=version or task.version, note=note)
    now, changed = timezone.now(), saved.number != task.version
    for row in applied:
        row.applied_in, row.applied_by = (saved, by) if changed else (None, None)
        row.resolved_at, row.resolved_by = now, by
    Comment.objects.bulk_update(applied, ["applied_in", "applied_by", "resolved_at", "resolved_by"])
    if changed:
        notify.notify_of_applied_suggestions(task, applied, saved, by=by)
    return saved


def _suggestions(task: Task, keys: Sequence[int]) -> list[Comment]:
    rows = list(
        task.comments.select_related("author")
        .filter(pk__in=keys, suggestion__isnull=False)
        .order_by("created_at", "pk")
    )
    if not rows or len(rows) < len(set(keys)):
        raise WorkflowError("This suggestion no longer exists.")
    for row in rows:
        if row.applied_in_id:
            raise WorkflowError("This suggestion has already been applied.")
    return rows


def _target(
    row: Comment, texts: Mapping[FieldKey, str], originals: Mapping[int, Mapping[FieldKey, str]]
) -> tuple[FieldKey, tuple[int, int] | None]:
    anchor = anchor_of(row, texts, originals)
    key = (anchor.field, anchor.row)
    if key not in texts:
        return key, None
    if not row.quote:
        return key, (0, 0) if not texts[key] else None
    if anchor.span is None or anchor.state != "here":
        return key, None
    return key, (anchor.span.start, anchor.span.end)

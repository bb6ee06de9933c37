"""Comment threads of a task, each located in the text as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Q

from studio.domain.anchors import ROW_TEXTS, Anchor, FieldKey, Quote, locate, quotable_texts
from studio.domain.diff import FIELD_LABELS, Piece, word_pieces
from studio.domain.task import TaskSpec
from studio.models import Comment, Revision, Task

COMMENTABLE_FIELDS = [name for name in TaskSpec.model_fields if name not in ("source", "user_id", "environment_id")]
"""In the order of the page."""
NOWHERE = Anchor("", "")


@dataclass
class Thread:
    """A comment with its replies, located in the task as shown."""

    root: Comment
    replies: list[Comment] = field(default_factory=list)
    location: Anchor = NOWHERE
    number: int | None = None
    """1-based number of its row; None without a row, or if the row is gone."""
    current_quote: str = ""
    """The quoted text as it reads now."""
    change: tuple[Piece, ...] = ()
    """Of a suggestion: diff from the quoted text to the suggested text."""

    @property
    def open(self) -> bool:
        return self.root.resolved_at is None

    @property
    def input_name(self) -> str:
        field, row = self.location.field, self.location.row
        return f"{field}.{row}.{ROW_TEXTS[field]}" if row and field in ROW_TEXTS else field

    @property
    def target(self) -> str:
        field = self.location.field
        if field in ROW_TEXTS and self.root.item_uid:
            row = "intent" if field == "intents" else "item"
            return f"{row} {self.number}" if self.number else f"an {row}" + (" that was removed" if self.gone else "")
        return FIELD_LABELS.get(field, field.replace("_", " ")) if field else "the task"

    @property
    def gone(self) -> bool:
        return self.location.state == "gone"

    @property
    def edited(self) -> bool:
        return self.location.state == "changed"

    @classmethod
    def as_created(cls, root: Comment) -> Thread:
        """Located where the comment was made, without following later edits."""
        return cls(root, location=_original_location(root))

    @property
    def can_be_applied(self) -> bool:
        return self.open and self.root.suggestion is not None and self.root.applied_in_id is None


def threads_of(task: Task, texts: Mapping[FieldKey, str], *, root: int | None = None) -> list[Thread]:
    """Threads in the order of the page, resolved ones last. Three queries. ``texts``: of the task as shown, which may
    include unsaved changes. ``root``: only this one's."""
    rows = Comment.objects.filter(task=task).order_by("created_at", "pk")
    if root is not None:
        rows = rows.filter(Q(pk=root) | Q(reply_to=root))
    related = rows.select_related("author", "resolved_by", "revision", "applied_in", "applied_by")
    threads: dict[int, Thread] = {}
    for row in related.defer("revision__spec", "applied_in__spec"):
        row.task = task
        if row.reply_to_id is None:
            threads[row.pk] = Thread(row)
        elif row.reply_to_id in threads and not row.deleted_at:
            threads[row.reply_to_id].replies.append(row)
    visible = [thread for thread in threads.values() if not thread.root.deleted_at or thread.replies]
    originals = original_texts(thread.root for thread in visible if thread.open)
    numbers = _row_numbers(texts)
    for thread in visible:
        row = thread.root
        location = thread.location = anchor_of(row, texts, originals) if thread.open else _original_location(row)
        thread.number = numbers.get((location.field, location.row))
        if location.span:
            thread.current_quote = texts[location.field, location.row][location.span.start : location.span.end]
        if row.suggestion is not None:
            thread.change = word_pieces(row.quote, row.suggestion)
    return sorted(visible, key=_order)


def anchor_of(
    comment: Comment, texts: Mapping[FieldKey, str], originals: Mapping[int, Mapping[FieldKey, str]]
) -> Anchor:
    key = (comment.field, str(comment.item_uid or ""))
    return locate(key, _quote(comment), texts, originals.get(comment.revision_id or 0, {}))


def original_texts(roots: Iterable[Comment]) -> dict[int, dict[FieldKey, str]]:
    keys = {root.revision_id for root in roots if root.revision_id and (root.quote or root.item_uid)}
    if not keys:
        return {}
    return {key: quotable_texts(spec) for key, spec in Revision.objects.filter(pk__in=keys).values_list("pk", "spec")}


def _original_location(root: Comment) -> Anchor:
    return Anchor(root.field, str(root.item_uid or ""))


def _quote(row: Comment) -> Quote | None:
    return Quote(row.quote, row.before, row.after, row.start) if row.quote else None


def _row_numbers(texts: Iterable[FieldKey]) -> dict[FieldKey, int]:
    numbers: dict[FieldKey, int] = {}
    for name in ROW_TEXTS:
        rows = [key for key in texts if key[0] == name]
        numbers |= {key: number for number, key in enumerate(rows, 1)}
    return numbers


def _order(thread: Thread) -> tuple[bool, bool, int, int, int, int]:
    location = thread.location
    return (
        not thread.open,
        location.state == "gone",
        COMMENTABLE_FIELDS.index(location.field) + 1 if location.field in COMMENTABLE_FIELDS else 0,
        thread.number or 0,
        location.span.start if location.span else -1,
        thread.root.pk,
    )

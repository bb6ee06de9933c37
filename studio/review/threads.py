"""The talk about a task as it is shown: remarks with their answers, each where it stands now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from studio.domain.anchors import ROW_TEXTS, Anchor, FieldKey, Quote, locate, quotable_texts
from studio.domain.changes import FIELD_LABELS
from studio.domain.diff import Piece, word_pieces
from studio.domain.task import TaskSpec
from studio.models import Comment, Revision, Task

TALKED_OF = [name for name in TaskSpec.model_fields if name not in ("source", "user_id", "environment_id")]
"""Fields a remark can be about, in the order of the page."""
NOWHERE = Anchor("", "")


@dataclass
class Thread:
    """A remark with its answers, and where it stands in the task as it is shown now."""

    root: Comment
    answers: list[Comment] = field(default_factory=list)
    place: Anchor = NOWHERE
    number: int | None = None
    """Place of its row in the list, from 1; None if it is about no row, or the row is gone."""
    words_now: str = ""
    change: tuple[Piece, ...] = ()
    """Of a suggestion: from the words to what it would make of them."""

    @property
    def open(self) -> bool:
        return self.root.resolved_at is None

    @property
    def input(self) -> str:
        """Name of the editor's input in which its words stand."""
        inner = ROW_TEXTS.get(self.place.field)
        return f"{self.place.field}.{self.place.row}.{inner}" if inner and self.place.row else self.place.field

    @property
    def name(self) -> str:
        """The place in words."""
        field = self.place.field
        if field in ROW_TEXTS and self.root.item_uid:
            one = "intent" if field == "intents" else "item"
            return f"{one} {self.number}" if self.number else f"an {one}" + (" that was removed" if self.gone else "")
        return FIELD_LABELS.get(field, field.replace("_", " ")) if field else "the task"

    @property
    def gone(self) -> bool:
        return self.place.state == "gone"

    @property
    def edited(self) -> bool:
        """Whether the words themselves were edited since."""
        return self.place.state == "changed"

    @classmethod
    def as_made(cls, root: Comment) -> Thread:
        """Where it was made, without a look at what became of the place."""
        return cls(root, place=Anchor(root.field, str(root.item_uid or "")))

    @property
    def can_be_applied(self) -> bool:
        return self.open and self.root.suggestion is not None and self.root.applied_in_id is None


def threads_of(task: Task, texts: Mapping[FieldKey, str]) -> list[Thread]:
    """The talk about a task in the order of the page, settled ones last; three queries, however much was said.

    ``texts`` are those of the task as it is shown, which may be more than the newest version says.
    """
    rows = task.comments.select_related("author", "resolved_by", "revision", "applied_in", "applied_by").defer(
        "revision__spec", "applied_in__spec"
    )
    threads: dict[int, Thread] = {}
    for row in rows.order_by("created_at", "pk"):
        row.task = task
        if row.reply_to_id is None:
            threads[row.pk] = Thread(row)
        elif row.reply_to_id in threads and not row.deleted_at:
            threads[row.reply_to_id].answers.append(row)
    told = [thread for thread in threads.values() if not thread.root.deleted_at or thread.answers]
    origins = origins_of(thread.root for thread in told if thread.open)
    numbers = _numbers(texts)
    for thread in told:
        root = thread.root
        thread.place = place_of(root, texts, origins) if thread.open else Anchor(root.field, str(root.item_uid or ""))
        thread.number = numbers.get((thread.place.field, thread.place.row))
        if span := thread.place.span:
            thread.words_now = texts[(thread.place.field, thread.place.row)][span.start : span.end]
        if root.suggestion is not None:
            thread.change = word_pieces(root.words, root.suggestion)
    return sorted(told, key=_order)


def place_of(row: Comment, texts: Mapping[FieldKey, str], origins: Mapping[int, Mapping[FieldKey, str]]) -> Anchor:
    """Where a remark stands in these texts."""
    where = (row.field, str(row.item_uid or ""))
    return locate(where, _quote(row), texts, origins.get(row.revision_id or 0, {}))


def origins_of(roots: Iterable[Comment]) -> dict[int, dict[FieldKey, str]]:
    """The texts of the versions that remarks were made on, by the version's key."""
    keys = {root.revision_id for root in roots if root.revision_id and (root.words or root.item_uid)}
    if not keys:
        return {}
    return {key: quotable_texts(spec) for key, spec in Revision.objects.filter(pk__in=keys).values_list("pk", "spec")}


def _quote(row: Comment) -> Quote | None:
    return Quote(row.words, row.before, row.after, row.start) if row.words else None


def _numbers(texts: Iterable[FieldKey]) -> dict[FieldKey, int]:
    numbers: dict[FieldKey, int] = {}
    for name in ROW_TEXTS:
        rows = [where for where in texts if where[0] == name]
        numbers |= {where: number for number, where in enumerate(rows, 1)}
    return numbers


def _order(thread: Thread) -> tuple[bool, bool, int, int, int, int]:
    here = thread.place
    return (
        not thread.open,
        here.state == "gone",
        TALKED_OF.index(here.field) + 1 if here.field in TALKED_OF else 0,
        thread.number or 0,
        here.span.start if here.span else -1,
        thread.root.pk,
    )

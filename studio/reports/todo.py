"""What waits for somebody. Authoring knows its own; the apps above register what they know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from django.db.models import Count, QuerySet, Window

from studio.models import Benchmark, Task, User
from studio.reports import counts

SHOWN = 6
"""Of one kind; the others are counted."""
ALL = 200
"""Of one kind, where somebody asks for all of it."""
SEEN = (
    *("task_id", "title", "state", "episode__persona__name", "episode__persona__user_id"),
    *("episode__persona__benchmark__name", "episode__persona__benchmark__slug"),
)
"""What an item shows of a task."""


@dataclass(frozen=True)
class Item:
    """One thing to do: where, and in a few words what about it."""

    title: str
    address: str
    where: str = ""
    """Which benchmark and persona."""
    state: str = ""
    """A key of ``studio.models.statuses``."""
    says: str = ""


@dataclass(frozen=True)
class Group:
    """Things of one kind, the most urgent first."""

    key: str
    title: str
    items: tuple[Item, ...] = field(default=())
    count: int = 0
    """All there are, of which ``items`` are some."""

    @property
    def more(self) -> int:
        return self.count - len(self.items)


Source = Callable[[User, QuerySet[Benchmark], int], list[Group]]
"""What waits for a person in these benchmarks, at most so many of a kind. Its number of queries does not depend on how
much it is."""

_sources: dict[str, Source] = {}


def register(name: str, source: Source) -> None:
    """Ask another app, too. Called when it is ready."""
    _sources[name] = source


def waiting_for(user: User, benchmarks: QuerySet[Benchmark], *, most: int = SHOWN) -> list[Group]:
    """Everything that waits for the person, kind by kind; kinds without anything are left out."""
    groups = [
        _group("sent-back", "Changes asked of you", counts.sent_back(user, benchmarks), most),
        _group("reviews", "To review", counts.waiting_for(user, benchmarks), most),
        *(group for source in _sources.values() for group in source(user, benchmarks, most)),
        _group("drafts", "Your drafts", counts.drafts_of(user, benchmarks).exclude(state="changes_requested"), most),
    ]
    return [group for group in groups if group.count]


def _group(key: str, title: str, tasks: QuerySet[Task], most: int) -> Group:
    """With the number of all of them, asked for in the same query."""
    rows = list(tasks.only(*SEEN).annotate(there_are=Window(Count("pk")))[:most])
    return Group(key, title, tuple(_item(task) for task in rows), rows[0].there_are if rows else 0)


def _item(task: Task) -> Item:
    persona = task.episode.persona
    says = "you are asked" if getattr(task, "mine", False) else ""
    return Item(str(task), task.get_absolute_url(), f"{persona.benchmark} · {persona}", task.state, says)

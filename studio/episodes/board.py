"""The episode board: a persona's sessions in order, their groups, and the arcs of what builds on what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from studio.domain import task as task_spec
from studio.domain.arrangement import Arrangement
from studio.domain.dependencies import connected_components
from studio.domain.plan import Gap, PlacedTask, find_gaps, shape_of_tasks
from studio.episodes import arcs
from studio.models import Dependency, DependencyGroup, Persona, Task
from studio.reports.counts import tasks_with_counts

COLOURS = 8


@dataclass
class Carry:
    """What one session takes over from another, as it is written on their arc."""

    other: Task
    words: str
    """What the author wrote of these two; empty: nothing."""
    group_words: str = ""
    """What their group carries over, where both are in one."""

    @property
    def shown(self) -> str:
        return self.words or self.group_words


@dataclass
class Card:
    """One session on the board."""

    task: Task
    number: int | None
    group: str = ""
    """Letter and, where the author gave one, name of what it hangs together with."""
    colour: int = 0
    letter: str = ""
    needs: list[Carry] = field(default_factory=list)
    """Earlier sessions it builds on."""
    feeds: list[Carry] = field(default_factory=list)
    arrivals: list[tuple[Carry, arcs.Slot]] = field(default_factory=list)
    beside: arcs.Slot = field(default_factory=arcs.Slot)
    """The piece of the arcs left of the card itself."""


@dataclass
class Group:
    """What hangs together: tasks of a named group, or of none, through what they build on."""

    letter: str
    colour: int
    name: str
    words: str
    cards: list[Card]

    def __str__(self) -> str:
        return f"{self.letter} · {self.name}" if self.name else self.letter


@dataclass
class Board:
    cards: list[Card]
    unplaced: list[Card]
    groups: list[Group]
    alone: int
    seen: str
    """Digest of the arrangement that is shown."""
    gaps: list[Gap]
    """Where the episode departs from the benchmark's plan; first what more sessions alone do not mend."""

    @property
    def has_arcs(self) -> bool:
        return any(card.arrivals for card in self.cards)

    @property
    def names(self) -> list[str]:
        """Of the groups that have one."""
        return list(dict.fromkeys(
            card.task.group.name for card in (*self.cards, *self.unplaced) if card.task.group and card.task.group.name
        ))  # fmt: skip

    def card(self, pk: int) -> Card | None:
        return next((card for card in (*self.cards, *self.unplaced) if card.task.pk == pk), None)

    def neighbours(self, card: Card) -> tuple[Card | None, Card | None]:
        cards = [*self.cards, *self.unplaced]
        place = cards.index(card)
        return (cards[place - 1] if place else None, cards[place + 1] if place + 1 < len(cards) else None)


def board_of(persona: Persona) -> Board:
    """The whole board, in a number of queries that does not depend on its length."""
    tasks = list(
        tasks_with_counts(Task.objects.filter(episode__persona=persona))
        .select_related("group", "episode__persona__benchmark")
        .order_by("position", "task_id")
    )
    by_key = {task.pk: task for task in tasks}
    placed = [task for task in tasks if task.position is not None]
    cards = {task.pk: Card(task, place) for place, task in enumerate(placed, 1)}
    for task in tasks:
        cards.setdefault(task.pk, Card(task, None))
    links: list[tuple[int, int, str]] = list(
        Dependency.objects.filter(task__episode__persona=persona)
        .order_by("task__position", "position")
        .values_list("requires_id", "task_id", "carries_over")
    )
    for earlier, later, words in links:
        one, two = by_key[earlier], by_key[later]
        shared = two.group.carries_over if two.group and two.group_id == one.group_id else ""
        cards[later].needs.append(Carry(one, words, shared))
        cards[earlier].feeds.append(Carry(two, words, shared))
    groups = _groups(cards, placed, [(earlier, later) for earlier, later, _ in links])
    ordered = [cards[task.pk] for task in placed]
    _draw(ordered)
    return Board(
        cards=ordered,
        unplaced=[cards[task.pk] for task in tasks if task.position is None],
        groups=groups,
        alone=sum(not card.group for card in ordered),
        seen=_arrangement(tasks, placed, links).digest(),
        gaps=_gaps(persona, placed, links),
    )


def _gaps(persona: Persona, placed: Sequence[Task], links: Sequence[tuple[int, int, str]]) -> list[Gap]:
    needs: dict[int, list[str]] = {task.pk: [] for task in placed}
    for earlier, later, _ in links:
        needs[later].append(str(earlier))
    found = shape_of_tasks(
        PlacedTask(str(task.pk), tuple(needs[task.pk]), task.group.name.strip() if task.group else "",
              task.trigger_kind != "user_message")
        for task in placed
    )  # fmt: skip
    return sorted(find_gaps(found, persona.benchmark.plan), key=lambda gap: gap.unfinished)


def _arrangement(tasks: Sequence[Task], placed: Sequence[Task], links: Sequence[tuple[int, int, str]]) -> Arrangement:
    """What ``drafts`` would load, from the rows that are here already."""
    ids = {task.pk: task.task_id for task in tasks}
    needs: dict[str, tuple[task_spec.Dependency, ...]] = dict.fromkeys(ids.values(), ())
    for earlier, later, words in links:
        needs[ids[later]] += (task_spec.Dependency(task_id=ids[earlier], carries_over=words),)
    groups: dict[str, DependencyGroup] = {task.group.name: task.group for task in tasks if task.group}
    return Arrangement(
        order=tuple(task.task_id for task in placed),
        groups={task.task_id: task.group.name if task.group else "" for task in tasks},
        dependencies=needs,
        group_notes={name: group.carries_over for name, group in groups.items()},
    )


def _groups(cards: dict[int, Card], placed: list[Task], links: list[tuple[int, int]]) -> list[Group]:
    """Name and colour what hangs together through dependencies or a group of the author's."""
    first: dict[int, int] = {}
    shared = [(first.setdefault(task.group_id, task.pk), task.pk) for task in placed if task.group_id is not None]
    there = {task.pk for task in placed}
    groups: list[Group] = []
    for part in connected_components(list(cards), [*links, *shared]):
        own = [cards[key] for key in part if key in there]
        named = next((card.task.group for card in own if card.task.group and card.task.group.name), None)
        if len(own) < 2 and not named:
            continue
        group = Group(
            letter=_letter(len(groups)),
            colour=len(groups) % COLOURS + 1,
            name=named.name if named else "",
            words=named.carries_over if named else "",
            cards=own,
        )
        groups.append(group)
        for card in own:
            card.letter, card.group, card.colour = group.letter, str(group), group.colour
    return groups


def _draw(cards: Sequence[Card]) -> None:
    """Give every card its piece of the arcs."""
    places = {card.task.pk: place for place, card in enumerate(cards)}
    drawn = arcs.draw(
        [[places[need.other.pk] for need in card.needs if need.other.pk in places] for card in cards],
        [card.colour for card in cards],
    )
    for card, (arrivals, beside) in zip(cards, drawn, strict=True):
        card.arrivals = list(zip([need for need in card.needs if need.other.pk in places], arrivals, strict=True))
        card.beside = beside


def _letter(number: int) -> str:
    return chr(65 + number) if number < 26 else _letter(number // 26 - 1) + chr(65 + number % 26)

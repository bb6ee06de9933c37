"""The episode board: a persona's sessions in order, and the arcs of what builds on what."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.models import Dependency, Persona, Task
from studio.queries import tasks_with_counts

ROW = 48
"""Height of a card in pixels; the style sheet has the same number."""
WIDTH = 64
COLOURS = 8


@dataclass
class Arc:
    """A dependency drawn as a bracket left of the cards."""

    path: str
    colour: int
    words: str
    head: str
    tasks: tuple[int, int]


@dataclass
class Card:
    """One session on the board."""

    task: Task
    number: int | None
    group: str = ""
    """Letter and, where the author gave one, name of its dependency group."""
    colour: int = 0
    letter: str = ""
    needs: list[tuple[Task, str]] = field(default_factory=list)
    """Earlier sessions it builds on, with what carries over."""
    feeds: list[tuple[Task, str]] = field(default_factory=list)


@dataclass
class Board:
    cards: list[Card]
    unplaced: list[Card]
    arcs: list[Arc]
    groups: list[tuple[str, int]]
    alone: int

    @property
    def height(self) -> int:
        return ROW * len(self.cards)

    @property
    def width(self) -> int:
        return WIDTH

    def card(self, pk: int) -> Card | None:
        return next((card for card in (*self.cards, *self.unplaced) if card.task.pk == pk), None)


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
        cards[later].needs.append((by_key[earlier], words))
        cards[earlier].feeds.append((by_key[later], words))
    groups = _colour(cards, placed, [(earlier, later) for earlier, later, _ in links])
    return Board(
        cards=[cards[task.pk] for task in placed],
        unplaced=[cards[task.pk] for task in tasks if task.position is None],
        arcs=_arcs(cards, links),
        groups=groups,
        alone=sum(not cards[task.pk].group for task in placed),
    )


def _colour(cards: dict[int, Card], placed: list[Task], links: list[tuple[int, int]]) -> list[tuple[str, int]]:
    """Name and colour what hangs together through dependencies or a group of the author's."""
    home = {key: key for key in cards}

    def root(key: int) -> int:
        while home[key] != key:
            home[key] = home[home[key]]
            key = home[key]
        return key

    for earlier, later in links:
        home[root(later)] = root(earlier)
    first: dict[int, int] = {}
    for task in placed:
        if task.group_id is not None:
            home[root(task.pk)] = root(first.setdefault(task.group_id, task.pk))
    members: dict[int, list[Card]] = {}
    for task in placed:
        members.setdefault(root(task.pk), []).append(cards[task.pk])
    groups: list[tuple[str, int]] = []
    for group in members.values():
        name = next((card.task.group.name for card in group if card.task.group and card.task.group.name), "")
        if len(group) == 1 and not name:
            continue
        letter = _letter(len(groups))
        colour = len(groups) % COLOURS + 1
        groups.append((f"{letter} · {name}" if name else letter, colour))
        for card in group:
            card.letter = letter
            card.group, card.colour = (f"{letter} · {name}" if name else letter), colour
    return groups


def _letter(number: int) -> str:
    return chr(65 + number) if number < 26 else _letter(number // 26 - 1) + chr(65 + number % 26)


def _arcs(cards: dict[int, Card], links: list[tuple[int, int, str]]) -> list[Arc]:
    """Short arcs lie close to the cards, long ones outside; no two share a lane over the same rows."""
    places = {key: card.number for key, card in cards.items() if card.number is not None}
    spans = sorted(
        ((places[b] - places[a], places[a], a, b, words) for a, b, words in links if a in places and b in places),
        key=lambda span: span[:2],
    )
    lanes: list[list[tuple[int, int]]] = []
    arcs = []
    for length, start, a, b, words in spans:
        stop = start + length
        lane = next((n for n, taken in enumerate(lanes) if all(stop <= s or start >= e for s, e in taken)), len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((start, stop))
        x = max(4, WIDTH - 14 - 8 * lane)
        top, end = (start - 1) * ROW + ROW // 2 + 5, (stop - 1) * ROW + ROW // 2 - 5
        arcs.append(
            Arc(
                path=f"M{WIDTH - 2} {top}H{x + 6}q-6 0 -6 6V{end - 6}q0 6 6 6H{WIDTH - 4}",
                head=f"M{WIDTH - 9} {end - 4}L{WIDTH - 3} {end}L{WIDTH - 9} {end + 4}",
                colour=cards[b].colour,
                words=f"{start:02d} → {stop:02d}" + (f": {words}" if words else ""),
                tasks=(a, b),
            )
        )
    return arcs

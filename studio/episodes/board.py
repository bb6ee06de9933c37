"""The episode board: a persona's tasks in order, their groups, and dependency arcs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.domain.arrangement import arrangement_of
from studio.domain.plan import Gap, PlacedTask, connected_components, find_gaps, shape_of_tasks
from studio.drafts.load import load_episode
from studio.episodes import arcs
from studio.models import Persona, Task

COLOURS = 8


@dataclass
class CarryOver:
    """What one task takes over from another, for the label of their arc."""

    other: Task
    text: str
    group_text: str = ""
    """What their group carries over, if they share one."""

    @property
    def label(self) -> str:
        return self.text or self.group_text


@dataclass
class Card:
    task: Task
    number: int | None
    request: str = ""
    group: str = ""
    """Letter and, if it has one, name of its group."""
    colour: int = 0
    letter: str = ""
    needs: list[CarryOver] = field(default_factory=list)
    """Earlier tasks it builds on."""
    feeds: list[CarryOver] = field(default_factory=list)
    """Later tasks that build on it."""
    arrivals: list[tuple[CarryOver, arcs.ArcPiece]] = field(default_factory=list)
    beside: arcs.ArcPiece = field(default_factory=arcs.ArcPiece)
    """The arcs left of the card."""


@dataclass
class BoardGroup:
    """Tasks connected through dependencies or a named group."""

    letter: str
    colour: int
    name: str
    carries_over: str
    cards: list[Card]

    def __str__(self) -> str:
        return f"{self.letter} · {self.name}" if self.name else self.letter


@dataclass
class Board:
    cards: list[Card]
    unplaced: list[Card]
    groups: list[BoardGroup]
    standalone: int
    seen: str
    """Digest of the arrangement shown."""
    gaps: list[Gap]
    """Deviations from the benchmark's plan; those that adding tasks does not fix come first."""

    @property
    def has_arcs(self) -> bool:
        return any(card.arrivals for card in self.cards)

    @property
    def group_names(self) -> list[str]:
        return list(dict.fromkeys(card.task.group for card in (*self.cards, *self.unplaced) if card.task.group))

    def card(self, pk: int) -> Card | None:
        return next((card for card in (*self.cards, *self.unplaced) if card.task.pk == pk), None)

    def together(self, card: Card) -> list[Card]:
        """The card with those of its group: they are of one split."""
        group = next((group.cards for group in self.groups if card in group.cards), [card])
        named = [other for other in self.unplaced if card.task.group and other.task.group == card.task.group]
        return [*group, *(other for other in named if other not in group)]

    def neighbours(self, card: Card) -> tuple[Card | None, Card | None]:
        cards = [*self.cards, *self.unplaced]
        index = cards.index(card)
        return (cards[index - 1] if index else None, cards[index + 1] if index + 1 < len(cards) else None)


def board_of(persona: Persona) -> Board:
    tasks = list(
        Task.objects.filter(persona=persona).select_related("persona__benchmark").order_by("position", "task_id")
    )
    episode = load_episode(persona)
    specs = {spec.task_id: spec for spec in (*episode.tasks, *episode.unplaced)}
    notes = {group.name: group.carries_over for group in episode.groups}
    by_id = {task.task_id: task for task in tasks}
    placed = [task for task in tasks if task.position is not None]
    numbers = {task.pk: number for number, task in enumerate(placed, 1)}
    cards = {
        task.pk: Card(task, numbers.get(task.pk), request=specs[task.task_id].initial_request)
        for task in (*placed, *(task for task in tasks if task.position is None))
    }
    links: list[tuple[int, int]] = []
    for later in tasks:
        for need in specs[later.task_id].depends_on:
            earlier = by_id[need.task_id]
            shared = notes.get(later.group, "") if later.group == earlier.group else ""
            cards[later.pk].needs.append(CarryOver(earlier, need.carries_over, shared))
            cards[earlier.pk].feeds.append(CarryOver(later, need.carries_over, shared))
            links.append((earlier.pk, later.pk))
    groups = _groups(cards, placed, links, notes)
    ordered = [cards[task.pk] for task in placed]
    _draw_arcs(ordered)
    return Board(
        cards=ordered,
        unplaced=[cards[task.pk] for task in tasks if task.position is None],
        groups=groups,
        standalone=sum(not card.group for card in ordered),
        seen=arrangement_of(episode).digest(),
        gaps=_gaps(persona, placed, links),
    )


def _gaps(persona: Persona, placed: Sequence[Task], links: Sequence[tuple[int, int]]) -> list[Gap]:
    needs: dict[int, list[str]] = {task.pk: [] for task in placed}
    for earlier, later in links:
        needs[later].append(str(earlier))
    shape = shape_of_tasks(
        PlacedTask(str(task.pk), tuple(needs[task.pk]), task.group.strip(), task.trigger_kind != "user_message")
        for task in placed
    )
    return sorted(find_gaps(shape, persona.benchmark.plan), key=lambda gap: gap.unfinished)


def _groups(
    cards: dict[int, Card], placed: list[Task], links: list[tuple[int, int]], notes: Mapping[str, str]
) -> list[BoardGroup]:
    first: dict[str, int] = {}
    shared = [(first.setdefault(task.group, task.pk), task.pk) for task in placed if task.group]
    placed_keys = {task.pk for task in placed}
    groups: list[BoardGroup] = []
    for part in connected_components(list(cards), [*links, *shared]):
        own = [cards[key] for key in part if key in placed_keys]
        name = next((card.task.group for card in own if card.task.group), "")
        if len(own) < 2 and not name:
            continue
        group = BoardGroup(
            letter=_letter(len(groups)),
            colour=len(groups) % COLOURS + 1,
            name=name,
            carries_over=notes.get(name, ""),
            cards=own,
        )
        groups.append(group)
        for card in own:
            card.letter, card.group, card.colour = group.letter, str(group), group.colour
    return groups


def _draw_arcs(cards: Sequence[Card]) -> None:
    rows = {card.task.pk: row for row, card in enumerate(cards)}
    drawn = arcs.draw(
        [[rows[need.other.pk] for need in card.needs if need.other.pk in rows] for card in cards],
        [card.colour for card in cards],
    )
    for card, (arrivals, beside) in zip(cards, drawn, strict=True):
        card.arrivals = list(zip([need for need in card.needs if need.other.pk in rows], arrivals, strict=True))
        card.beside = beside


def _letter(number: int) -> str:
    return chr(65 + number) if number < 26 else _letter(number // 26 - 1) + chr(65 + number % 26)

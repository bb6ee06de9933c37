"""Arcs left of a column of rows, drawn row by row: whatever height a row comes to have, its piece fits. Pure.

Each row that others build on has a trunk, which runs down a lane from its own height to the last that builds on it.
Short trunks lie close to the rows, long ones outside; no two share a lane over the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH = 56
"""Of all lanes together, in pixels; the style sheet has the same number."""
WIDEST = 10
FAR = 4000
"""Further down or right than any row reaches; what is too much is cut off."""


@dataclass
class Slot:
    """One piece: what passes by, and what turns in or out here. Paths by colour."""

    passing: list[tuple[int, str]] = field(default_factory=list)
    arriving: str = ""
    head: str = ""
    leaving: str = ""
    """Begins at half the piece's height."""
    colour: int = 0


@dataclass(frozen=True)
class _Trunk:
    start: int
    stop: int
    x: float
    colour: int


def draw(needs: Sequence[Sequence[int]], colours: Sequence[int]) -> list[tuple[list[Slot], Slot]]:
    """For each row the pieces of its arrivals, one for each row it needs, and the piece beside it."""
    trunks = _trunks(needs, colours)
    pieces = []
    for row, needed in enumerate(needs):
        by = [trunk for trunk in trunks.values() if trunk.start < row <= trunk.stop]
        arrivals = []
        for place, other in enumerate(needed):
            still = set(needed[place + 1 :])
            passing = [trunk for trunk in by if trunk.stop > row or trunk.start in still]
            arrivals.append(_arrival(trunks[other], passing))
        beside = Slot(passing=_lines([trunk for trunk in by if trunk.stop > row]))
        if row in trunks:
            beside.leaving = f"M{FAR} 0H{_n(trunks[row].x + 6)}q-6 0-6 6V{FAR}"
            beside.colour = trunks[row].colour
        pieces.append((arrivals, beside))
    return pieces


def _trunks(needs: Sequence[Sequence[int]], colours: Sequence[int]) -> dict[int, _Trunk]:
    last: dict[int, int] = {}
    for row, needed in enumerate(needs):
        for other in needed:
            last[other] = max(row, last.get(other, row))
    lanes: list[list[tuple[int, int]]] = []
    lane_of: dict[int, int] = {}
    for start, stop in sorted(last.items(), key=lambda span: (span[1] - span[0], span[0])):
        free = (n for n, taken in enumerate(lanes) if all(stop <= s or start >= e for s, e in taken))
        lane = next(free, len(lanes))
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((start, stop))
        lane_of[start] = lane
    step = min(WIDEST, (WIDTH - 14) / max(1, len(lanes) - 1))
    return {
        start: _Trunk(start, last[start], WIDTH - 10 - step * lane, colours[start]) for start, lane in lane_of.items()
    }


def _arrival(trunk: _Trunk, passing: Sequence[_Trunk]) -> Slot:
    return Slot(
        passing=_lines(passing),
        arriving=f"M{_n(trunk.x)} -2V6q0 6 6 6H{WIDTH - 1}",
        head=f"M{WIDTH - 6} 8l5 4-5 4",
        colour=trunk.colour,
    )


def _lines(trunks: Sequence[_Trunk]) -> list[tuple[int, str]]:
    paths: dict[int, str] = {}
    for trunk in trunks:
        paths[trunk.colour] = paths.get(trunk.colour, "") + f"M{_n(trunk.x)} -2V{FAR}"
    return sorted(paths.items())


def _n(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")

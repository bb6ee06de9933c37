"""Dependency arcs beside a column of rows, as one SVG piece per row that fits any row height. Pure.

Each row that others build on has a trunk, which runs down a lane from that row to the last one that builds on it.
Short trunks lie close to the rows, long ones further out; no two share a lane over the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

WIDTH = 56
"""Pixels for all lanes; also in the style sheet."""
MAX_LANE_WIDTH = 10
OVERFLOW = 4000
"""A length beyond any row's height or width; the excess is clipped."""


@dataclass
class ArcPiece:
    """The SVG paths beside one row or one of its arrivals, each with a colour."""

    passing: list[tuple[int, str]] = field(default_factory=list)
    arriving: str = ""
    head: str = ""
    leaving: str = ""
    """Starts at half the piece's height."""
    colour: int = 0


@dataclass(frozen=True)
class _Trunk:
    start: int
    stop: int
    x: float
    colour: int


def draw(needs: Sequence[Sequence[int]], colours: Sequence[int]) -> list[tuple[list[ArcPiece], ArcPiece]]:
    """For each row: the pieces of its arrivals, one per row it needs, and the piece beside the row."""
    trunks = _trunks(needs, colours)
    pieces = []
    for row, needed in enumerate(needs):
        passing_by = [trunk for trunk in trunks.values() if trunk.start < row <= trunk.stop]
        arrivals = []
        for index, other in enumerate(needed):
            later = set(needed[index + 1 :])
            passing = [trunk for trunk in passing_by if trunk.stop > row or trunk.start in later]
            arrivals.append(_arrival(trunks[other], passing))
        beside = ArcPiece(passing=_vertical_lines([trunk for trunk in passing_by if trunk.stop > row]))
        if row in trunks:
            beside.leaving = f"M{OVERFLOW} 0H{_number(trunks[row].x + 6)}q-6 0-6 6V{OVERFLOW}"
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
    step = min(MAX_LANE_WIDTH, (WIDTH - 14) / max(1, len(lanes) - 1))
    return {
        start: _Trunk(start, last[start], WIDTH - 10 - step * lane, colours[start]) for start, lane in lane_of.items()
    }


def _arrival(trunk: _Trunk, passing: Sequence[_Trunk]) -> ArcPiece:
    return ArcPiece(
        passing=_vertical_lines(passing),
        arriving=f"M{_number(trunk.x)} -2V6q0 6 6 6H{WIDTH - 1}",
        head=f"M{WIDTH - 6} 8l5 4-5 4",
        colour=trunk.colour,
    )


def _vertical_lines(trunks: Sequence[_Trunk]) -> list[tuple[int, str]]:
    paths: dict[int, str] = {}
    for trunk in trunks:
        paths[trunk.colour] = paths.get(trunk.colour, "") + f"M{_number(trunk.x)} -2V{OVERFLOW}"
    return sorted(paths.items())


def _number(x: float) -> str:
    return f"{x:.1f}".removesuffix(".0")

"""Undo and redo of a user's own moves on a board."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from studio.domain.arrangement import Arrangement
from studio.domain.episode import Split, with_split
from studio.domain.task import Dependency
from studio.models import BoardMove, Persona, User

MAX_UNDO = 50
"""How many of a user's latest moves on a board can be undone."""


def to_undo(persona: Persona, user: User) -> BoardMove | None:
    return next_move(persona, user, BoardMove.Kind.UNDO)


def to_redo(persona: Persona, user: User) -> BoardMove | None:
    return next_move(persona, user, BoardMove.Kind.REDO)


def next_move(persona: Persona, user: User, kind: BoardMove.Kind) -> BoardMove | None:
    done: list[BoardMove] = []
    undone: list[BoardMove] = []
    for move in reversed(list(BoardMove.objects.filter(persona=persona, actor=user)[:MAX_UNDO])):
        if move.kind == BoardMove.Kind.MOVE:
            done.append(move)
            undone.clear()
        elif move.kind == BoardMove.Kind.UNDO and done:
            undone.append(done.pop())
        elif move.kind == BoardMove.Kind.REDO and undone:
            done.append(undone.pop())
    moves = done if kind == BoardMove.Kind.UNDO else undone
    return moves[-1] if moves else None


def differing_parts(arrangement: Arrangement, other: Arrangement) -> dict[str, Any]:
    """The parts of ``arrangement`` that differ from ``other``, in the format of ``BoardMove.before``."""
    parts: dict[str, Any] = {}
    if arrangement.order != other.order:
        parts["order"] = list(arrangement.order)
    if groups := {key: name for key, name in arrangement.groups.items() if name != other.groups[key]}:
        parts["groups"] = groups
    if needs := {
        key: [n.to_json() for n in needed]
        for key, needed in arrangement.dependencies.items()
        if needed != other.dependencies[key]
    }:
        parts["needs"] = needs
    ours, theirs = arrangement.group_notes_in_use(), other.group_notes_in_use()
    names = {**ours, **theirs}
    if carryovers := {name: ours.get(name, "") for name in names if ours.get(name) != theirs.get(name)}:
        parts["words"] = carryovers
    moved = sorted(arrangement.splits.items() ^ other.splits.items())
    if moved:
        parts["splits"] = {task_id: arrangement.splits.get(task_id, Split.PUBLIC) for task_id, _ in moved}
    return parts


def with_parts(now: Arrangement, parts: dict[str, Any]) -> Arrangement:
    needs = {key: tuple(map(Dependency.model_validate, needed)) for key, needed in parts.get("needs", {}).items()}
    splits = {name: Split(text) for name, text in parts.get("splits", {}).items()}
    return replace(
        now,
        order=tuple(parts.get("order", now.order)),
        groups={**now.groups, **parts.get("groups", {})},
        dependencies={**now.dependencies, **needs},
        group_notes={**now.group_notes, **parts.get("words", {})},
        splits=with_split(now.splits, splits),
    )

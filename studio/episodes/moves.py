"""Moves on an episode's board, shared by page and API, with undo and redo of a user's own. A move is made completely or
not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from studio.domain import arrangement
from studio.domain.arrangement import (
    Arrangement,
    ArrangementError,
    apply_arrangement,
    arrangement_of,
    validate_arrangement,
)
from studio.domain.episode import EpisodeSpec, Split, with_split
from studio.domain.phrases import quoted_titles
from studio.domain.task import Dependency, TaskSpec
from studio.drafts.load import load_episode, lock_all
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import ENDED_BY_EDITS, save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import BoardMove, Persona, Task, TaskState, User
from studio.models.transactions import atomic_with_retry

END = "end"
ACTIONS = (
    "move", "earlier", "later", "take_out", "swap", "group", "ungroup", "describe_group", "merge_group", "depend",
    "stop_depending", "split", "undo", "redo",
)  # fmt: skip


@dataclass(frozen=True)
class Move:
    """A change of the arrangement. Tasks are named by their ids in the episode."""

    action: str
    """One of ``ACTIONS``."""
    tasks: tuple[str, ...] = ()
    target: str = ""
    """For ``move``: the task in front of which they go, or ``end``; for ``swap``: the other task; for dependencies:
    the earlier task."""
    group: str = ""
    name: str = ""
    """The group's new name."""
    carries_over: str = ""
    split: str = ""


class BoardChangedError(Exception):
    """Someone has changed the board since the user loaded it."""

    def __init__(self, last: BoardMove | None) -> None:
        who = (
            f"{last.actor} changed the board in the meantime: {last.summary}"
            if last
            else "The board has changed in the meantime."
        )
        super().__init__(f"{who} Your change was not applied; this is the current board.")


class ConfirmationNeededError(Exception):
    """The move ends reviews or approvals, so the user has to confirm it."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        names = quoted_titles(tasks, 4)
        single = len(tasks) == 1
        super().__init__(
            f"{names} {'is' if single else 'are'} in review, approved or released. "
            + ("This returns it to draft, and it needs" if single else "This returns them to draft, and they need")
            + " another review."
        )
        self.tasks = tasks


@dataclass(frozen=True)
class MoveResult:
    summary: str
    tasks: tuple[str, ...]
    """Ids of the tasks concerned."""


def current_arrangement(persona: Persona) -> Arrangement:
    return arrangement_of(load_episode(persona))


@atomic_with_retry
def make_move(persona_id: int, move: Move, *, by: User, seen: str = "", confirmed: bool = False) -> MoveResult:
    """Make one move. ``seen``: digest of the arrangement that the user saw.

    Raises BoardChangedError if the arrangement is another now, ArrangementError if the move is not possible, and
    ConfirmationNeededError if it ends approvals and is not ``confirmed``.
    """
    row = Persona.objects.select_for_update(no_key=True).get(pk=persona_id)
    old = load_episode(row)
    now = arrangement_of(old)
    if seen and seen != now.digest():
        raise BoardChangedError(row.board_moves.select_related("actor").first())
    kind = BoardMove.Kind(move.action) if move.action in ("undo", "redo") else BoardMove.Kind.MOVE
    undoing = kind == BoardMove.Kind.UNDO
    if kind == BoardMove.Kind.MOVE:
        wanted = _arrangement_after(now, move)
        summary, concerned = describe_move(old, now, move), move.tasks
    else:
        last = next_move(row, by, kind)
        if last is None:
            raise ArrangementError(f"There is nothing to {kind}.")
        if now.digest() != (last.digest_after if undoing else last.digest_before):
            raise ArrangementError(f"The board has changed since, so “{last.summary}” cannot be undone in one step.")
        wanted = with_parts(now, last.before if undoing else last.after)
        summary, concerned = f"{'Undone' if undoing else 'Redone'}: {last.summary}", ()
    if wanted.digest() == now.digest():
        return MoveResult("Nothing has changed.", move.tasks)
    tasks = {task.task_id: task for task in (*old.tasks, *old.unplaced)}
    validate_arrangement(wanted, tasks, move.tasks)
    _save(row, old, wanted, summary, by=by, confirmed=confirmed)
    before, after = differing_parts(now, wanted), differing_parts(wanted, now)
    BoardMove.objects.create(
        persona=row, actor=by, kind=kind, summary=summary, digest_before=now.digest(), digest_after=wanted.digest(),
        before=before, after=after,
    )  # fmt: skip
    parts = (before.get(name, {}) for name in ("groups", "needs", "splits"))
    return MoveResult(summary, concerned or tuple(next(filter(None, parts), ())))


def _arrangement_after(now: Arrangement, move: Move) -> Arrangement:
    for task_id in (*move.tasks, move.target):
        if task_id and task_id != END and task_id not in now.groups:
            raise ArrangementError("One of these tasks is no longer in this episode.")
    first = move.tasks[0] if move.tasks else ""
    if move.action in ("swap", "depend", "stop_depending") and (not first or move.target not in now.groups):
        raise ArrangementError("Choose the other task.", first)
    match move.action:
        case "move":
            if not move.target:
                raise ArrangementError("Choose where to move it.", first)
            return arrangement.move(now, move.tasks, None if move.target == END else move.target)
        case "earlier" | "later":
            return arrangement.shift(now, move.tasks, -1 if move.action == "earlier" else 1)
        case "take_out":
            return arrangement.remove_from_episode(now, move.tasks)
        case "swap":
            return arrangement.swap(now, first, move.target)
        case "group":
            if not move.group.strip():
                raise ArrangementError("Enter a group name.", first)
            return arrangement.assign_group(now, move.tasks, move.group)
        case "ungroup":
            return arrangement.assign_group(now, move.tasks, "")
        case "describe_group":
            if move.name != move.group and move.name in now.groups.values():
                raise ArrangementError(f"A group “{move.name}” already exists. To combine the two, merge them.")
            renamed = arrangement.rename_group(now, move.group, move.name)
            return arrangement.describe_group(renamed, _new_name(now, renamed, move.group), move.carries_over)
        case "merge_group":
            if move.name == move.group or move.name not in now.groups.values():
                raise ArrangementError("Choose the other group.")
            return arrangement.rename_group(now, move.group, move.name)
        case "depend":
            return arrangement.add_dependency(now, first, move.target, move.carries_over)
        case "stop_depending":
            return arrangement.remove_dependency(now, first, move.target)
        case "split":
            if move.split not in tuple(Split):
                raise ArrangementError("Choose a split: public, validation or held-out.", first)
            return arrangement.assign_split(now, move.tasks, Split(move.split))
    raise ArrangementError("Choose what to do.")


def _new_name(now: Arrangement, renamed: Arrangement, name: str) -> str:
    return next(renamed.groups[task_id] for task_id, group in now.groups.items() if group == name)


def _save(row: Persona, old: EpisodeSpec, wanted: Arrangement, summary: str, *, by: User, confirmed: bool) -> None:
    new = apply_arrangement(old, wanted)
    before = {task.task_id: task for task in (*old.tasks, *old.unplaced)}
    changed: dict[str, TaskSpec] = {
        task.task_id: task
        for task in (*new.tasks, *new.unplaced)
        if (task.group, task.depends_on) != (before[task.task_id].group, before[task.task_id].depends_on)
    }
    placed = set(wanted.order) - {task.task_id for task in old.tasks}
    concerned = row.tasks.filter(task_id__in={*changed, *placed}).values_list("pk", flat=True)
    tasks = {task.task_id: task for task in lock_all(concerned)}
    for task_id in placed:
        if tasks[task_id].state == TaskState.RETIRED:
            raise ArrangementError(f"“{tasks[task_id]}” is retired. Restore it first.", task_id)
    ended = [tasks[task_id] for task_id in changed if tasks[task_id].state in ENDED_BY_EDITS]
    if ended and not confirmed:
        raise ConfirmationNeededError(ended)
    try:
        save_personas([(row, old, new)], by=by, note=summary, verb="reordered")
        save_tasks([(tasks[task_id], spec) for task_id, spec in changed.items()], by=by, note=summary)
    except DraftError as error:
        raise ArrangementError(str(error)) from None
    refresh_findings([row])


def describe_move(old: EpisodeSpec, now: Arrangement, move: Move) -> str:
    tasks = {task.task_id: task for task in (*old.tasks, *old.unplaced)}

    def name(task_id: str) -> str:
        return "“" + _short(tasks[task_id].title.strip() or task_id) + "”"

    what = name(move.tasks[0]) if len(move.tasks) == 1 else f"{len(move.tasks)} tasks"
    other = name(move.target) if move.target in tasks else ""
    group = f"“{_short(move.group)}”"
    return {
        "move": f"Moved {what} " + (f"before {other}." if other else "to the end."),
        "earlier": f"Moved {what} earlier.",
        "later": f"Moved {what} later.",
        "take_out": f"Took {what} out of the episode.",
        "swap": f"Swapped {what} with {other}.",
        "group": f"Put {what} into the group {group}.",
        "ungroup": f"Took {what} out of " + ("its group." if len(move.tasks) == 1 else "their groups."),
        "describe_group": f"Changed the group {group}"
        + (f" to “{_short(move.name)}”." if move.name != move.group else "."),
        "merge_group": f"Merged the group {group} into “{_short(move.name)}”.",
        "depend": f"Described what {what} takes over from {other}."
        if any(need.task_id == move.target for need in now.dependencies.get(move.tasks[0] if move.tasks else "", ()))
        else f"Made {what} build on {other}.",
        "split": f"Put {what} into the {move.split.replace('_', '-')} split.",
        "stop_depending": f"{what} no longer builds on {other}.",
    }[move.action]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"


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

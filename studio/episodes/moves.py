"""Every step on an episode's board: page and API come here. A step is made whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from studio.domain import arrangement
from studio.domain.arrangement import (
    Arrangement,
    ArrangementError,
    apply_arrangement,
    arrangement_of,
    validate_arrangement,
)
from studio.domain.episode import EpisodeSpec
from studio.domain.task import Dependency, TaskSpec
from studio.drafts.load import load_episodes
from studio.drafts.save_personas import save_personas
from studio.drafts.save_tasks import ENDED_BY_EDITS, save_tasks
from studio.drafts.validate import DraftError
from studio.findings.refresh import refresh_findings
from studio.models import BoardMove, Persona, Task, TaskState, User

REMEMBERED = 50
"""How many of somebody's last steps on a board can be undone."""
END = "end"
STEPS = (
    "move", "earlier", "later", "take_out", "swap", "group", "ungroup", "describe_group", "merge_group", "depend",
    "stop_depending", "undo", "redo",
)  # fmt: skip
"""What ``Step.does`` can say."""


@dataclass(frozen=True)
class Step:
    """What somebody wants done. Tasks and places are named by their ids in the episode."""

    does: str
    tasks: tuple[str, ...] = ()
    place: str = ""
    """For ``move``: the task in front of which they go, or ``end``; for ``swap``: the other task; for dependencies:
    the earlier task."""
    group: str = ""
    name: str = ""
    """The group's new name."""
    words: str = ""
    """What carries over."""


class BoardChangedError(Exception):
    """Someone changed the board since it was looked at."""

    def __init__(self, last: BoardMove | None) -> None:
        who = (
            f"{last.actor} changed the board in the meantime: {last.summary}"
            if last
            else "The board has changed in the meantime."
        )
        super().__init__(f"{who} Your change was not applied; this is the current board.")


class ConfirmationNeededError(Exception):
    """The step takes back what reviewers said: it is asked for twice."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        names = ", ".join(f"“{task}”" for task in tasks[:4]) + (f" and {len(tasks) - 4} more" if len(tasks) > 4 else "")
        one = len(tasks) == 1
        super().__init__(
            f"{names} {'is' if one else 'are'} in review, approved or released. "
            + ("This returns it to draft, and it needs" if one else "This returns them to draft, and they need")
            + " another review."
        )
        self.tasks = tasks


@dataclass(frozen=True)
class Made:
    """A step that was made."""

    sentence: str
    tasks: tuple[str, ...]
    """Ids of the tasks it was about."""


def arrangement_now(persona: Persona) -> Arrangement:
    return arrangement_of(load_episodes([persona])[persona.pk])


@transaction.atomic
def arrange(persona_id: int, step: Step, *, by: User, seen: str = "", sure: bool = False) -> Made:
    """Make one step. ``seen``: digest of the arrangement the person looked at. Raises BoardChangedError if it is
    another
    now, ArrangementError with the reason, ConfirmationNeededError where approvals would be taken back and nobody said
    ``sure``."""
    row = Persona.objects.select_for_update().get(pk=persona_id)
    old = load_episodes([row])[row.pk]
    now = arrangement_of(old)
    if seen and seen != now.digest():
        raise BoardChangedError(row.board_moves.select_related("actor").first())
    kind = BoardMove.Kind(step.does) if step.does in ("undo", "redo") else BoardMove.Kind.MOVE
    undoing = kind == BoardMove.Kind.UNDO
    if kind == BoardMove.Kind.MOVE:
        wanted = _after(now, step)
        sentence, about = _sentence(old, now, step), step.tasks
    else:
        last = _to_take_back(row, by, kind)
        if last is None:
            raise ArrangementError(f"There is nothing to {kind}.")
        if now.digest() != (last.digest_after if undoing else last.digest_before):
            raise ArrangementError(f"The board has changed since, so “{last.summary}” cannot be undone in one step.")
        wanted = _patched(now, last.before if undoing else last.after)
        sentence, about = f"{'Undone' if undoing else 'Redone'}: {last.summary}", ()
    if wanted.digest() == now.digest():
        return Made("Nothing has changed.", step.tasks)
    tasks = {task.task_id: task for task in (*old.tasks, *old.unplaced)}
    validate_arrangement(wanted, tasks, step.tasks)
    _save(row, old, wanted, sentence, by=by, sure=sure)
    before, after = _parts(now, wanted), _parts(wanted, now)
    BoardMove.objects.create(
        persona=row, actor=by, kind=kind, summary=sentence, digest_before=now.digest(), digest_after=wanted.digest(),
        before=before, after=after,
    )  # fmt: skip
    return Made(sentence, about or tuple(before.get("groups", {}) or before.get("needs", {})))


def to_undo(persona: Persona, user: User) -> BoardMove | None:
    return _to_take_back(persona, user, BoardMove.Kind.UNDO)


def to_redo(persona: Persona, user: User) -> BoardMove | None:
    return _to_take_back(persona, user, BoardMove.Kind.REDO)


def _to_take_back(persona: Persona, user: User, kind: BoardMove.Kind) -> BoardMove | None:
    """The step that undo, or redo, is about: both walk along what this person did here."""
    done: list[BoardMove] = []
    undone: list[BoardMove] = []
    for move in reversed(list(BoardMove.objects.filter(persona=persona, actor=user)[:REMEMBERED])):
        if move.kind == BoardMove.Kind.MOVE:
            done.append(move)
            undone.clear()
        elif move.kind == BoardMove.Kind.UNDO and done:
            undone.append(done.pop())
        elif move.kind == BoardMove.Kind.REDO and undone:
            done.append(undone.pop())
    found = done if kind == BoardMove.Kind.UNDO else undone
    return found[-1] if found else None


def _after(now: Arrangement, step: Step) -> Arrangement:
    for task_id in (*step.tasks, step.place):
        if task_id and task_id != END and task_id not in now.groups:
            raise ArrangementError("One of these tasks is no longer in this episode.")
    one = step.tasks[0] if step.tasks else ""
    if step.does in ("swap", "depend", "stop_depending") and (not one or step.place not in now.groups):
        raise ArrangementError("Choose the other task.", one)
    match step.does:
        case "move":
            if not step.place:
                raise ArrangementError("Choose where to move it.", one)
            return arrangement.move(now, step.tasks, None if step.place == END else step.place)
        case "earlier" | "later":
            return arrangement.shift(now, step.tasks, -1 if step.does == "earlier" else 1)
        case "take_out":
            return arrangement.remove_from_episode(now, step.tasks)
        case "swap":
            return arrangement.swap(now, one, step.place)
        case "group":
            if not step.group.strip():
                raise ArrangementError("Enter a group name.", one)
            return arrangement.assign_group(now, step.tasks, step.group)
        case "ungroup":
            return arrangement.assign_group(now, step.tasks, "")
        case "describe_group":
            if step.name != step.group and step.name in now.groups.values():
                raise ArrangementError(f"A group “{step.name}” already exists. To combine the two, merge them.")
            renamed = arrangement.rename_group(now, step.group, step.name)
            return arrangement.describe_group(renamed, _new_name(now, renamed, step.group), step.words)
        case "merge_group":
            if step.name == step.group or step.name not in now.groups.values():
                raise ArrangementError("Choose the other group.")
            return arrangement.rename_group(now, step.group, step.name)
        case "depend":
            return arrangement.add_dependency(now, one, step.place, step.words)
        case "stop_depending":
            return arrangement.remove_dependency(now, one, step.place)
    raise ArrangementError("Choose what to do.")


def _new_name(now: Arrangement, renamed: Arrangement, name: str) -> str:
    return next(renamed.groups[task_id] for task_id, group in now.groups.items() if group == name)


def _save(row: Persona, old: EpisodeSpec, wanted: Arrangement, sentence: str, *, by: User, sure: bool) -> None:
    new = apply_arrangement(old, wanted)
    was = {task.task_id: task for task in (*old.tasks, *old.unplaced)}
    changed: dict[str, TaskSpec] = {
        task.task_id: task
        for task in (*new.tasks, *new.unplaced)
        if (task.group, task.depends_on) != (was[task.task_id].group, was[task.task_id].depends_on)
    }
    placed = set(wanted.order) - {task.task_id for task in old.tasks}
    rows = (
        Task.objects.select_for_update(of=("self",))
        .filter(episode__persona=row, task_id__in={*changed, *placed})
        .select_related("group")
        .order_by("pk")
    )
    tasks = {task.task_id: task for task in rows}
    for task_id in placed:
        if tasks[task_id].state == TaskState.RETIRED:
            raise ArrangementError(f"“{tasks[task_id]}” is retired. Restore it first.", task_id)
    settled = [tasks[task_id] for task_id in changed if tasks[task_id].state in ENDED_BY_EDITS]
    if settled and not sure:
        raise ConfirmationNeededError(settled)
    try:
        save_personas([(row, old, new)], by=by, note=sentence, verb="reordered")
        save_tasks([(tasks[task_id], spec) for task_id, spec in changed.items()], by=by, note=sentence)
    except DraftError as refusal:
        raise ArrangementError(str(refusal)) from None
    refresh_findings([row])


def _parts(one: Arrangement, other: Arrangement) -> dict[str, Any]:
    """What of ``one`` is otherwise in ``other``."""
    parts: dict[str, Any] = {}
    if one.order != other.order:
        parts["order"] = list(one.order)
    if groups := {key: name for key, name in one.groups.items() if name != other.groups[key]}:
        parts["groups"] = groups
    if needs := {
        key: [n.to_json() for n in needed]
        for key, needed in one.dependencies.items()
        if needed != other.dependencies[key]
    }:
        parts["needs"] = needs
    ours, theirs = one.group_notes_in_use(), other.group_notes_in_use()
    names = {**ours, **theirs}
    if words := {name: ours.get(name, "") for name in names if ours.get(name) != theirs.get(name)}:
        parts["words"] = words
    return parts


def _patched(now: Arrangement, parts: dict[str, Any]) -> Arrangement:
    needs = {key: tuple(map(Dependency.model_validate, needed)) for key, needed in parts.get("needs", {}).items()}
    return replace(
        now,
        order=tuple(parts.get("order", now.order)),
        groups={**now.groups, **parts.get("groups", {})},
        dependencies={**now.dependencies, **needs},
        group_notes={**now.group_notes, **parts.get("words", {})},
    )


def _sentence(old: EpisodeSpec, now: Arrangement, step: Step) -> str:
    """What the step does, as a person says it."""
    tasks = {task.task_id: task for task in (*old.tasks, *old.unplaced)}

    def name(task_id: str) -> str:
        return "“" + _short(tasks[task_id].title.strip() or task_id) + "”"

    what = name(step.tasks[0]) if len(step.tasks) == 1 else f"{len(step.tasks)} sessions"
    other = name(step.place) if step.place in tasks else ""
    group = f"“{_short(step.group)}”"
    return {
        "move": f"Moved {what} " + (f"before {other}." if other else "to the end."),
        "earlier": f"Moved {what} earlier.",
        "later": f"Moved {what} later.",
        "take_out": f"Took {what} out of the episode.",
        "swap": f"Swapped {what} with {other}.",
        "group": f"Put {what} into the group {group}.",
        "ungroup": f"Took {what} out of " + ("its group." if len(step.tasks) == 1 else "their groups."),
        "describe_group": f"Changed the group {group}"
        + (f" to “{_short(step.name)}”." if step.name != step.group else "."),
        "merge_group": f"Merged the group {group} into “{_short(step.name)}”.",
        "depend": f"Described what {what} takes over from {other}."
        if any(need.task_id == step.place for need in now.dependencies.get(step.tasks[0] if step.tasks else "", ()))
        else f"Made {what} build on {other}.",
        "stop_depending": f"{what} no longer builds on {other}.",
    }[step.does]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"

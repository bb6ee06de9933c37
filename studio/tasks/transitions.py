"""State changes that a task's own people make: submit, withdraw, retire, reopen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of_newest
from studio.drafts.events import event
from studio.drafts.locks import lock
from studio.models import Event, Task, TaskState, User
from studio.notifications import notify

OPEN = (TaskState.DRAFT, TaskState.CHANGES_REQUESTED)


class WorkflowError(ValueError):
    """A step that cannot be taken now. The text is what the person reads: why, and what to do."""


@dataclass(frozen=True)
class Transition:
    """A step that a task's people take by themselves: one task or many of a benchmark, at the same cost."""

    to: TaskState
    verb: str
    refuses: Callable[[Task], str]
    """Why it cannot be taken with this task now; empty if it can."""


TRANSITIONS = {
    "submit": Transition(
        TaskState.IN_REVIEW,
        "submitted",
        lambda task: "" if task.state in OPEN else f"{_is(task)}: only a draft can be submitted for review.",
    ),
    "withdraw": Transition(
        TaskState.DRAFT,
        "withdrawn",
        lambda task: "" if task.state == TaskState.IN_REVIEW else f"{_is(task)}: there is no review to withdraw from.",
    ),
    "retire": Transition(
        TaskState.RETIRED,
        "retired",
        lambda task: (
            f"{_is(task)} already."
            if task.state == TaskState.RETIRED
            else "This task has a place in the episode. Take it out there first."
            if task.position is not None
            else ""
        ),
    ),
    "reopen": Transition(
        TaskState.DRAFT,
        "reopened",
        lambda task: "" if task.state == TaskState.RETIRED else f"{_is(task)}, not retired.",
    ),
}


@transaction.atomic
def apply_transition(name: str, tasks: Sequence[Task], *, by: User, text: str = "") -> None:
    """Take one of the ``STEPS`` with each of these tasks, which come locked and with their benchmark. All or none:
    raises WorkflowError. ``text`` is told in place of the version."""
    step = TRANSITIONS[name]
    for task in tasks:
        if refusal := step.refuses(task):
            raise WorkflowError(refusal)
    now = timezone.now()
    for task in tasks:
        task.state, task.updated_at = step.to, now
    Task.objects.bulk_update(tasks, ["state", "updated_at"], batch_size=500)
    lines = [event(task, step.verb, by=by, summary=storable_text(text) or f"Version {task.version}.") for task in tasks]
    Event.objects.bulk_create(lines, batch_size=500)
    if name == "submit":
        notify.notify_of_submissions(tasks, authors_of_newest(tasks), by=by)


def submit(task_id: int, *, by: User, text: str = "") -> Task:
    """Ask for a review of the task as it stands."""
    return _take("submit", task_id, by=by, text=text)


def withdraw(task_id: int, *, by: User) -> Task:
    """Take a submitted task back to the desk."""
    return _take("withdraw", task_id, by=by)


def retire(task_id: int, *, by: User) -> Task:
    """Put away a task that has no place in the episode any more. Its versions and what was measured on it stay."""
    return _take("retire", task_id, by=by)


def reopen(task_id: int, *, by: User) -> Task:
    """Make a retired task a draft again."""
    return _take("reopen", task_id, by=by)


@transaction.atomic
def _take(name: str, task_id: int, *, by: User, text: str = "") -> Task:
    task = lock(task_id)
    apply_transition(name, [task], by=by, text=text)
    return task


def _state(task: Task) -> str:
    return str(TaskState(task.state).label).lower()


def _is(task: Task) -> str:
    return f"This task is {_state(task)}"

"""State changes by a task's authors: submit, withdraw, retire, reopen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from studio.domain.phrases import count_of
from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of_newest
from studio.drafts.events import event
from studio.drafts.load import lock
from studio.findings.queries import open_blanks
from studio.models import Event, Task, TaskState, User
from studio.models.transactions import atomic_with_retry
from studio.notifications import notify

OPEN = (TaskState.DRAFT, TaskState.CHANGES_REQUESTED)


class WorkflowError(ValueError):
    """A transition that is not possible now; the message says why and what to do."""


@dataclass(frozen=True)
class Transition:
    to: TaskState
    verb: str
    obstacle: Callable[[Task], str]
    """Why the transition is not possible now; empty if it is."""


TRANSITIONS = {
    "submit": Transition(
        TaskState.IN_REVIEW,
        "submitted",
        lambda task: "" if task.state in OPEN else f"{_subject(task)}: only a draft can be submitted for review.",
    ),
    "withdraw": Transition(
        TaskState.DRAFT,
        "withdrawn",
        lambda task: (
            "" if task.state == TaskState.IN_REVIEW else f"{_subject(task)}: there is no review to withdraw from."
        ),
    ),
    "retire": Transition(
        TaskState.RETIRED,
        "retired",
        lambda task: (
            f"{_subject(task)} already."
            if task.state == TaskState.RETIRED
            else "This task has a place in the episode. Take it out there first."
            if task.position is not None
            else ""
        ),
    ),
    "reopen": Transition(
        TaskState.DRAFT,
        "reopened",
        lambda task: "" if task.state == TaskState.RETIRED else f"{_subject(task)}, not retired.",
    ),
}


@transaction.atomic
def apply_transition(name: str, tasks: Sequence[Task], *, by: User, text: str = "") -> None:
    """Apply one of ``TRANSITIONS`` to tasks that are locked and loaded with their benchmark: all or none. ``text``
    replaces the version in their events. Raises WorkflowError."""
    transition = TRANSITIONS[name]
    for task in tasks:
        if refusal := transition.obstacle(task):
            raise WorkflowError(refusal)
    if name == "submit" and (blanks := open_blanks(tasks).count()):
        raise WorkflowError(f"{count_of(blanks, 'blank')} must be filled in before a review: each reads “<insert …>”.")
    now = timezone.now()
    for task in tasks:
        task.state, task.updated_at = transition.to, now
    Task.objects.bulk_update(tasks, ["state", "updated_at"], batch_size=500)
    summaries = {task.pk: storable_text(text) or f"Version {task.version}." for task in tasks}
    events = [event(task, transition.verb, by=by, summary=summaries[task.pk]) for task in tasks]
    Event.objects.bulk_create(events, batch_size=500)
    if name == "submit":
        notify.notify_of_submissions(tasks, authors_of_newest(tasks), by=by)


def submit(task_id: int, *, by: User, text: str = "") -> Task:
    return _apply("submit", task_id, by=by, text=text)


def withdraw(task_id: int, *, by: User) -> Task:
    return _apply("withdraw", task_id, by=by)


def retire(task_id: int, *, by: User) -> Task:
    return _apply("retire", task_id, by=by)


def reopen(task_id: int, *, by: User) -> Task:
    return _apply("reopen", task_id, by=by)


@atomic_with_retry
def _apply(name: str, task_id: int, *, by: User, text: str = "") -> Task:
    task = lock(task_id)
    apply_transition(name, [task], by=by, text=text)
    return task


def state_label(task: Task) -> str:
    return str(TaskState(task.state).label).lower()


def _subject(task: Task) -> str:
    return f"This task is {state_label(task)}"

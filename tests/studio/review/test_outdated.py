"""Approvals that are outdated, given again: which tasks, by whom, and what becomes of them."""

from __future__ import annotations

import pytest

from studio.drafts.load import load_episode
from studio.models import Benchmark, Role, Task, TaskState, User
from studio.personas.files import PROFILE, save_file
from studio.review import comments, workflow
from studio.review.outdated import approve_again, changes_since_approval, may_approve_again, outdated_tasks
from studio.tasks.transitions import WorkflowError, submit
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db


class Desk:
    """Two approved tasks of a persona that its author has changed since."""

    def __init__(self, *, approvals_needed: int = 1) -> None:
        self.benchmark: Benchmark = BenchmarkFactory(approvals_needed=approvals_needed)
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewers = [member(self.benchmark, Role.REVIEWER) for _ in range(2)]
        self.persona = a_persona(self.benchmark, by=self.author)
        for name in ("bread", "rolls"):
            task = a_task(self.persona, name, by=self.author, title=name.title(), initial_request=f"Bake the {name}.")
            submit(task.pk, by=self.author)
            for reviewer in self.reviewers[:approvals_needed]:
                workflow.approve(task.pk, by=reviewer)
        spec = load_episode(self.persona).persona.model_copy(update={"routines": "Bakes the rye first."})
        save_file(PROFILE, self.persona, "", spec, by=self.author)

    @property
    def outdated(self) -> list[Task]:
        return outdated_tasks(self.persona)

    def again(self, *tasks: Task, by: User) -> list[str]:
        return [task.task_id for task in approve_again(self.persona, [task.content for task in tasks], by=by)]


def test_only_tasks_that_the_reviewer_saw_are_approved_again():
    desk = Desk()
    first, second = desk.outdated

    assert desk.again(first, by=desk.reviewers[0]) == ["bread"]

    assert desk.outdated == [second]


def test_each_reviewer_approves_again_once_until_there_are_enough():
    desk = Desk(approvals_needed=2)
    tasks = desk.outdated
    one, other = desk.reviewers

    desk.again(*tasks, by=one)

    assert (may_approve_again(desk.outdated, one), may_approve_again(desk.outdated, other)) == ([], tasks)
    assert may_approve_again(desk.outdated, desk.author) == []
    with pytest.raises(WorkflowError, match="Look again"):
        desk.again(*tasks, by=one)
    desk.again(*tasks, by=other)
    assert desk.outdated == []


def test_open_comments_keep_nobody_from_approving_again_and_what_is_released_stays_so():
    desk = Desk()
    first, second = desk.outdated
    comments.add_comment(first.pk, by=desk.reviewers[1], text="Which day?")
    Task.objects.filter(pk=second.pk).update(state=TaskState.RELEASED)

    desk.again(first, second, by=desk.reviewers[0])

    assert list(Task.objects.order_by("task_id").values_list("state", flat=True)) == ["approved", "released"]
    assert desk.outdated == []


def test_a_change_is_told_once_with_the_tasks_that_it_outdates_and_of_no_other_persona():
    desk = Desk()
    elsewhere = a_persona(desk.benchmark, "miller", by=desk.author)

    [change] = changes_since_approval(desk.outdated)

    assert (change.name, [task.task_id for task in change.tasks]) == ("profile", ["bread", "rolls"])
    assert [each.field for each in change.changes] == ["routines"]
    assert outdated_tasks(elsewhere) == []

"""Two people act on one task at the same moment, in transactions of their own: nothing is lost or done twice."""

from __future__ import annotations

import pytest

from studio.models import Assignment, Benchmark, Category, Event, Role, TaskState, Taxonomy
from studio.review import assignments, bulk, comments, workflow
from studio.tasks.save import save_task
from studio.tasks.transitions import WorkflowError, submit
from tests.at_once import after
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member

pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    def __init__(self) -> None:
        self.benchmark = BenchmarkFactory(approvals_needed=2)
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer, self.second = (member(self.benchmark, Role.REVIEWER) for _ in range(2))
        self.task = a_task(a_persona(self.benchmark, by=self.author), by=self.author)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_of_two_approvals_at_once_the_second_knows_of_the_first(desk: Desk) -> None:
    submit(desk.task.pk, by=desk.author)

    after(
        lambda: workflow.approve(desk.task.pk, by=desk.reviewer),
        lambda: workflow.approve(desk.task.pk, by=desk.second),
    )

    desk.task.refresh_from_db()
    assert desk.task.state == TaskState.APPROVED


def test_what_is_saved_while_somebody_approves_is_not_approved(desk: Desk) -> None:
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="This task is draft"):
        after(
            lambda: save_task(desk.task.pk, a_task_spec(title="Rolls"), by=desk.author),
            lambda: workflow.approve(desk.task.pk, by=desk.reviewer),
        )


def test_changes_are_not_requested_of_a_task_that_its_author_takes_back_just_now(desk: Desk) -> None:
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="only be requested during a review"):
        after(
            lambda: save_task(desk.task.pk, a_task_spec(title="Rolls"), by=desk.author),
            lambda: workflow.request_changes(desk.task.pk, by=desk.reviewer, text="Which rye?"),
        )


def test_of_two_assignments_at_once_the_second_replaces_the_first(desk: Desk) -> None:
    other = member(desk.benchmark, Role.AUTHOR)

    after(
        lambda: assignments.set_assignees(desk.task.pk, by=desk.author, writer=desk.author, reviewers=[]),
        lambda: assignments.set_assignees(desk.task.pk, by=desk.author, writer=other, reviewers=[]),
    )

    assert [row.user for row in Assignment.objects.all()] == [other]


def test_a_comment_that_is_deleted_just_now_gets_no_new_text(desk: Desk) -> None:
    comment = comments.add_comment(desk.task.pk, by=desk.reviewer, text="Wich rye?")

    with pytest.raises(WorkflowError, match="already deleted"):
        after(
            lambda: comments.retract(comment, by=desk.reviewer),
            lambda: comments.edit_comment(comment, by=desk.reviewer, text="Which rye?"),
        )

    comment.refresh_from_db()
    assert comment.text == ""


def test_a_comment_that_two_people_resolve_at_once_is_resolved_once(desk: Desk) -> None:
    comment = comments.add_comment(desk.task.pk, by=desk.reviewer, text="Which rye?")

    after(lambda: comments.resolve(comment, by=desk.author), lambda: comments.resolve(comment, by=desk.second))

    comment.refresh_from_db()
    assert comment.resolved_by == desk.author
    assert Event.objects.filter(verb="settled_a_remark").count() == 1


def test_a_bulk_change_keeps_what_is_saved_just_now(desk: Desk) -> None:
    taxonomy = Taxonomy.objects.create(name="Crafts")
    Category.objects.create(taxonomy=taxonomy, code="B", name="Baking", position=1)
    Benchmark.objects.update(taxonomy=taxonomy)
    desk.benchmark.refresh_from_db()

    after(
        lambda: save_task(desk.task.pk, a_task_spec(title="Rolls"), by=desk.author),
        lambda: bulk.apply(desk.benchmark, {desk.task.pk: None}, "category", "B", by=desk.author),
    )

    desk.task.refresh_from_db()
    assert (desk.task.title, desk.task.category, desk.task.version) == ("Rolls", "B", 3)

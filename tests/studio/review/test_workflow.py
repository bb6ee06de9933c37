import pytest
from django.db import IntegrityError, connection, transaction

from studio.drafts.authors import authors_of, authors_of_newest
from studio.drafts.load import load_task
from studio.models import Benchmark, CheckedTask, Event, Finding, Notification, Review, Role, Task, TaskState
from studio.reports.todo import tasks_to_review
from studio.review import comments, suggestions, workflow
from studio.review.assignments import approval_obstacle, assignees_of
from studio.review.checklist import QUESTIONS, ReviewAnswer, posted_answers
from studio.tasks.save import save_task
from studio.tasks.transitions import WorkflowError, reopen, retire, submit, withdraw
from tests.drafts import save_order
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db


class Desk:
    """A benchmark with an author, two reviewers and one task."""

    def __init__(self, **fields):
        self.benchmark = BenchmarkFactory(**fields)
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.second = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author)
        self.task = a_task(self.persona, by=self.author)

    def edit(self, *, by, **fields):
        spec = load_task(self.task).model_copy(update=fields)
        return save_task(self.task.pk, spec, by=by)

    @property
    def state(self):
        self.task.refresh_from_db()
        return self.task.state


def test_task_is_approved_by_someone_else():
    desk = Desk()

    submit(desk.task.pk, by=desk.author)
    submitted_at = Task.objects.get().updated_at
    workflow.approve(desk.task.pk, by=desk.reviewer, version=1, text="Reads well.")

    assert desk.state == TaskState.APPROVED
    assert desk.task.updated_at > submitted_at
    review = Review.objects.get()
    assert (review.revision.number, review.reviewer, review.decision) == (1, desk.reviewer, "approved")
    verbs = Event.objects.filter(task=desk.task).order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["created", "submitted", "approved"]


def test_authors_of_a_version_cannot_approve_it():
    desk = Desk()
    desk.edit(by=desk.reviewer, title="Bread for Sunday")
    desk.edit(by=desk.author, title="Bread for Monday")
    submit(desk.task.pk, by=desk.author)

    for writer in (desk.author, desk.reviewer):
        with pytest.raises(WorkflowError, match="You wrote part of this version"):
            workflow.approve(desk.task.pk, by=writer)

    workflow.approve(desk.task.pk, by=desk.second)
    assert desk.state == TaskState.APPROVED


def test_authors_before_the_last_approval_may_approve():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    workflow.approve(desk.task.pk, by=desk.reviewer)
    desk.edit(by=desk.second, title="Bread for Sunday")
    submit(desk.task.pk, by=desk.second)

    with pytest.raises(WorkflowError, match="You wrote part"):
        workflow.approve(desk.task.pk, by=desk.second)
    workflow.approve(desk.task.pk, by=desk.author)

    assert desk.state == TaskState.APPROVED


def test_errors_block_approval():
    desk = Desk()
    desk.edit(by=desk.author, intents=())
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="The checks find"):
        workflow.approve(desk.task.pk, by=desk.reviewer)

    assert desk.state == TaskState.IN_REVIEW


def test_errors_of_another_task_block_no_approval():
    desk = Desk()
    a_task(desk.persona, "rolls", by=desk.author, title="Rolls", intents=())
    submit(desk.task.pk, by=desk.author)

    workflow.approve(desk.task.pk, by=desk.reviewer)

    assert Finding.objects.filter(severity="error").exists() and desk.state == TaskState.APPROVED


def test_approval_checks_the_task_again():
    desk = Desk()
    desk.edit(by=desk.author, intents=())
    submit(desk.task.pk, by=desk.author)
    Finding.objects.all().delete()  # as if a rule were new, or an import's checks had not run yet
    CheckedTask.objects.all().delete()

    with pytest.raises(WorkflowError, match="The checks find"):
        workflow.approve(desk.task.pk, by=desk.reviewer)
    assert desk.state == TaskState.IN_REVIEW


def test_edit_withdraws_the_approval():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    workflow.approve(desk.task.pk, by=desk.reviewer)

    desk.edit(by=desk.author, title="Bread for Sunday")

    assert desk.state == TaskState.DRAFT


def test_required_approvals_come_from_different_people():
    desk = Desk(approvals_needed=2)
    submit(desk.task.pk, by=desk.author)

    workflow.approve(desk.task.pk, by=desk.reviewer)
    assert desk.state == TaskState.IN_REVIEW
    told = Notification.objects.filter(kind="approved", user=desk.author)
    assert not told.exists()
    with pytest.raises(WorkflowError, match="already approved this version"):
        workflow.approve(desk.task.pk, by=desk.reviewer)
    workflow.approve(desk.task.pk, by=desk.second)

    assert desk.state == TaskState.APPROVED and told.exists()


def test_a_request_for_changes_counts_as_no_approval():
    desk = Desk(approvals_needed=2)
    submit(desk.task.pk, by=desk.author)
    workflow.request_changes(desk.task.pk, by=desk.reviewer, text="Which rye?")
    submit(desk.task.pk, by=desk.author)

    workflow.approve(desk.task.pk, by=desk.second)

    assert desk.state == TaskState.IN_REVIEW


def test_who_took_an_approval_back_is_asked_for_it_again_and_can_approve_the_same_version():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    workflow.approve(desk.task.pk, by=desk.reviewer)
    workflow.request_changes(desk.task.pk, by=desk.reviewer, text="Which oven?")
    submit(desk.task.pk, by=desk.author)
    assert desk.task in tasks_to_review(desk.reviewer, Benchmark.objects.all())

    workflow.approve(desk.task.pk, by=desk.reviewer)

    assert desk.state == TaskState.APPROVED


def test_outdated_version_cannot_be_approved():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    desk.edit(by=desk.author, title="Bread for Sunday")
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="now at version 2, and you read version 1"):
        workflow.approve(desk.task.pk, by=desk.reviewer, version=1)


def test_requesting_changes_needs_a_text_and_returns_the_task():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="Say what should change"):
        workflow.request_changes(desk.task.pk, by=desk.reviewer, text="  ")
    with pytest.raises(WorkflowError, match="Say what should change"):
        workflow.request_changes(desk.task.pk, by=desk.reviewer, answers={"realistic": ReviewAnswer(True, "Very.")})
    workflow.request_changes(desk.task.pk, by=desk.reviewer, text="Say which rye.")

    assert desk.state == TaskState.CHANGES_REQUESTED
    submit(desk.task.pk, by=desk.author)
    assert desk.state == TaskState.IN_REVIEW


def test_transitions_out_of_order_are_rejected():
    desk = Desk()

    with pytest.raises(WorkflowError, match="This task is draft: only a task in review"):
        workflow.approve(desk.task.pk, by=desk.reviewer)
    with pytest.raises(WorkflowError, match="no review to withdraw"):
        withdraw(desk.task.pk, by=desk.author)
    submit(desk.task.pk, by=desk.author)
    with pytest.raises(WorkflowError, match="only a draft can be submitted"):
        submit(desk.task.pk, by=desk.author)
    withdraw(desk.task.pk, by=desk.author)

    assert desk.state == TaskState.DRAFT


def test_task_outside_the_episode_can_be_retired_and_reopened():
    desk = Desk()

    with pytest.raises(WorkflowError, match="Take it out there first"):
        retire(desk.task.pk, by=desk.author)
    save_order(desk.persona.pk, [], by=desk.author)
    retire(desk.task.pk, by=desk.author)
    assert desk.state == TaskState.RETIRED
    reopen(desk.task.pk, by=desk.author)

    assert desk.state == TaskState.DRAFT


SO = {key: ReviewAnswer(True) for key in QUESTIONS}


def test_approval_stores_the_review_checklist_or_that_it_was_skipped():
    desk = Desk(approvals_needed=2)
    submit(desk.task.pk, by=desk.author)

    answers = {
        "realistic": ReviewAnswer(True),
        "feasible": ReviewAnswer(False, "No file"),
        "well_scoped": ReviewAnswer(True),
    }
    with pytest.raises(WorkflowError, match="Not answered “Yes”: feasible, correct"):
        workflow.approve(desk.task.pk, by=desk.reviewer, answers=answers)
    workflow.approve(desk.task.pk, by=desk.reviewer, answers=SO)
    workflow.approve(desk.task.pk, by=desk.second)

    first, second = Review.objects.order_by("pk")
    assert first.answers == {key: {"so": True, "word": ""} for key in QUESTIONS}
    assert second.answers == {}
    assert Event.objects.filter(verb="approved").first().summary == (
        "Version 1, 2 of 2. Approved without the review checklist."
    )


def test_a_note_beside_a_yes_is_not_sent():
    form = {"answer.realistic": "yes", "note.realistic": "x", "answer.feasible": "no", "note.feasible": "No file"}

    assert posted_answers(form) == {"realistic": ReviewAnswer(True), "feasible": ReviewAnswer(False, "No file")}


def test_requested_changes_name_the_unmet_questions():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)

    answers = {"realistic": ReviewAnswer(True), "feasible": ReviewAnswer(False, " There is no order list. ")}
    workflow.request_changes(desk.task.pk, by=desk.reviewer, answers=answers)

    review = Review.objects.get()
    assert review.answers["feasible"] == {"so": False, "word": "There is no order list."}
    assert Event.objects.get(verb="changes_requested").summary == "Not feasible: There is no order list."


def test_required_review_checklist_cannot_be_skipped():
    desk = Desk(review_by_list=True)
    submit(desk.task.pk, by=desk.author)

    with pytest.raises(WorkflowError, match="requires the review checklist"):
        workflow.approve(desk.task.pk, by=desk.reviewer)
    with pytest.raises(WorkflowError, match="at least one of the four questions"):
        workflow.request_changes(desk.task.pk, by=desk.reviewer, text="No.")
    refuse_in_database(desk.task, desk.reviewer, "approved_by_list")
    workflow.approve(desk.task.pk, by=desk.reviewer, answers=SO)

    assert desk.state == TaskState.APPROVED


def review_in_database(task, reviewer, **fields):
    content = Task.objects.get(pk=task.pk).content
    task.revisions.first().reviews.create(reviewer=reviewer, decision="approved", content=content, **fields)


def refuse_in_database(task, reviewer, constraint, **fields):
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        review_in_database(task, reviewer, **fields)
    assert refused.value.__cause__.diag.constraint_name == constraint


def test_database_rejects_approvals_by_authors_or_with_an_unmet_question():
    desk = Desk()
    desk.edit(by=desk.second, title="Bread for Sunday")

    refuse_in_database(desk.task, desk.author, "approved_by_others")
    refuse_in_database(desk.task, desk.second, "approved_by_others")
    answers = {"realistic": {"so": False, "word": ""}}
    refuse_in_database(desk.task, desk.reviewer, "approved_points_are_so", answers=answers)
    review_in_database(desk.task, desk.reviewer)


def test_database_counts_authors_of_an_approved_version_again_once_changes_were_requested():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    workflow.approve(desk.task.pk, by=desk.reviewer)
    workflow.request_changes(desk.task.pk, by=desk.second, text="The rye is missing.")
    desk.edit(by=desk.second, title="Bread for Sunday")

    refuse_in_database(desk.task, desk.author, "approved_by_others")
    refuse_in_database(desk.task, desk.second, "approved_by_others")
    review_in_database(desk.task, desk.reviewer)


def approve_in_database():
    with transaction.atomic():
        Task.objects.update(state=TaskState.APPROVED)
        connection.check_constraints()


def test_database_counts_the_approvals():
    desk = Desk(approvals_needed=2)
    submit(desk.task.pk, by=desk.author)
    workflow.approve(desk.task.pk, by=desk.reviewer)

    with pytest.raises(IntegrityError, match="by as many as"):
        approve_in_database()
    workflow.approve(desk.task.pk, by=desk.second)
    connection.check_constraints()

    assert desk.state == TaskState.APPROVED


@pytest.mark.parametrize("state", ["draft", "changes_requested"])
def test_database_approves_nothing_without_a_review(state):
    Desk()
    Task.objects.update(state=state)

    with pytest.raises(IntegrityError, match="by as many as"):
        approve_in_database()


def test_first_of_two_approvals_does_not_reset_the_authors():
    desk = Desk(approvals_needed=2)
    submit(desk.task.pk, by=desk.author)
    workflow.approve(desk.task.pk, by=desk.reviewer)
    desk.edit(by=desk.second, title="Bread for Sunday")

    assert authors_of(desk.task.revisions.first()) == {desk.author.pk, desk.second.pk}
    assert authors_of_newest([desk.task]) == {desk.task.pk: {desk.author.pk, desk.second.pk}}


def test_open_comments_are_reason_enough_to_request_changes():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    comments.add_comment(desk.task.pk, by=desk.author, text="My own note.")
    with pytest.raises(WorkflowError, match="here or in a comment"):
        workflow.request_changes(desk.task.pk, by=desk.reviewer)
    comments.add_comment(desk.task.pk, by=desk.reviewer, text="Which flour?")
    comments.add_comment(desk.task.pk, by=desk.reviewer, text="Which day?")

    workflow.request_changes(desk.task.pk, by=desk.reviewer)

    assert desk.state == TaskState.CHANGES_REQUESTED
    assert Event.objects.get(verb="changes_requested").summary == "See 2 open comments."


def obstacle(desk, user, *, reviews=True):
    desk.task.refresh_from_db()
    authors = authors_of(desk.task.revisions.get(number=desk.task.version))
    people = assignees_of(desk.task, authors=authors)
    return approval_obstacle(desk.task, user, people=people, authors=authors, reviews=reviews)


def test_a_reviewer_whose_suggestion_was_applied_is_told_why_they_cannot_approve_and_who_can():
    desk = Desk()
    comment = comments.add_comment(
        desk.task.pk, by=desk.reviewer, text="", field="initial_request", suggestion="Bake, please."
    )
    suggestions.apply(desk.task.pk, [comment.pk], by=desk.author)
    submit(desk.task.pk, by=desk.author)

    assert obstacle(desk, desk.reviewer) == (
        f"You cannot approve it: your suggestion became part of it in version 2. {desk.second} can."
    )
    assert obstacle(desk, desk.second) == obstacle(desk, desk.author, reviews=False) == ""


def test_a_team_without_another_reviewer_is_told_what_to_do():
    desk = Desk()
    desk.second.memberships.all().delete()
    desk.edit(by=desk.reviewer, title="Bread for Sunday")
    submit(desk.task.pk, by=desk.author)

    assert obstacle(desk, desk.reviewer) == (
        "You cannot approve it: you wrote part of this version."
        " Nobody else here can review it. An owner can add a reviewer to the benchmark."
    )
    assert obstacle(desk, desk.author, reviews=False).startswith("Nobody else here can review it.")


def test_who_can_release_hears_when_the_last_task_is_approved():
    desk = Desk()
    manager = member(desk.benchmark, Role.RELEASE_MANAGER)
    other = a_task(desk.persona, "rolls", by=desk.author)
    told = Notification.objects.filter(kind="release_blocked")

    for number, task in enumerate((desk.task, other)):
        assert told.count() == 0, f"told after {number} of 2"
        submit(task.pk, by=desk.author)
        workflow.approve(task.pk, by=desk.reviewer)

    [notice] = told
    assert (notice.user, notice.address) == (manager, f"/benchmarks/{desk.benchmark.slug}/releases/")


def test_a_task_with_blanks_is_not_submitted():
    desk = Desk()
    desk.edit(by=desk.author, title="Bread for <insert the day>")

    other = a_task(desk.persona, "rolls", by=desk.author)

    with pytest.raises(WorkflowError, match="1 blank must be filled in"):
        submit(desk.task.pk, by=desk.author)

    assert desk.state == TaskState.DRAFT
    submit(other.pk, by=desk.author)


def test_open_comments_are_approved_over_only_by_who_says_so():
    desk = Desk()
    submit(desk.task.pk, by=desk.author)
    asked = comments.add_comment(desk.task.pk, by=desk.second, text="Which day?")
    comments.reply(asked, by=desk.author, text="Saturday.")
    comments.retract(comments.add_comment(desk.task.pk, by=desk.second, text="Never mind."), by=desk.second)

    with pytest.raises(WorkflowError, match="1 comment is open"):
        workflow.approve(desk.task.pk, by=desk.reviewer)
    workflow.approve(desk.task.pk, by=desk.reviewer, despite_comments=True)

    assert desk.state == TaskState.APPROVED
    assert "1 comment left open." in Event.objects.get(task=desk.task, verb="approved").summary


def test_before_a_task_is_submitted_its_author_sees_what_is_open_and_who_is_asked(client):
    desk = Desk()
    desk.edit(by=desk.author, title="Bread for <insert the day>")
    comments.add_comment(desk.task.pk, by=desk.second, text="Which day?")
    client.force_login(desk.author)
    address = desk.task.get_absolute_url()

    asked = client.post(f"{address}do/submit/", {"sheet": "1"}, follow=True)
    html = asked.content.decode()

    assert desk.state == TaskState.DRAFT and asked.redirect_chain == [(f"{address}submit/", 302)]
    assert "<insert the day>".replace("<", "&lt;").replace(">", "&gt;") in html and "Which day?" in html
    assert "Who is asked" not in html and ">Submit for review</button>" not in html
    desk.edit(by=desk.author, title="Bread for Sunday")
    html = client.get(f"{address}submit/").content.decode()
    assert str(desk.reviewer) in html and str(desk.second) in html
    assert ">Submit for review</button>" in html
    client.post(f"{address}do/submit/", {"reviewer": ""})
    assert desk.state == TaskState.IN_REVIEW

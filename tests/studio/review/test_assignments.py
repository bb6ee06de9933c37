"""Assignments of authors and reviewers."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from studio import access
from studio.drafts.load import load_task
from studio.models import Assignment, Event, Membership, Persona, Role, Task
from studio.notifications import inbox
from studio.reports.todo import drafts_to_write, tasks_sent_back, tasks_to_review
from studio.review import assignments, bulk, workflow
from studio.review.assignments import AssignmentError
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, a_persona, a_task, mark_approved, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


class Desk:
    def __init__(self, **fields):
        self.benchmark = BenchmarkFactory(**fields)
        self.owner = member(self.benchmark, Role.OWNER)
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.second = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author)
        self.task = a_task(self.persona, by=self.author)

    def name(self, *, by=None, task=None, writer=None, reviewers=()):
        assignments.set_assignees((task or self.task).pk, by=by or self.owner, writer=writer, reviewers=list(reviewers))

    def named(self, task=None):
        rows = Assignment.objects.filter(task=task or self.task).order_by("part", "pk")
        return [(row.part, row.user) for row in rows]


@pytest.fixture(scope="module")
def shared_desk(module_db):
    return Desk()


@pytest.fixture
def desk(shared_desk):
    return fresh(shared_desk)


def kinds(user):
    return [row.kind for row in reversed(inbox.inbox_of(user))]


def test_assignment_notifies_once_and_is_recorded(desk):
    desk.name(writer=desk.author, reviewers=[desk.reviewer, desk.second])
    desk.name(writer=desk.author, reviewers=[desk.reviewer])

    assert desk.named() == [("reviewer", desk.reviewer), ("writer", desk.author)]
    assert (kinds(desk.author), kinds(desk.reviewer), kinds(desk.second)) == (["assigned"], ["assigned"], ["assigned"])
    lines = Event.objects.filter(verb="assigned").order_by("pk").values_list("summary", flat=True)
    names = " and ".join(sorted([str(desk.reviewer), str(desk.second)]))
    assert list(lines) == [f"{desk.author} writes it.", f"{names} review it.", f"{desk.reviewer} reviews it."]


def test_users_without_role_authors_and_double_parts_are_rejected(desk):
    stranger = member(BenchmarkFactory(), Role.OWNER)

    for people, message in [
        ({"writer": desk.reviewer}, "not allowed to write"),
        ({"reviewers": [desk.author]}, "not allowed to review"),
        ({"writer": stranger}, "not allowed to write"),
        ({"writer": desk.owner, "reviewers": [desk.owner]}, "cannot be both author and reviewer"),
    ]:
        with pytest.raises(AssignmentError, match=message):
            desk.name(**people)
    save_task(desk.task.pk, load_task(desk.task).model_copy(update={"title": "x"}), by=desk.owner)
    with pytest.raises(AssignmentError, match="wrote part"):
        desk.name(reviewers=[desk.owner])

    assert desk.named() == []


def test_author_can_become_reviewer_and_vice_versa(desk):
    desk.name(reviewers=[desk.owner])
    desk.name(writer=desk.owner)
    assert desk.named() == [("writer", desk.owner)]
    lines = Event.objects.filter(verb="assigned").order_by("-pk").values_list("summary", flat=True)
    assert list(lines[:2]) == [f"{desk.owner} writes it.", "Nobody reviews it."]
    desk.name(reviewers=[desk.owner])

    assert desk.named() == [("reviewer", desk.owner)]


def test_two_people_change_places_in_one_step(desk):
    second = member(desk.benchmark, Role.OWNER)
    desk.name(writer=desk.author, reviewers=[second])

    desk.name(writer=second, reviewers=[desk.reviewer])

    assert desk.named() == [("reviewer", desk.reviewer), ("writer", second)]


def test_reviewer_who_wrote_since_stays_assigned(desk):
    desk.name(reviewers=[desk.owner])
    save_task(desk.task.pk, load_task(desk.task).model_copy(update={"title": "x"}), by=desk.owner)

    desk.name(writer=desk.author, reviewers=[desk.owner])

    assert desk.named() == [("reviewer", desk.owner), ("writer", desk.author)]


def test_nobody_whose_account_is_disabled_can_be_assigned(desk):
    desk.second.is_active = False
    desk.second.save()

    assert desk.second not in [each.user for each in assignments.assignees_of(desk.task).may_review]
    with pytest.raises(AssignmentError, match="not allowed to review"):
        desk.name(reviewers=[desk.second])


def refused(**fields):
    with pytest.raises(IntegrityError) as problem, transaction.atomic():
        Assignment.objects.create(**fields)
    return problem.value.__cause__.diag.constraint_name


def test_database_enforces_roles_and_parts(desk):
    stranger = member(BenchmarkFactory(), Role.OWNER)

    assert refused(task=desk.task, user=desk.reviewer, part="writer") == "assigned_may"
    assert refused(task=desk.task, user=stranger, part="reviewer") == "assigned_may"
    desk.name(writer=desk.author)
    assert refused(task=desk.task, user=desk.owner, part="writer") == "one_writer"
    desk.name(reviewers=[desk.owner])
    assert refused(task=desk.task, user=desk.owner, part="writer") == "assigned_once"


def test_losing_the_role_deletes_the_assignment(desk):
    desk.name(writer=desk.author, reviewers=[desk.reviewer])

    access.set_roles(desk.benchmark, desk.author, [Role.OWNER], by=desk.owner)
    assert ("writer", desk.author) in desk.named()
    access.set_roles(desk.benchmark, desk.author, [Role.VIEWER], by=desk.owner)
    access.set_roles(desk.benchmark, desk.reviewer, [], by=desk.owner)

    assert desk.named() == []


def test_submission_notifies_assigned_reviewers(desk):
    desk.name(reviewers=[desk.reviewer])

    submit(desk.task.pk, by=desk.author)

    assert kinds(desk.reviewer) == ["assigned", "review_asked"]
    assert kinds(desk.second) == []


def waiting(user):
    return list(tasks_to_review(user, access.benchmarks_for(user)))


def test_assigned_reviews_come_first_and_those_of_others_are_left_out(desk):
    other, third = (a_task(desk.persona, name, by=desk.author) for name in ("rolls", "buns"))
    for task in (desk.task, other, third):
        submit(task.pk, by=desk.author)
    desk.name(task=third, reviewers=[desk.reviewer])
    desk.name(task=other, reviewers=[desk.second])

    assert waiting(desk.reviewer) == [third, desk.task]
    assert waiting(desk.second) == [other, desk.task]


def test_a_task_is_not_listed_to_review_for_who_wrote_part_of_it_and_cannot_approve_it(desk):
    save_task(desk.task.pk, load_task(desk.task).model_copy(update={"title": "By the owner"}), by=desk.owner)
    save_task(desk.task.pk, load_task(desk.task).model_copy(update={"title": "By the author"}), by=desk.author)
    submit(desk.task.pk, by=desk.author)

    assert waiting(desk.owner) == []
    assert waiting(desk.reviewer) == [desk.task]


def test_second_required_review_is_offered_to_others():
    desk = Desk(approvals_needed=2)
    submit(desk.task.pk, by=desk.author)

    desk.name(reviewers=[desk.reviewer])
    assert waiting(desk.second) == [desk.task]
    desk.name(reviewers=[desk.reviewer, desk.owner])

    assert waiting(desk.second) == []


def test_drafts_are_listed_for_their_assigned_author(desk):
    desk.name(writer=desk.owner)
    mine, theirs = access.benchmarks_for(desk.author), access.benchmarks_for(desk.owner)

    assert list(drafts_to_write(desk.author, mine)) == []
    assert list(drafts_to_write(desk.owner, theirs)) == [desk.task]
    submit(desk.task.pk, by=desk.author)
    workflow.request_changes(desk.task.pk, by=desk.reviewer, text="Say which rye.")
    assert list(tasks_sent_back(desk.owner, theirs)) == [desk.task]


def test_reviewer_with_the_fewest_open_reviews_is_proposed(desk):
    desk.name(reviewers=[desk.second])
    other = a_task(desk.persona, "rolls", by=desk.author)
    desk.name(task=other, reviewers=[desk.owner])

    people = assignments.assignees_of(desk.task)

    assert (people.may_review[0].user, people.may_review[0].open) == (desk.reviewer, 0)
    assert assignments.least_busy_reviewer(desk.task) == desk.reviewer
    assert assignments.least_busy_reviewer(desk.task, writer=desk.reviewer) in (desk.owner, desk.second)


@pytest.mark.slow
def test_bulk_assignment_distributes_tasks_and_list_filters_by_people(desk):
    others = [a_task(desk.persona, f"task{number}", by=desk.author) for number in range(5)]
    chosen = {task.pk: None for task in [desk.task, *others]}
    client = Client()
    client.force_login(desk.reviewer)
    url = reverse("studio:tasks", args=[desk.benchmark.slug])

    lines = bulk.plan(desk.benchmark, chosen, "reviewer", bulk.LEAST_BUSY)
    assert sorted([line.after for line in lines]) == sorted(2 * [str(desk.owner), str(desk.reviewer), str(desk.second)])
    number = bulk.apply(desk.benchmark, chosen, "reviewer", bulk.LEAST_BUSY, by=desk.author)

    def listed(**asked):
        return len(client.get(url, asked).context["page"].object_list)

    assert number == 6
    assert (listed(reviewer="me"), listed(reviewer=desk.owner.username), listed(reviewer="none")) == (2, 2, 0)
    assert (listed(writer="none"), listed(writer="me"), listed(writer="no such person")) == (6, 0, 0)
    sent = {"does": "writer", "person": desk.author.username, "everything": "1", "back": "reviewer=me"}
    page = client.post(reverse("studio:tasks_change", args=[desk.benchmark.slug]), sent).content.decode()
    assert "2 of 2 tasks would change" in page
    client.post(reverse("studio:tasks_change", args=[desk.benchmark.slug]), sent | {"sure": "1"})
    assert Assignment.objects.filter(part="writer", user=desk.author).count() == 2
    assert str(desk.author) in client.get(url).content.decode()


def test_bulk_assignment_gives_nobody_both_parts(desk):
    desk.name(reviewers=[desk.owner])

    [line] = bulk.plan(desk.benchmark, {desk.task.pk: None}, "writer", desk.owner.username)

    assert line.refusal == f"{desk.owner} reviews it."


def test_bulk_assignment_skips_authors(desk):
    save_task(desk.task.pk, load_task(desk.task).model_copy(update={"title": "x"}), by=desk.owner)

    [line] = bulk.plan(desk.benchmark, {desk.task.pk: None}, "reviewer", desk.owner.username)
    assert line.refusal
    with pytest.raises(bulk.BulkChangeError, match="someone who is allowed"):
        bulk.plan(desk.benchmark, {desk.task.pk: None}, "reviewer", desk.author.username)


@pytest.mark.slow
def test_number_of_queries_of_a_bulk_assignment_is_constant(desk, django_assert_max_num_queries):
    with django_assert_max_num_queries(40) as queries:
        bulk.apply(desk.benchmark, {desk.task.pk: None}, "reviewer", bulk.LEAST_BUSY, by=desk.author)
    chosen = {a_task(desk.persona, f"task{number}", by=desk.author).pk: None for number in range(12)}

    with django_assert_max_num_queries(len(queries)):
        bulk.apply(desk.benchmark, chosen, "reviewer", bulk.LEAST_BUSY, by=desk.author)


def test_page_assigns_people_and_rejects_strangers(desk):
    persona = desk.task.persona
    url = reverse("studio:assign", args=[desk.benchmark.slug, persona.user_id, desk.task.pk])
    client, viewer, stranger = Client(), Client(), Client()
    client.force_login(desk.author)
    viewer.force_login(member(desk.benchmark, Role.VIEWER))
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))

    client.post(url, {"writer": desk.author.username, "reviewer": [desk.reviewer.username, "nobody"]})
    assert desk.named() == [("reviewer", desk.reviewer), ("writer", desk.author)]
    client.post(url, {"writer": desk.author.username, "fewest": "1"})
    assert desk.named()[0][1] in (desk.owner, desk.second)
    assert (viewer.post(url).status_code, stranger.post(url).status_code) == (403, 404)
    assert Task.objects.get(pk=desk.task.pk).version == 1


def test_task_is_submitted_to_a_chosen_reviewer(desk):
    client = Client()
    client.force_login(desk.author)
    address = f"{desk.task.get_absolute_url()}do/submit/"
    desk.name(writer=desk.author, reviewers=[desk.reviewer])

    refused = client.post(address, {"reviewer": desk.author.username}, follow=True)
    assert Task.objects.get().state == "draft" and "cannot be both author and reviewer" in refused.content.decode()
    client.post(address, {"reviewer": desk.second.username})

    assert desk.named() == [("reviewer", desk.second), ("writer", desk.author)]
    assert Task.objects.get().state == "in_review"
    assert kinds(desk.second) == ["assigned", "review_asked"]


@pytest.mark.slow
def test_reviewer_goes_from_one_task_to_the_next(desk):
    other = a_task(desk.persona, "rolls", by=desk.author, title="Rolls")
    for task in (desk.task, other):
        submit(task.pk, by=desk.author)
    client = Client()
    client.force_login(desk.reviewer)
    answers = {f"answer.{question}": "yes" for question in ("realistic", "feasible", "correct", "well_scoped")}

    page = client.post(f"{desk.task.get_absolute_url()}do/approve/", answers, follow=True).content.decode()
    last = client.post(f"{other.get_absolute_url()}do/approve/", answers, follow=True).content.decode()

    assert f"Next to review: <a href='{other.get_absolute_url()}'>Rolls</a>" in page
    assert "Approved." in last and "Next to review" not in last


def test_database_keeps_which_assignments_are_open_and_where(desk):
    def number_open(benchmark):
        return {one.user: one.open for one in assignments.eligible_members(benchmark)["writer"]}.get(desk.author)

    home, elsewhere = desk.benchmark, BenchmarkFactory()
    assert number_open(home) == 0
    desk.name(writer=desk.author)
    assert number_open(home) == 1
    mark_approved()
    for state, number in (("approved", 0), ("released", 0), ("in_review", 1), ("retired", 0), ("draft", 1)):
        Task.objects.filter(pk=desk.task.pk).update(state=state)
        assert number_open(home) == number

    Membership.objects.create(benchmark=elsewhere, user=desk.author, role=Role.AUTHOR)
    Persona.objects.filter(pk=desk.persona.pk).update(benchmark=elsewhere)
    assert (number_open(home), number_open(elsewhere)) == (0, 1)

"""A task's activity."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.activity.timeline import activity_of, by_day
from studio.domain.anchors import Quote
from studio.domain.task import ChecklistItem, ExactCheck, Recovery
from studio.drafts.load import load_task
from studio.models import Role
from studio.review import assignments, comments, suggestions, workflow
from studio.review.checklist import QUESTIONS, ReviewAnswer
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.studio.page_forms import joined

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    return Desk()


class Desk:
    def __init__(self):
        self.benchmark = BenchmarkFactory()
        self.author, self.reviewer = member(self.benchmark, Role.AUTHOR), member(self.benchmark, Role.REVIEWER)
        self.second = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author)
        self.task = a_task(self.persona, by=self.author)

    def live(self):
        """A round of everything."""
        assignments.set_assignees(self.task.pk, by=self.author, writer=self.author, reviewers=[self.second])
        submit(self.task.pk, by=self.author)
        comment = comments.add_comment(
            self.task.pk,
            by=self.reviewer,
            text="Which <b>plan</b>?",
            field="initial_request",
            quoted=Quote("plan.md"),
            suggestion=f"plan{self.task.revisions.count()}.md",
        )
        comments.reply(comment, by=self.author, text="The second.")
        answers = {"feasible": ReviewAnswer(False, "No file.")}
        workflow.request_changes(self.task.pk, by=self.reviewer, answers=answers)
        suggestions.apply(self.task.pk, [comment.pk], by=self.author)
        submit(self.task.pk, by=self.author)
        so = {key: ReviewAnswer(True) for key in QUESTIONS}
        workflow.approve(self.task.pk, by=self.second, answers=so)
        return comment

    def url(self, name, *args):
        return reverse(f"studio:{name}", args=[self.benchmark.slug, self.persona.user_id, self.task.pk, *args])

    def get(self, url):
        client = Client()
        client.force_login(self.author)
        return client.get(url).content.decode()


def kinds(desk, only=""):
    kinds = [
        (entry.kind, getattr(entry.row, "verb", "") or getattr(entry.row, "decision", ""))
        for entry in activity_of(desk.task, only=only)
    ]
    return kinds[::-1]


def test_every_event_appears_once_in_chronological_order(desk):
    desk.live()

    assert kinds(desk) == [
        ("version", ""),
        ("event", "assigned"),
        ("event", "assigned"),
        ("event", "submitted"),
        ("comment", ""),
        ("reply", ""),
        ("review", "changes_requested"),
        ("version", ""),
        ("event", "submitted"),
        ("review", "approved"),
    ]
    newest = next(entry for entry in activity_of(desk.task) if entry.kind == "version")
    assert (newest.summary, [one.author for one in newest.applied]) == ("Changed the initial request.", [desk.reviewer])


def test_activity_can_be_narrowed_to_versions_or_comments(desk):
    comment = desk.live()
    comments.resolve(comment, by=desk.author, resolved=False)

    assert {kind for kind, _ in kinds(desk, "versions")} == {"version", "event", "review"}
    assert kinds(desk, "talk") == [
        ("comment", ""),
        ("reply", ""),
        ("review", "changes_requested"),
        ("review", "approved"),
        ("event", "opened_a_remark_again"),
    ]


def test_retracted_comments_without_replies_are_left_out(desk):
    comment = comments.add_comment(desk.task.pk, by=desk.reviewer, text="Hm.")
    other = comments.add_comment(desk.task.pk, by=desk.reviewer, text="Well.")
    for number in range(3):
        comments.reply(other, by=desk.author, text=f"{number}")
    comments.retract(comment, by=desk.reviewer)
    comments.retract(other, by=desk.reviewer)

    assert [kind for kind, _ in kinds(desk, "talk")] == ["comment", "reply", "reply", "reply"]


@pytest.mark.slow
def test_activity_takes_a_constant_number_of_queries(desk, django_assert_max_num_queries):
    desk.live()
    with django_assert_max_num_queries(12) as little:
        list(activity_of(desk.task))
    for _ in range(6):
        save_task(
            desk.task.pk,
            load_task(desk.task).model_copy(update={"initial_request": "Make plan.md."}),
            by=desk.author,
        )
        desk.live()

    with django_assert_max_num_queries(len(little)):
        assert len(list(activity_of(desk.task))) == 50


@pytest.mark.slow
def test_page_groups_activity_by_day_and_escapes_text(desk):
    desk.live()

    page = desk.get(desk.url("activity"))

    assert [len(entries) for _, entries in by_day(activity_of(desk.task))] == [10]
    assert "<b>plan</b>" not in page and "&lt;b&gt;plan" in page
    assert page.count(">the initial request</a>") == 2
    assert "Feasible: no" in page and "No file." in page and "suggested by" in page
    assert "Well scoped" in desk.get(desk.url("activity") + "?only=talk&page=x")
    assert "replied on" in desk.get(desk.task.get_absolute_url())


def test_nested_fields_are_described_and_any_two_versions_compared(desk):
    spec = load_task(desk.task)
    intent = spec.intents[0].model_copy(
        update={"recoverable_from": (Recovery(kind="file", ref="orders.csv", note="p. 2"),)}
    )
    item = ChecklistItem(
        uid="00000000-0000-0000-0000-00000000000a",
        criterion="It says so.",
        grader="rule",
        rule=ExactCheck(kind="file_contains", path="plan.md", text="rye"),
        follows_from=(intent.uid,),
    )
    changed = {
        "intents": (intent,),
        "checklist": (*spec.checklist, item),
        "metadata": {"steps": {"first": ["rye", "rolls"]}},
    }
    save_task(desk.task.pk, spec.model_copy(update=changed), by=desk.author)
    save_task(desk.task.pk, spec, by=desk.author)

    page = desk.get(desk.url("version", 2))

    assert "found out from: a file orders.csv – p. 2" in joined(page).replace("<ins>", "").replace("</ins>", "")
    assert "rule: the file contains plan.md “rye”" in page
    assert "tests intent: 1" in page
    assert "{" not in page.partition('class="diff"')[2].partition("</main>")[0]
    same = desk.get(desk.url("version", 3) + "?with=1")
    assert "No differences." in same
    assert '<option value="1" selected>' in same

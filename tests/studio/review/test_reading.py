"""A task as reviewers read it."""

from __future__ import annotations

import pytest
from django.test import Client

from studio.domain.task import ChecklistItem, Dependency, ExactCheck, HiddenIntent, Recovery, TaskSpec
from studio.drafts.load import load_task
from studio.models import Role
from studio.review.reading import ABOUT, SECTIONS, last_reviewed, reading_sections
from studio.review.workflow import request_changes
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, a_persona, a_task, member

SPEC = TaskSpec(
    task_id="rye",
    initial_request="Bake the rye.",
    intents=(
        HiddenIntent(
            uid="a",
            content="No seeds on top.",
            scope="persistent",
            recoverable_from=(Recovery(kind="file", ref="orders.csv", note="last line"),),
        ),
        HiddenIntent(uid="b", content="Two loaves."),
    ),
    checklist=(
        ChecklistItem(
            uid="c",
            criterion="The note says two.",
            weight=2,
            grader="rule",
            rule=ExactCheck(kind="file_contains", path="note.md", text="two"),
            follows_from=("b",),
        ),
        ChecklistItem(uid="d", criterion="No seeds are ordered."),
    ),
    depends_on=(Dependency(task_id="dough", carries_over="The starter is fed."),),
)


def test_what_differs_from_the_usual_is_said_in_words_and_nothing_else():
    sections = {row.key: row for row in reading_sections(SPEC, None, {"dough": "Feed the starter"})}

    assert list(sections) == ["request", "intents", "checklist", "needs"]
    first, second = sections["intents"].rows
    assert first.notes == ("lasts across sessions", "found out from a file orders.csv (last line)")
    assert second.notes == ()
    ruled, judged = sections["checklist"].rows
    assert ruled.notes == ("rule: “note.md” contains “two”", "weighs 2", "tests intent 2")
    assert judged.notes == ()
    [need] = sections["needs"].rows
    assert (need.text, need.notes) == ("Feed the starter", ("The starter is fed.",))


def test_every_field_that_is_not_only_for_exports_stands_in_a_section():
    assert {about.section for about in ABOUT.values()} <= set(SECTIONS)


def test_only_sections_that_say_something_else_are_marked_and_lose_their_tick():
    before = SPEC.model_copy(update={"initial_request": "Bake the bread."})
    old, new = ({row.key: row for row in reading_sections(spec, before, {})} for spec in (before, SPEC))

    assert [row.key for row in new.values() if row.changes] == ["request"]
    assert [key for key in new if new[key].digest != old[key].digest] == ["request"]


@pytest.mark.parametrize(("weight", "notes"), [(0.5, ("weighs 0.5",)), (1.0, ())])
def test_a_weight_is_told_where_it_is_not_one_and_a_tick_does_not_outlive_its_change(weight: float, notes: tuple):
    items = (ChecklistItem(uid="d", criterion="No seeds are ordered.", weight=weight),)
    [section], [heavy] = (
        [
            row
            for row in reading_sections(SPEC.model_copy(update={"checklist": rows}), None, {})
            if row.key == "checklist"
        ]
        for rows in (items, (items[0].model_copy(update={"weight": 3}),))
    )

    assert section.rows[0].notes == notes
    assert section.digest != heavy.digest


def test_a_section_that_was_emptied_is_still_told():
    emptied = SPEC.model_copy(update={"checklist": ()})

    [gone] = [row for row in reading_sections(emptied, SPEC, {}) if row.key == "checklist"]

    assert gone.rows == () and len(gone.changes[0].differences) == 2


@pytest.mark.django_db
def test_reviewer_reads_what_changed_since_their_last_review_and_goes_on_to_review():
    benchmark = BenchmarkFactory()
    author, reviewer = member(benchmark, Role.AUTHOR), member(benchmark, Role.REVIEWER)
    task = a_task(a_persona(benchmark, by=author), by=author)
    client = Client()
    client.force_login(reviewer)
    address = f"{task.get_absolute_url()}read/"
    assert "your last review" not in client.get(address).content.decode()
    submit(task.pk, by=author)
    request_changes(task.pk, by=reviewer, text="Say which rye.")
    save_task(task.pk, load_task(task).model_copy(update={"initial_request": "Bake the dark rye."}), by=author)
    submit(task.pk, by=author)

    page = " ".join(client.get(address).content.decode().split())

    assert "1 section changed since" in page
    assert "changed since your last review" in page.partition('id="read-request"')[2].partition("</section>")[0]
    assert f'href="{task.get_absolute_url()}#review">Review it</a>' in page


@pytest.mark.django_db
def test_the_last_review_of_each_reader_is_their_own_newest():
    benchmark = BenchmarkFactory()
    author, reviewer, other = (member(benchmark, role) for role in (Role.AUTHOR, Role.REVIEWER, Role.REVIEWER))
    task = a_task(a_persona(benchmark, by=author), by=author)
    for person in (reviewer, reviewer, other):
        submit(task.pk, by=author)
        request_changes(task.pk, by=person, text="Say which rye.")
    first, second, third = task.revisions.get().reviews.order_by("pk")

    assert first != last_reviewed(task, reviewer) == second
    assert last_reviewed(task, other) == third
    assert last_reviewed(task, author) is None

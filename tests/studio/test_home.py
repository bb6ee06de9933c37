"""Home: to-do list, activity and progress."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from studio import access
from studio.activity.feed import PAUSE, activity_feed, start_visit
from studio.drafts.load import load_task
from studio.findings.queries import count_findings
from studio.models import Event, Finding, Persona, Role, Task, Visit
from studio.reports.progress import by_latest_activity, progress_grids
from studio.reports.todo import todo_of, waiting_on_others
from studio.review import assignments, comments, workflow
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, member, persona_row, task_row
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
NOON = dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory(plan_sessions=4, plan_groups=1, plan_standalone=2)
    author = member(benchmark, Role.AUTHOR)
    return benchmark, author, a_persona(benchmark, by=author)


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def home(user, query=""):
    client = Client()
    client.force_login(user)
    return client.get(f"/{query}").content.decode()


def waiting(user):
    return [(group.key, [item.title for item in group.items], group.count) for group in _groups(user)]


def _groups(user):
    return todo_of(user)


def test_task_is_on_the_to_do_list_of_whoever_has_to_act(project):
    benchmark, author, persona = project
    reviewer = member(benchmark, Role.REVIEWER)
    rolls, _ = (a_task(persona, name, by=author, title=name) for name in ("rolls", "rye"))

    assert waiting(author) == [("drafts", ["rye", "rolls"], 2)]
    submit(rolls.pk, by=author)
    assert (waiting(reviewer), waiting(author)) == ([("reviews", ["rolls"], 1)], [("drafts", ["rye"], 1)])
    workflow.request_changes(rolls.pk, by=reviewer, text="More rolls.")
    assert waiting(author) == [("sent-back", ["rolls"], 1), ("drafts", ["rye"], 1)]
    assert waiting(UserFactory()) == []


@pytest.mark.slow
def test_home_names_whom_one_waits_for_and_since_when(project, monkeypatch):
    benchmark, author, persona = project
    reviewer = member(benchmark, Role.REVIEWER)
    rolls, rye = (a_task(persona, name, by=author, title=name) for name in ("rolls", "rye"))
    assert waiting_on_others(author).count == 0
    assert "Waiting on others" not in home(author)
    for task in (rye, rolls):
        submit(task.pk, by=author)
    assignments.set_assignees(rye.pk, by=author, writer=None, reviewers=[reviewer])
    later = timezone.now() + dt.timedelta(hours=5, minutes=2)
    monkeypatch.setattr("django.utils.timezone.now", lambda: later)

    group = waiting_on_others(author)

    assert [(item.title, item.note) for item in group.items] == [("rye", str(reviewer)), ("rolls", "any reviewer")]
    page = " ".join(home(author).partition("Waiting on others")[2].partition("</section>")[0].split())
    assert str(reviewer) in page and "5 h ago" in page
    assert waiting_on_others(reviewer).count == 0
    workflow.request_changes(rye.pk, by=reviewer, text="More rye.")
    assert [item.title for item in waiting_on_others(author).items] == ["rolls"]


def test_home_says_where_nobody_can_review_what_one_submitted(project):
    _, author, persona = project
    submit(a_task(persona, "rolls", by=author).pk, by=author)

    assert [item.note for item in waiting_on_others(author).items] == ["nobody can review it yet"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 30])
def test_waiting_on_others_costs_the_same_queries_for_one_and_for_many(project, number, django_assert_num_queries):
    _, author, persona = project
    for n in range(number):
        submit(a_task(persona, f"t{n}", by=author).pk, by=author)

    with django_assert_num_queries(4):
        group = waiting_on_others(author)

    assert group.count == number


@pytest.mark.slow
def test_long_to_do_lists_are_cut_with_a_link_to_all(project):
    _, author, persona = project
    for number in range(8):
        a_task(persona, f"t{number}", by=author, title=f"Loaf {number}")

    assert "2 more" in home(author)
    assert (
        "Loaf 0"
        not in home(author).partition('id="progress"')[0].partition('id="waiting"')[2].partition('id="activity"')[0]
    )
    assert "Loaf 0" in home(author, "?waiting=all").partition('id="progress"')[0]


def test_visit_ends_after_a_pause():
    user = UserFactory()

    assert start_visit(user, NOON) is None
    assert start_visit(user, NOON + dt.timedelta(minutes=30)) is None
    later = NOON + dt.timedelta(minutes=31) + PAUSE
    assert start_visit(user, later) == NOON + dt.timedelta(minutes=30)
    assert start_visit(user, later + dt.timedelta(minutes=5)) == NOON + dt.timedelta(minutes=30)
    assert start_visit(user, NOON) == NOON + dt.timedelta(minutes=30)
    assert Visit.objects.get(user=user).latest == later + dt.timedelta(minutes=5)


def test_activity_lists_changes_by_others_once_per_task(project):
    benchmark, author, persona = project
    reader = member(benchmark, Role.REVIEWER)
    task = a_task(persona, by=author, title="Rye bread")
    since = timezone.now()
    for number in range(3):
        spec = load_task(task).model_copy(update={"description": f"Take {number}."})
        save_task(task.pk, spec, by=author)
    submit(task.pk, by=author)
    comments.add_comment(task.pk, by=reader, text="Nice.")

    feed = activity_feed(reader, since)

    assert [(item.title, item.acts) for item in feed.items] == [
        ("Rye bread", [(str(author), "submitted it for review")])
    ]
    assert not activity_feed(author, since).items
    assert len(activity_feed(reader, None).items) >= 1
    assert not activity_feed(UserFactory(), None).items


def test_activity_names_with_each_person_only_what_they_did(project):
    benchmark, author, persona = project
    reader, other = member(benchmark, Role.OWNER), member(benchmark, Role.REVIEWER)
    task = a_task(persona, by=author, title="Rye bread")
    since = timezone.now()
    submit(task.pk, by=author)
    workflow.request_changes(task.pk, by=other, text="Say when.")

    [item] = activity_feed(reader, since).items

    assert item.acts == [(str(other), "requested changes"), (str(author), "submitted it for review")]
    assert f"<b>{other}</b> requested changes;" in home(reader)


@pytest.mark.slow
def test_second_visit_shows_activity_since_the_first(project):
    benchmark, author, persona = project
    reader = member(benchmark, Role.REVIEWER)
    assert "Recent activity" in home(reader)
    Visit.objects.update(latest=timezone.now() - 2 * PAUSE)

    assert "No changes by others since" not in home(reader)
    Event.objects.all().delete()
    assert "No changes by others since" in home(reader)
    a_task(persona, by=author, title="Rye bread")
    assert "Rye bread" in home(reader).partition('id="activity"')[2].partition("Progress")[0]


@pytest.mark.slow
def test_grid_shows_the_state_of_every_task(project):
    benchmark, author, persona = project
    reviewer = member(benchmark, Role.REVIEWER)
    rolls, rye, old = (a_task(persona, name, by=author, title=name) for name in ("rolls", "rye", "old"))
    submit(rolls.pk, by=author)
    workflow.approve(rolls.pk, by=reviewer)
    Task.objects.filter(pk=old.pk).update(state="retired")
    Finding.objects.all().delete()
    Finding.objects.create(task=rye, rule="r", severity="error", message="m", fingerprint="f")
    count_findings(Task.objects.values_list("pk", flat=True))

    (progress,) = progress_grids([benchmark])

    assert [cell.label for cell in progress.rows[0].cells] == ["1 · rolls: approved", "2 · rye: draft, 1 error"]
    assert (progress.done, progress.tasks, progress.planned, progress.missing, progress.errors) == (1, 2, 4, 2, 1)
    assert (progress.rows[0].missing, progress.legend) == (2, [("approved", 1), ("draft", 1)])
    html = home(author)
    assert f'href="{rye.get_absolute_url()}" title="2 · rye: draft, 1 error"' in html
    assert html.count('class="cell missing"') == 3  # two places, and the legend


def test_task_outside_the_episode_is_labelled(project):
    benchmark, author, persona = project
    task = a_task(persona, by=author, title="Loaf")
    Task.objects.filter(pk=task.pk).update(position=None)
    Finding.objects.all().delete()
    count_findings([task.pk])

    assert progress_grids([benchmark])[0].rows[0].cells[0].label == "Not in the episode · Loaf: draft"


def test_titles_are_escaped_in_the_grid(project):
    _, author, persona = project
    a_task(persona, by=author, title='"><script>alert(1)</script>')

    assert "<script>alert" not in home(author)


def test_benchmarks_are_ordered_by_latest_activity(project):
    benchmark, author, _ = project
    quiet = BenchmarkFactory(name="Aa")
    quiet.memberships.create(user=author, role=Role.AUTHOR)

    assert list(by_latest_activity(access.benchmarks_for(author))) == [benchmark, quiet]
    Event.objects.create(benchmark=quiet, verb="created")
    assert list(by_latest_activity(access.benchmarks_for(author))) == [quiet, benchmark]


def test_number_of_queries_of_grids_is_constant(project, django_assert_num_queries):
    benchmark, _, _persona = project
    with django_assert_num_queries(3):
        progress_grids([benchmark])
    people = Persona.objects.bulk_create(persona_row(benchmark, f"p{n}") for n in range(25))
    for each in people:
        Task.objects.bulk_create(task_row(each, f"t{n}", n) for n in range(20))

    with django_assert_num_queries(3):
        (progress,) = progress_grids([benchmark])

    assert (len(progress.rows), progress.more, progress.tasks) == (20, 6, 500)


@pytest.mark.slow
def test_new_author_sees_how_to_write_a_first_task(project):
    benchmark, _, persona = project
    newcomer, viewer = member(benchmark, Role.AUTHOR), member(benchmark, Role.VIEWER)

    assert "Your first task" in home(newcomer)
    assert "/first-task/start/" in home(newcomer).partition("Your first task")[2].partition("</section>")[0]
    assert "Your first task" not in home(viewer)
    a_task(persona, by=newcomer)
    assert "Your first task" not in home(newcomer)


def test_full_activity_is_visible_to_members_only(project):
    _, author, persona = project
    a_task(persona, by=author, title="Rye bread")
    client, stranger = Client(), Client()
    client.force_login(author)
    stranger.force_login(UserFactory())

    assert "Rye bread" in client.get("/happened/").content.decode()
    assert "Rye bread" not in stranger.get("/happened/").content.decode()

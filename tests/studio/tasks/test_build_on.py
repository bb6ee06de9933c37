"""Building on a task that is scored on its own."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_task
from studio.models import Finding, Persona, Task, User
from studio.tasks.build_on import BuildOnError, build_on
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, a_persona, a_task, mark_approved, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def author() -> User:
    return member(BenchmarkFactory(), "author")


@pytest.fixture
def persona(author: User) -> Persona:
    return a_persona(author.memberships.get().benchmark, by=author)


@pytest.fixture
def monday(persona: Persona, author: User) -> Task:
    return a_task(persona, "monday", by=author, title="Monday's list", files_read=("list.md",))


@pytest.fixture
def tuesday(persona: Persona, author: User, monday: Task) -> Task:
    return a_task(persona, "tuesday", by=author, title="Tuesday's list")


def fresh(task: Task) -> Task:
    return Task.objects.get(pk=task.pk)


def test_items_move_with_what_judges_are_shown_and_the_dependency_is_declared(monday, tuesday, author):
    before = [item.criterion for task in (tuesday, monday) for item in load_task(task).checklist]

    moved = build_on(tuesday.pk, monday.pk, by=author)

    here, there = load_task(fresh(tuesday)), load_task(fresh(monday))
    assert [item.criterion for item in here.checklist] == before and not there.checklist
    assert moved.items == len(before) // 2 > 0
    assert "list.md" in here.files_read
    assert [dependency.task_id for dependency in here.depends_on] == ["monday"]
    assert not Finding.objects.filter(rule="dependency-scored").exists()
    assert (fresh(monday).version, fresh(tuesday).version) == (2, 2)


def test_grader_scripts_of_both_are_not_mixed(monday, tuesday, author):
    for task, script in ((monday, "one.py"), (tuesday, "two.py")):
        save_task(task.pk, load_task(task).model_copy(update={"grader_script": script}), by=author)

    with pytest.raises(BuildOnError, match="Both this task and"):
        build_on(tuesday.pk, monday.pk, by=author)

    assert load_task(fresh(monday)).checklist


def test_only_an_earlier_task_of_the_same_episode_is_built_on(monday, tuesday, author, persona):
    elsewhere = a_task(a_persona(persona.benchmark, "miller", by=author), "flour", by=author)

    for earlier in (tuesday.pk, elsewhere.pk, 0):
        with pytest.raises(BuildOnError, match="comes before"):
            build_on(monday.pk, earlier, by=author)


def test_page_offers_to_move_the_items_and_says_what_it_ends(monday, tuesday, author, client: Client):
    mark_approved(Task.objects.filter(pk=monday.pk))
    client.force_login(author)
    page = " ".join(client.get(tuesday.get_absolute_url()).content.decode().split())
    items = len(load_task(monday).checklist)
    assert f'aria-label="Build on Monday&#x27;s list"> Move {items} item' in page
    assert "It is approved and becomes a draft again." in page

    persona = tuesday.persona
    url = reverse("studio:build_on", args=[persona.benchmark.slug, persona.user_id, tuesday.pk])
    answer = client.post(url, {"earlier": monday.pk}, follow=True).content.decode()

    assert "This task builds on “Monday&#x27;s list” now, and" in answer
    assert "Build on a scored task" not in answer, "nothing is left to move"
    assert fresh(monday).state == "draft"


@pytest.mark.parametrize("earlier", ["", "x", "999999999"])
def test_nonsense_moves_nothing(monday, tuesday, author, client: Client, earlier):
    client.force_login(author)
    persona = tuesday.persona
    url = reverse("studio:build_on", args=[persona.benchmark.slug, persona.user_id, tuesday.pk])

    answer = client.post(url, {"earlier": earlier}, follow=True)

    assert "Choose a task that comes before this one" in answer.content.decode()
    assert fresh(tuesday).version == 1

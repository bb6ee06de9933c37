"""Deletion of tasks that were never reviewed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from studio.domain.content import pieces_of
from studio.domain.episode import Split
from studio.domain.task import Dependency
from studio.drafts.authors import contributors_to, origins_of
from studio.drafts.load import load_episode, load_task
from studio.models import Assignment, Benchmark, Event, Import, Persona, Role, Task
from studio.tasks.copy_tasks import copy_tasks
from studio.tasks.delete import delete_task, deleted_tasks, restore_task, why_not_deletable
from studio.tasks.transitions import WorkflowError, retire, submit, withdraw
from tests.factories import BenchmarkFactory, a_persona, a_task, mark_approved, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def bakery():
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    for name in ("setup", "bread", "rolls"):
        a_task(persona, name, by=owner, title=name.title())
    return benchmark, owner, persona


def task_of(persona, name):
    return Task.objects.select_related("persona__benchmark").get(persona=persona, task_id=name)


def ids(persona):
    return [task.task_id for task in load_episode(persona).tasks]


def test_deleted_task_leaves_its_episode_whose_later_tasks_move_up(bakery):
    _, owner, persona = bakery
    delete_task(task_of(persona, "bread"), by=owner)
    assert ids(persona) == ["setup", "rolls"]
    assert task_of(persona, "rolls").position == 2
    persona.refresh_from_db()
    assert persona.episode["order"] == ["setup", "rolls"]


def test_deleted_task_is_on_no_page_and_in_no_list(bakery):
    benchmark, owner, persona = bakery
    task = task_of(persona, "bread")
    Assignment.objects.create(task=task, user=owner, part="writer")
    delete_task(task, by=owner)
    client = Client()
    client.force_login(owner)
    assert client.get(task.get_absolute_url()).status_code == 404
    here = [persona.get_absolute_url(), reverse("studio:tasks", args=[benchmark.slug]), "/search/?q=bread"]
    for page in (*here, f"/api/benchmarks/{benchmark.slug}/tasks/"):
        assert f"tasks/{task.pk}/" not in client.get(page).content.decode()
    for page in ("/", "/benchmarks/", "/happened/", reverse("studio:benchmark_history", args=[benchmark.slug])):
        text = client.get(page).content.decode()
        assert f"tasks/{task.pk}/" not in text and "/b/deleted-" not in text


def test_id_of_a_deleted_task_is_free(bakery):
    _, owner, persona = bakery
    delete_task(task_of(persona, "bread"), by=owner)
    a_task(persona, "bread", by=owner)
    assert ids(persona) == ["setup", "rolls", "bread"]


def test_writers_of_a_deleted_task_stay_authors_of_its_copies_and_imports(bakery):
    benchmark, owner, persona = bakery
    task = task_of(persona, "bread")
    copier = member(benchmark, Role.OWNER)
    [copy] = copy_tasks([task], persona, by=copier)
    delete_task(task, by=copier)
    assert contributors_to(copy, 1) == {owner.pk, copier.pk}
    copied = pieces_of(load_task(copy).to_json())
    [origin] = origins_of([(copied, copy.pk)])
    assert owner.pk in origin.authors and origin.written_here


@pytest.mark.parametrize("fate", ["submitted", "approved", "pending"])
def test_task_that_was_reviewed_can_only_be_retired(bakery, fate):
    benchmark, owner, persona = bakery
    task = task_of(persona, "bread")
    if fate == "submitted":
        submit(task.pk, by=owner)
        withdraw(task.pk, by=owner)
    elif fate == "approved":
        mark_approved(Task.objects.filter(pk=task.pk))
    else:
        asked = Import.objects.create(benchmark=benchmark, by=owner, publication=Import.Publication.REQUESTED)
        asked.revisions.set(task.revisions.all())
    with pytest.raises(WorkflowError, match="approved elsewhere" if fate == "pending" else "only be retired"):
        delete_task(task, by=owner)
    assert ids(persona) == ["setup", "bread", "rolls"]


def test_task_that_another_builds_on_stays(bakery):
    _, owner, persona = bakery
    a_task(persona, "cake", by=owner, title="Cake", depends_on=(Dependency(task_id="setup"),))
    assert why_not_deletable(task_of(persona, "setup")).startswith("“Cake” builds on this task.")
    delete_task(task_of(persona, "cake"), by=owner)
    delete_task(task_of(persona, "setup"), by=owner)
    assert ids(persona) == ["bread", "rolls"]


def test_deleted_task_comes_back_as_a_draft_outside_the_episode_under_a_free_id(bakery):
    benchmark, owner, persona = bakery
    a_task(persona, "cake", by=owner, title="Cake", group="Rye", depends_on=(Dependency(task_id="setup"),))
    cake = task_of(persona, "cake")
    delete_task(cake, by=owner)
    a_task(persona, "cake", by=owner)
    held = a_task(persona, "pie", by=owner, group="Rye")
    Task.objects.filter(pk=held.pk).update(split=Split.HELD_OUT)
    assert [row.task_id for row in deleted_tasks(benchmark)] == [cake.pk]
    back = restore_task(benchmark, cake.pk, by=owner)
    assert (back.task_id, back.position, back.persona_id, back.split) == ("cake_copy", None, persona.pk, "held_out")
    spec = load_task(back)
    assert spec.task_id == "cake_copy" and not spec.depends_on and spec.title == "Cake"
    assert not deleted_tasks(benchmark) and not Benchmark.objects.filter(slug__startswith="deleted-").exists()
    assert task_of(persona, "cake_copy").checked
    with pytest.raises(WorkflowError, match="no longer among"):
        restore_task(benchmark, cake.pk, by=owner)
    delete_task(back, by=owner)
    assert [row.task_id for row in deleted_tasks(benchmark)] == [cake.pk]


def test_retired_task_is_retired_when_it_comes_back(bakery):
    benchmark, owner, persona = bakery
    task = task_of(persona, "bread")
    Task.objects.filter(pk=task.pk).update(position=None)
    retire(task.pk, by=owner)
    delete_task(task, by=owner)
    assert restore_task(benchmark, task.pk, by=owner).state == "retired"


def test_deletions_are_undone_for_thirty_days_and_in_their_benchmark_only(bakery, monkeypatch):
    benchmark, owner, persona = bakery
    task = task_of(persona, "bread")
    delete_task(task, by=owner)
    with pytest.raises(WorkflowError, match="no longer among"):
        restore_task(BenchmarkFactory(), task.pk, by=owner)
    later = timezone.now() + dt.timedelta(days=31)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert not deleted_tasks(benchmark)
    with pytest.raises(WorkflowError, match="no longer among"):
        restore_task(benchmark, task.pk, by=owner)


def test_task_is_deleted_and_restored_on_its_pages(bakery):
    benchmark, owner, persona = bakery
    client = Client()
    client.force_login(owner)
    task = task_of(persona, "bread")
    address = reverse("studio:task_delete", args=[benchmark.slug, persona.user_id, task.pk])
    assert address in client.get(task.get_absolute_url()).content.decode()
    text = " ".join(client.get(address).content.decode().split())
    assert "1 version" in text and "Its versions are kept, so that its writers stay known." in text
    assert task_of(persona, "bread")
    done = client.post(address, follow=True)
    deleted = reverse("studio:tasks_deleted", args=[benchmark.slug])
    assert f"“Bread” deleted. <a href='{deleted}'>Restore it</a>" in done.content.decode()
    assert "Restore “Bread”" in client.get(deleted).content.decode()
    assert client.post(deleted, {"task": task.pk}, follow=True).redirect_chain[-1][0] == task.get_absolute_url()
    submit(task.pk, by=owner)
    assert "it can only be retired" in client.get(address).content.decode()
    assert client.post(address).status_code == 409 and task_of(persona, "bread")


def test_api_deletes_a_task_or_says_why_not(bakery):
    benchmark, owner, persona = bakery
    client = Client()
    client.force_login(owner)
    task, other = task_of(persona, "bread"), task_of(persona, "rolls")
    submit(other.pk, by=owner)
    address = f"/api/benchmarks/{benchmark.slug}/personas/{persona.user_id}/tasks/{{}}/"
    assert client.delete(address.format(task.pk)).status_code == 204
    assert client.get(address.format(task.pk)).status_code == 404
    refused = client.delete(address.format(other.pk))
    assert refused.status_code == 409 and "only be retired" in refused.json()["detail"]
    assert Event.objects.filter(benchmark=benchmark, verb="deleted").count() == 1
    assert Persona.objects.filter(benchmark=benchmark).count() == 1


def test_task_that_was_found_before_it_was_deleted_is_not_deleted_again_and_can_be_restored(bakery):
    benchmark, owner, persona = bakery
    seen, task = task_of(persona, "bread"), task_of(persona, "bread")
    delete_task(task, by=owner)

    with pytest.raises(WorkflowError, match="in the meantime"):
        delete_task(seen, by=owner)

    assert restore_task(benchmark, task.pk, by=owner).persona_id == persona.pk


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_delete_and_restore_a_task_once(bakery):
    benchmark, owner, persona = bakery
    task = task_of(persona, "bread")

    def twice(step: Callable[[], object]) -> list[str]:
        barrier = Barrier(2)

        def click(_: int) -> str:
            try:
                barrier.wait(timeout=30)
                step()
            except WorkflowError as error:
                return str(error)
            finally:
                connections.close_all()
            return ""

        with ThreadPoolExecutor(2) as pool:
            return sorted(pool.map(click, range(2)))

    done, late = twice(lambda: delete_task(task, by=owner))
    assert (done, late) == ("", "This task was deleted in the meantime.")
    assert ids(persona) == ["setup", "rolls"]
    done, late = twice(lambda: restore_task(benchmark, task.pk, by=owner))
    assert not done and "no longer among" in late
    assert Benchmark.objects.filter(pk=benchmark.pk).exists() and task_of(persona, "bread").version == 1

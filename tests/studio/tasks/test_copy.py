"""Copies and moves of tasks between episodes."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.domain.task import Dependency
from studio.drafts.load import load_episode, load_task
from studio.drafts.validate import DraftError
from studio.models import Event, Membership, Persona, Role, Task
from studio.tasks import copy_tasks as copying
from studio.tasks.copy_tasks import CopyError, copy_tasks, plan_copy
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, a_persona, a_task, member, stored
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    script = stored("scripts/x.py", b"def score(h): return {}")
    persona = a_persona(benchmark, by=owner, tools=("bake",), scripts=(script,))
    a_task(persona, "setup", by=owner, checklist=(), group="Rye")
    a_task(
        persona,
        "bread",
        by=owner,
        group="Rye",
        depends_on=(Dependency(task_id="setup", carries_over="the hours"),),
        assets=(stored("orders.csv", b"a,b"),),
        grader_script="data/baker/scripts/x.py",
        tools=("bake",),
    )
    return benchmark, owner, persona


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def tasks_of(persona, *ids):
    rows = Task.objects.filter(persona=persona)
    rows = rows.select_related("persona__benchmark__taxonomy").order_by("position")
    return list(rows.filter(task_id__in=ids) if ids else rows)


def elsewhere(owner, **fields):
    other = BenchmarkFactory()
    Membership.objects.create(benchmark=other, user=owner, role=Role.AUTHOR)
    return a_persona(other, "miller", by=owner, **fields)


def ids(persona):
    return [task.task_id for task in load_episode(persona).tasks]


def test_duplicate_follows_its_original_with_all_content(project):
    _, owner, persona = project
    a_task(persona, "last", by=owner)

    [row] = copy_tasks(tasks_of(persona, "bread"), persona, by=owner)

    assert ids(persona) == ["setup", "bread", "bread_copy", "last"]
    original, copy = load_task(tasks_of(persona, "bread")[0]), load_task(row)
    assert copy == original.model_copy(update={"task_id": "bread_copy"})
    assert row.version == 1
    assert row.events.filter(verb="copied").get().summary.endswith("› Baker), version 1.")
    copy_tasks(tasks_of(persona, "bread"), persona, by=owner)
    assert ids(persona)[2:4] == ["bread_copy_2", "bread_copy"]


def test_copy_into_another_benchmark_includes_files_and_scripts_and_warns_of_losses(project):
    _, owner, persona = project
    there = elsewhere(owner)

    alone = plan_copy(tasks_of(persona, "bread"), there).copies[0]
    assert alone.warnings == [
        "Does not build on “setup” any more, since that task is not copied.",
        "Its grader script “scripts/x.py” is copied too.",
        "Miller does not have the tool “bake”.",
    ]
    copy_tasks(tasks_of(persona), there, by=owner)

    episode = load_episode(there)
    setup, bread = episode.tasks
    assert (setup.task_id, bread.task_id, bread.user_id) == ("setup", "bread", "miller")
    assert bread.depends_on == (Dependency(task_id="setup", carries_over="the hours"),)
    assert [file.path for file in bread.assets] == ["orders.csv"]
    assert bread.grader_script == "data/miller/scripts/x.py"
    assert [file.path for file in episode.persona.scripts] == ["scripts/x.py"]
    assert bread.group == "Rye"
    assert ids(persona) == ["setup", "bread"]


def test_script_with_a_taken_name_is_renamed_or_not_copied(project):
    _, owner, persona = project
    there = elsewhere(owner, scripts=(stored("scripts/x.py", b"def score(h): return {'other': 1}"),))
    bread = tasks_of(persona, "bread")
    assert plan_copy(bread, there).script_clashes == ["scripts/x.py"]

    [ours] = copy_tasks(bread, there, by=owner)
    [theirs] = copy_tasks(bread, there, by=owner, keep_scripts=True)

    assert load_task(ours).grader_script == "data/miller/scripts/x_2.py"
    assert load_task(theirs).grader_script == "data/miller/scripts/x.py"
    assert [file.path for file in load_episode(there).persona.scripts] == ["scripts/x.py", "scripts/x_2.py"]


def test_moved_tasks_are_retired_unless_reviewed_or_needed(project):
    _, owner, persona = project
    there = elsewhere(owner)
    with pytest.raises(CopyError, match="builds on it and would stay behind"):
        copy_tasks(tasks_of(persona, "setup"), there, by=owner, moving=True)
    assert (ids(persona), ids(there)) == (["setup", "bread"], [])

    copy_tasks(tasks_of(persona), there, by=owner, moving=True)
    assert (ids(persona), ids(there)) == ([], ["setup", "bread"])
    assert {task.state for task in tasks_of(persona)} == {"retired"}

    submit(tasks_of(there, "bread")[0].pk, by=owner)
    with pytest.raises(CopyError, match="can be copied but not moved"):
        copy_tasks(tasks_of(there), persona, by=owner, moving=True)


def test_rejected_copy_changes_nothing(project, monkeypatch):
    _, owner, persona = project
    there = elsewhere(owner)
    before = (Task.objects.count(), Event.objects.count())

    def refuse(*_args, **_more):
        raise DraftError("x", "Not today.")

    monkeypatch.setattr(copying, "save_personas", refuse)
    with pytest.raises(CopyError, match="Not today"):
        copy_tasks(tasks_of(persona), there, by=owner)
    assert (Task.objects.count(), Event.objects.count()) == before


@pytest.mark.slow
def test_page_previews_and_copies_into_editable_personas(project):
    benchmark, owner, persona = project
    there = elsewhere(owner)
    foreign = a_persona(BenchmarkFactory(), "stranger", by=None)
    client = Client()
    client.force_login(owner)
    url = reverse("studio:copy", args=[benchmark.slug])
    keys = [task.pk for task in tasks_of(persona)]

    shown = client.post(url, {"task": keys, "target": there.pk})
    assert "Miller does not have the tool" in shown.content.decode()
    assert "Stranger" not in shown.content.decode()
    looked = shown.context["previewed"]
    again = client.post(url, {"task": keys, "target": persona.pk, "previewed": looked, "sure": "1"})
    assert (again.status_code, Task.objects.count()) == (200, 2)
    done = client.post(url, {"task": keys, "target": there.pk, "previewed": looked, "sure": "1"})
    assert (done.status_code, ids(there)) == (302, ["setup", "bread"])

    assert client.post(url, {"task": keys, "target": foreign.pk}).status_code == 404
    theirs = a_task(foreign, "theirs")
    assert client.post(url, {"task": [*keys, theirs.pk], "target": there.pk}).status_code == 404
    assert client.post(url, {"task": [], "target": there.pk}).status_code == 409
    viewer = Client()
    viewer.force_login(member(benchmark, Role.VIEWER))
    assert viewer.post(url, {"task": keys, "target": persona.pk}).status_code == 404
    assert Persona.objects.get(pk=foreign.pk).tasks.count() == 1

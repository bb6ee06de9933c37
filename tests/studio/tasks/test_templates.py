"""Tasks started from starting points and other tasks, those marked as templates first."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.domain.task import Dependency, Recovery
from studio.drafts.load import load_episode, load_task
from studio.drafts.validate import DraftError
from studio.models import Finding, Membership, Role, Task
from studio.tasks.create import mark_template, start_task, starting_points
from studio.tasks.transitions import WorkflowError, submit
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member, stored, task_row
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner, scripts=(stored("scripts/x.py", b"def score(h): return {}"),))
    a_task(persona, "setup", by=owner, checklist=(), group="Rye")
    intents = a_task_spec("bread").intents
    result = (Recovery(kind="session", ref="setup"), Recovery(kind="question"))
    row = a_task(
        persona,
        "bread",
        by=owner,
        group="Rye",
        depends_on=(Dependency(task_id="setup", carries_over="the hours"),),
        assets=(stored("orders.csv", b"a,b"),),
        intents=(intents[0].model_copy(update={"recoverable_from": result}),),
        grader_script="data/baker/scripts/x.py",
        source={"task_id": "bread", "odd": 1},
    )
    return benchmark, owner, persona, row


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def new_url(persona):
    return reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])


@pytest.mark.parametrize("key", starting_points())
def test_tasks_from_starting_points_cannot_be_submitted_until_filled_in(key):
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner)
    a_task(persona, by=owner)
    point = starting_points()[key]

    row = start_task(persona, point, task_id="new", title="Rolls for the fair", by=owner).task

    spec = load_task(row)
    assert (spec.title, len(spec.intents)) == ("Rolls for the fair", len(point.spec.intents))
    assert all(item.follows_from for item in spec.checklist)
    findings = Finding.objects.filter(task=row)
    left = set(findings.filter(rule="to-fill-in", severity="warning").values_list("field", flat=True))
    assert left >= {"intents", "description", "trigger" if spec.trigger.payload else "initial_request"}
    assert set(findings.filter(severity="error").values_list("rule", flat=True)) <= {"empty-request"}
    assert row.events.filter(verb="started").get().summary == f"From the starting point “{point.name}”."
    with pytest.raises(WorkflowError, match="blank"):
        submit(row.pk, by=owner)


def test_task_started_from_another_warns_of_what_is_lost(project):
    _, owner, persona, row = project
    there = a_persona(persona.benchmark, "miller", by=owner)

    started = start_task(there, row, task_id="m1", title="Flour", request="Flour, please.", by=owner)

    spec = load_task(started.task)
    assert (spec.task_id, spec.title, spec.initial_request) == ("m1", "Flour", "Flour, please.")
    assert spec.source == {"task_id": "m1", "odd": 1}
    assert "Does not build on “setup” any more" in started.warnings[0]
    assert started.task.events.filter(verb="copied").exists()


def test_task_cannot_precede_its_dependencies(project):
    _, owner, persona, row = project
    with pytest.raises(DraftError, match="builds on"):
        start_task(persona, row, task_id="new", by=owner, before="setup")
    assert [task.task_id for task in load_episode(persona).tasks] == ["setup", "bread"]
    start_task(persona, row, task_id="new", by=owner, before="bread")
    assert [task.task_id for task in load_episode(persona).tasks] == ["setup", "new", "bread"]


def test_nothing_of_another_benchmark_can_be_started_from(project):
    _, owner, _, row = project
    elsewhere = a_persona(BenchmarkFactory(), "miller", by=owner)
    Membership.objects.create(benchmark=elsewhere.benchmark, user=owner, role=Role.OWNER)
    posted = {"task_id": "new", "title": "My words", "from": f"task:{row.pk}"}

    answer = signed_in(owner).post(new_url(elsewhere), posted)

    assert (answer.status_code, "My words" in answer.content.decode()) == (404, True)
    for wrong in ("template:1", "task:999999999999", "point:none", "task:x", "task:٣"):
        assert signed_in(owner).get(new_url(elsewhere), {"from": wrong}).status_code == 404, wrong
    assert Task.objects.filter(persona=elsewhere).count() == 0


def test_page_creates_one_task_and_preserves_input_after_errors(project):
    benchmark, owner, persona, row = project
    client, url = signed_in(owner), new_url(persona)
    posted = {"task_id": "second", "title": "", "from": f"task:{row.pk}"}

    assert client.post(url, posted).status_code == 302
    again = client.post(url, posted)
    assert (again.status_code, Task.objects.filter(task_id="second").count()) == (422, 1)
    blank = client.post(url, {"task_id": "third", "title": " ", "initial_request": "Only words", "from": ""})
    assert "Enter a title" in blank.content.decode()
    assert "Only words" in blank.content.decode()
    point = client.post(url, {"task_id": "third", "from": "point:setup"})
    assert (point.status_code, "nter a title" in point.content.decode()) == (422, True)
    assert client.post(url, {"task_id": "third", "title": "T" * 301, "from": ""}).status_code == 422
    assert signed_in(member(benchmark, Role.REVIEWER)).get(url).status_code == 403


def test_task_marked_on_its_page_is_offered_first_until_it_is_no_longer_a_template(project):
    benchmark, owner, persona, row = project
    url = reverse("studio:template", args=[benchmark.slug, persona.user_id, row.pk])
    there = a_persona(benchmark, "miller", by=owner)
    client, card = signed_in(owner), f'value="task:{row.pk}"'

    assert card not in client.get(new_url(there)).content.decode()
    assert url in client.get(row.get_absolute_url()).content.decode()
    assert client.post(url, {"marked": "1"}).status_code == 302
    assert card in client.get(new_url(there)).content.decode()
    client.post(url, {"marked": "1"})
    client.post(url)
    assert card not in client.get(new_url(there)).content.decode()
    verbs = row.events.filter(verb__endswith="made_template").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == ["made_template", "unmade_template"]
    assert signed_in(member(benchmark, Role.REVIEWER)).post(url, {"marked": "1"}).status_code == 403


def test_number_of_queries_does_not_depend_on_the_number_of_templates(project, django_assert_max_num_queries):
    _, owner, persona, row = project
    client, url = signed_in(owner), new_url(persona)
    mark_template(row, by=owner, marked=True)
    with django_assert_max_num_queries(40) as few:
        client.get(url)
    Task.objects.bulk_create(task_row(persona, f"t{n}", n + 5) for n in range(60))
    Task.objects.update(is_template=True)

    with django_assert_max_num_queries(len(few)):
        assert client.get(url).status_code == 200

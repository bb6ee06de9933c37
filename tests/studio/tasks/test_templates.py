"""Tasks started from starting points, templates and other tasks."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from studio.domain.task import Dependency, Recovery
from studio.drafts.load import load_episode, load_task
from studio.drafts.validate import DraftError
from studio.models import Finding, Membership, Role, Task, TaskTemplate
from studio.review import workflow
from studio.tasks import templates as keeping
from studio.tasks.create import start_task
from studio.tasks.save import save_task
from studio.tasks.starting_points import starting_points
from studio.tasks.templates import TaskTemplateError, save_template
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


def save(row, owner, name="Weekly bread", **more):
    return save_template(row, **{"name": name, "when": "Orders come in.", "version": row.version, "by": owner} | more)


def new_url(persona):
    return reverse("studio:task_new", args=[persona.benchmark.slug, persona.user_id])


@pytest.mark.parametrize("key", starting_points())
def test_tasks_from_starting_points_cannot_be_approved_until_filled_in(key):
    benchmark = BenchmarkFactory()
    owner, reviewer = member(benchmark, Role.OWNER), member(benchmark, Role.REVIEWER)
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
    submit(row.pk, by=owner)
    with pytest.raises(WorkflowError, match="blanks to fill in"):
        workflow.approve(row.pk, by=reviewer)


def test_template_stores_a_version_with_files_but_without_its_position(project):
    _, owner, persona, row = project
    template = save(row, owner)
    save_task(row.pk, load_task(row).model_copy(update={"title": "Another"}), by=owner)
    there = a_persona(persona.benchmark, "miller", by=owner)

    started = start_task(there, template, task_id="m1", by=owner)

    spec = load_task(started.task)
    assert (spec.task_id, spec.user_id, spec.title) == ("m1", "miller", "Bread for Saturday")
    assert [file.path for file in spec.assets] == ["orders.csv"]
    assert spec.grader_script == "data/miller/scripts/x.py"
    assert [file.path for file in load_episode(there).persona.scripts] == ["scripts/x.py"]
    assert (spec.depends_on, spec.group, spec.source) == ((), "", {})
    assert [result.ref for result in spec.intents[0].recoverable_from] == ["", ""]
    assert started.task.events.filter(verb="started").get().summary == "From the template “Weekly bread”."
    assert row.events.filter(verb="saved_as_template").get().summary == "“Weekly bread”, as of version 1."


def test_script_of_a_template_is_renamed_if_its_name_is_taken(project):
    _, owner, persona, row = project
    template = save(row, owner)
    there = a_persona(persona.benchmark, "miller", by=owner, scripts=(stored("scripts/x.py", b"other"),))

    started = start_task(there, template, task_id="m1", by=owner)

    assert load_task(started.task).grader_script == "data/miller/scripts/x_2.py"
    assert started.warnings == ("Its grader script is copied as “scripts/x_2.py”, because the name is taken.",)


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


def test_template_names_are_unique_ignoring_case(project):
    benchmark, owner, _, row = project
    template = save(row, owner)
    for name in ("weekly BREAD", "  Weekly \n bread ", "", "\0", "x" * 121):
        with pytest.raises(TaskTemplateError):
            save(row, owner, name=name)
    with pytest.raises(TaskTemplateError) as refusal:
        save(row, owner, name="Long", when="y" * 301)
    assert refusal.value.field == "when"
    other = save(row, owner, name="Straße 🍞")
    with pytest.raises(TaskTemplateError, match="already"):
        keeping.rename_template(other, name="WEEKLY bread", when="", by=owner)
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskTemplate.objects.filter(pk=other.pk).update(name="WEEKLY BREAD")
    with pytest.raises(IntegrityError, match="frozen"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE studio_tasktemplate SET spec = '{}' WHERE id = %s", [template.pk])
    assert benchmark.templates.count() == 2


def test_templates_are_editable_by_owners_and_their_creator_only(project):
    benchmark, owner, _, row = project
    author, maker = member(benchmark, Role.AUTHOR), member(benchmark, Role.AUTHOR)
    template = save(row, maker)
    url = reverse("studio:template_change", args=[benchmark.slug, template.pk])

    assert signed_in(author).post(url, {"name": "Mine"}).status_code == 403
    assert signed_in(maker).post(url, {"name": "Bread <b>", "when": ""}).status_code == 302
    assert (
        "Bread &lt;b&gt;" in signed_in(author).get(reverse("studio:templates", args=[benchmark.slug])).content.decode()
    )
    refused = signed_in(owner).post(url, {"name": " ", "when": "kept words"})
    assert (refused.status_code, "kept words" in refused.content.decode()) == (422, True)

    other = BenchmarkFactory()
    Membership.objects.create(benchmark=other, user=owner, role=Role.OWNER)
    there = reverse("studio:template_change", args=[other.slug, template.pk])
    assert signed_in(owner).post(there, {"delete": "1"}).status_code == 404
    assert signed_in(member(other, Role.OWNER)).post(url, {"delete": "1"}).status_code == 404
    elsewhere = a_persona(other, "miller", by=owner)
    posted = {"task_id": "new", "title": "My words", "from": f"template:{template.pk}"}
    answer = signed_in(owner).post(new_url(elsewhere), posted)
    assert (answer.status_code, "My words" in answer.content.decode()) == (404, True)
    for wrong in (f"task:{row.pk}", "template:999999999999", "point:none", "task:x", "\0", "template:٣"):
        assert signed_in(owner).get(new_url(elsewhere), {"from": wrong}).status_code == 404, wrong
    assert Task.objects.filter(persona=elsewhere).count() == 0

    assert signed_in(owner).post(url, {"delete": "1"}).status_code == 302
    assert signed_in(owner).post(url, {"delete": "1"}).status_code == 404


def test_page_creates_one_task_and_preserves_input_after_errors(project):
    benchmark, owner, persona, row = project
    template, client, url = save(row, owner), signed_in(owner), new_url(persona)
    posted = {"task_id": "second", "title": "", "from": f"template:{template.pk}"}

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


def test_task_is_saved_as_a_template_from_its_page(project):
    benchmark, owner, persona, row = project
    url = reverse("studio:template_new", args=[benchmark.slug, persona.user_id, row.pk])
    client = signed_in(owner)

    assert url in client.get(row.get_absolute_url()).content.decode()
    assert client.post(url, {"name": "Bread", "when": "Orders.", "version": "1"}).status_code == 302
    twice = client.post(url, {"name": "Bread", "when": "My reason", "version": "1"})
    assert (twice.status_code, "My reason" in twice.content.decode()) == (422, True)
    assert client.post(url, {"name": "Odd", "version": "99999999999999999999"}).status_code == 302
    assert signed_in(member(benchmark, Role.REVIEWER)).get(url).status_code == 403


def test_number_of_queries_does_not_depend_on_the_number_of_templates(project, django_assert_max_num_queries):
    benchmark, owner, persona, row = project
    template, client = save(row, owner), signed_in(owner)
    urls = [new_url(persona), reverse("studio:templates", args=[benchmark.slug])]
    costs = []
    for url in urls:
        with django_assert_max_num_queries(40) as few:
            client.get(url)
        costs.append(len(few))
    for n in range(30):
        template.pk, template.name = None, f"t{n}"
        template.save(force_insert=True)
    Task.objects.bulk_create(task_row(persona, f"t{n}", n + 5) for n in range(60))

    for url, cost in zip(urls, costs, strict=True):
        with django_assert_max_num_queries(cost):
            assert client.get(url).status_code == 200

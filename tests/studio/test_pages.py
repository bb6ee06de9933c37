"""Every authoring page: access, cost, escaping and security headers."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from studio.domain.plan import PAPER_PLAN
from studio.domain.task import Dependency
from studio.drafts.load import load_episode, load_task
from studio.findings.queries import count_findings
from studio.models import Benchmark, Event, Finding, Persona, Role, Task
from studio.review import comments, workflow
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, member, persona_row, task_row
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    """A benchmark with a persona, a task, and an owner who also reviews."""
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    persona = a_persona(benchmark, by=owner, preferences={"bread": "dark"}, tools=("write_file",))
    a_task(persona, by=owner)
    return benchmark, owner, persona


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def pages(benchmark, persona):
    task = Task.objects.get(persona=persona, task_id="bread")
    here = [benchmark.slug, persona.user_id]
    return {
        "benchmark": reverse("studio:benchmark", args=[benchmark.slug]),
        "statistics": reverse("studio:statistics", args=[benchmark.slug]),
        "gaps": reverse("studio:gaps", args=[benchmark.slug]),
        "members": reverse("studio:members", args=[benchmark.slug]),
        "history": reverse("studio:benchmark_history", args=[benchmark.slug]),
        "findings": reverse("studio:findings", args=[benchmark.slug]),
        "tasks": reverse("studio:tasks", args=[benchmark.slug]),
        "board": reverse("studio:persona", args=here),
        "card": reverse("studio:persona", args=here) + f"?task={task.pk}",
        "profile": reverse("studio:profile", args=here),
        "persona version": reverse("studio:persona_version", args=[*here, 2]),
        "persona history": reverse("studio:persona_history", args=here),
        "task": reverse("studio:task", args=[*here, task.pk]),
        "versions": reverse("studio:versions", args=[*here, task.pk]),
        "version": reverse("studio:version", args=[*here, task.pk, 1]),
    }


def editing_pages(benchmark, persona):
    here = [benchmark.slug, persona.user_id]
    return {
        "change": reverse("studio:benchmark_edit", args=[benchmark.slug]),
        "import": reverse("studio:import_start", args=[benchmark.slug]),
        "new persona": reverse("studio:persona_new", args=[benchmark.slug]),
        "new task": reverse("studio:task_new", args=here),
    }


def own_pages():
    names = "home recent_activity benchmarks benchmark_new settings tokens styleguide api search inbox".split()
    return {name: reverse(f"studio:{name}") for name in names}


@pytest.mark.slow
def test_every_page_is_visible_to_members_only(project):
    benchmark, owner, persona = project
    viewer = signed_in(member(benchmark, Role.VIEWER))
    stranger = signed_in(member(BenchmarkFactory(), Role.OWNER))

    for name, url in pages(benchmark, persona).items():
        assert signed_in(owner).get(url).status_code == 200, name
        assert viewer.get(url).status_code == 200, name
        assert stranger.get(url).status_code == 404, name
        assert Client().get(url).status_code == 302, name
    for name, url in editing_pages(benchmark, persona).items():
        assert signed_in(owner).get(url).status_code == 200, name
        assert viewer.get(url).status_code == 403, name
        assert stranger.get(url).status_code == 404, name
    for name, url in own_pages().items():
        assert stranger.get(url).status_code == 200, name


@pytest.mark.slow
def test_pages_have_no_inline_script_or_style_and_a_strict_policy(project):
    benchmark, owner, persona = project
    client = signed_in(owner)
    urls = pages(benchmark, persona) | editing_pages(benchmark, persona) | own_pages() | {"lost": "/nowhere/"}

    for name, url in urls.items():
        answer = client.get(url)
        html = answer.content.decode()
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]* src=)|javascript:", html), name
        assert "https://" not in re.sub(r"<pre.*?</pre>", "", html, flags=re.S), name
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy, name
        assert "unsafe" not in policy, name


def test_user_text_is_escaped(project):
    benchmark, owner, persona = project
    nasty = "</textarea><script>alert(1)</script>"
    task = a_task(persona, "nasty", by=owner, title=nasty, initial_request=nasty, metadata={nasty: nasty})
    comments.add_comment(task.pk, by=owner, text=nasty)

    for url in (task.get_absolute_url(), persona.get_absolute_url() + f"?task={task.pk}", benchmark.get_absolute_url()):
        html = signed_in(owner).get(url).content.decode()
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html


def many(benchmark, persona, owner, start, number):
    """Bulk-create personas, tasks, findings and events."""
    personas = [persona_row(benchmark, f"p{n}", n + 5) for n in range(start, number)]
    Persona.objects.bulk_create(personas)
    tasks = [task_row(persona, f"t{n}", n + 5) for n in range(start, number)]
    Task.objects.bulk_create(tasks)
    for task in tasks:
        task.revisions.model.objects.create(task=task, number=1, spec={}, sha256="0" * 64, created_by=owner)
    Finding.objects.bulk_create(
        Finding(task=task, rule="r", severity="warning", message="m", fingerprint=str(n))
        for n, task in enumerate(tasks)
    )
    count_findings(task.pk for task in tasks)
    Event.objects.bulk_create(
        Event(benchmark=benchmark, persona=persona, task=task, actor=owner, verb="edited") for task in tasks
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "home",
        "recent_activity",
        "benchmarks",
        "benchmark",
        "statistics",
        "gaps",
        "history",
        "findings",
        "board",
        "versions",
    ],
)
def test_number_of_queries_of_lists_is_constant(name, project, django_assert_max_num_queries):
    benchmark, owner, persona = project
    client = signed_in(owner)
    url = (own_pages() | pages(benchmark, persona))[name]
    many(benchmark, persona, owner, 0, 1)
    client.get(url)
    with django_assert_max_num_queries(42) as few:
        client.get(url)

    many(benchmark, persona, owner, 1, 300)

    with django_assert_max_num_queries(len(few)):
        assert client.get(url).status_code == 200


def test_empty_studio_explains_the_first_step():
    html = signed_in(UserFactory()).get("/").content.decode()

    assert "Create a benchmark" in html


@pytest.mark.slow
def test_home_shows_what_waits_for_me(project):
    benchmark, _, persona = project
    author, reviewer = member(benchmark, Role.AUTHOR), member(benchmark, Role.REVIEWER)
    task = a_task(persona, "rolls", by=author, title="Rolls for Monday")
    submit(task.pk, by=author)

    assert "To review" in signed_in(reviewer).get("/").content.decode()
    assert "To review" not in signed_in(author).get("/").content.decode()
    workflow.request_changes(task.pk, by=reviewer, text="More rolls.")
    assert "Changes requested" in signed_in(author).get("/").content.decode()


def test_users_sign_in_and_out():
    user = UserFactory()
    user.set_password("rye and water")
    user.save()
    client = Client()

    refused = client.post("/login/", {"username": user.username, "password": "wrong"})
    assert "Incorrect username or password" in refused.content.decode()
    assert client.post("/login/", {"username": user.username, "password": "rye and water"}).status_code == 302
    assert client.get("/").status_code == 200
    client.post("/logout/")
    assert client.get("/").status_code == 302


def test_only_owners_add_change_and_remove_members(project):
    benchmark, owner, _ = project
    url = reverse("studio:members", args=[benchmark.slug])
    person = UserFactory()
    client = signed_in(owner)

    client.post(url, {"username": person.username, "roles": ["author", "reviewer"]})
    assert set(benchmark.memberships.filter(user=person).values_list("role", flat=True)) == {"author", "reviewer"}
    assert signed_in(person).post(url, {"user": person.pk, "roles": ["owner"]}).status_code == 403
    client.post(url, {"user": person.pk, "roles": ["viewer"]})
    assert set(benchmark.memberships.filter(user=person).values_list("role", flat=True)) == {"viewer"}
    client.post(url, {"user": person.pk, "remove": "1"})
    assert not benchmark.memberships.filter(user=person).exists()
    unknown = client.post(url, {"username": "nobody-of-this-name", "roles": ["author"]})
    assert "There is no user" in unknown.content.decode()
    last = client.post(url, {"user": owner.pk, "remove": "1"}, follow=True)
    assert "only owner" in last.content.decode()


@pytest.mark.slow
def test_tasks_are_moved_by_buttons_and_a_broken_dependency_is_explained(project):
    benchmark, owner, persona = project
    rolls = a_task(persona, "rolls", by=owner)
    spec = load_task(rolls)
    needs = load_task(Task.objects.get(task_id="bread")).model_copy(update={"checklist": ()})
    save_task(Task.objects.get(task_id="bread").pk, needs, by=owner)
    depends = spec.model_copy(update={"depends_on": (Dependency(task_id="bread"),)})
    client, url = signed_in(owner), reverse("studio:board_move", args=[benchmark.slug, persona.user_id])

    client.post(url, {"task": rolls.pk, "does": "earlier"})
    assert [task.task_id for task in load_episode(persona).tasks] == ["rolls", "bread"]
    client.post(url, {"task": rolls.pk, "does": "later"})
    save_task(rolls.pk, depends, by=owner)
    refused = client.post(url, {"task": rolls.pk, "does": "earlier"}, follow=True)

    assert refused.status_code == 409
    assert "“Bread for Saturday” must come after it." in refused.content.decode()
    assert [task.task_id for task in load_episode(persona).tasks] == ["bread", "rolls"]


def test_error_pages_say_what_happened_and_what_to_do(project, monkeypatch):
    benchmark, owner, persona = project
    client = signed_in(owner)
    client.raise_request_exception = False
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)

    lost = client.get("/b/nothing/")
    monkeypatch.setattr("studio.views.episodes.counts_of", lambda _: 1 / 0)
    broken = client.get(persona.get_absolute_url())
    old = strict.post(reverse("studio:benchmark_new"), {"name": "x"})
    refused = signed_in(member(benchmark, Role.VIEWER)).get(reverse("studio:import_start", args=[benchmark.slug]))

    assert (lost.status_code, "Page not found" in lost.content.decode()) == (404, True)
    assert (broken.status_code, "everything saved before it is safe" in broken.content.decode()) == (500, True)
    assert (old.status_code, "This page has expired" in old.content.decode()) == (403, True)
    assert (refused.status_code, "you need to be an owner or author" in refused.content.decode()) == (403, True)


@pytest.mark.slow
def test_nul_and_malformed_input_do_not_cause_server_errors(project):
    benchmark, owner, persona = project
    client = signed_in(owner)
    task = Task.objects.get(persona=persona)
    base = benchmark.get_absolute_url()

    assert client.get(f"{base}p/a%00b/").status_code == 404
    assert client.get(f"{task.get_absolute_url()}files/a%00b").status_code == 404
    assert client.get(f"{base}findings/?severity=%00&page=x").status_code == 400
    assert client.get(f"{base}findings/?severity=none&page=x").status_code == 200
    assert client.get(f"{persona.get_absolute_url()}?task=99999999999999999999999").status_code == 200
    client.post(f"{task.get_absolute_url()}remarks/", {"text": "a\0b", "about": "intents:x"})
    assert task.comments.get().text == "ab"
    assert client.post(f"{base}members/", {"user": "9" * 40, "roles": "x"}).status_code == 404
    client.post(f"{base}change/", {"name": "x", "slug": benchmark.slug, "approvals_needed": "0"})
    benchmark.refresh_from_db()
    assert benchmark.approvals_needed == 1


def test_empty_slug_is_derived_from_the_name():
    author = UserFactory()
    plan = {f"plan_{name}": number for name, number in PAPER_PLAN.model_dump().items()}
    client = signed_in(author)

    client.post(reverse("studio:benchmark_new"), {"name": "My Firm", "slug": "", "approvals_needed": 1, **plan})
    benchmark = Benchmark.objects.get(slug="my-firm")
    client.post(reverse("studio:persona_new", args=[benchmark.slug]), {"name": "Ada Lawson", "user_id": ""})
    nameless = client.post(reverse("studio:persona_new", args=[benchmark.slug]), {"name": "李", "user_id": ""})

    assert [persona.user_id for persona in benchmark.personas.all()] == ["ada_lawson"]
    assert "Enter a name, or a short name in Latin letters" in nameless.content.decode()

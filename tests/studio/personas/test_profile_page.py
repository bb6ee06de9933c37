"""The persona's page: facts, tools, skills and preview."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.domain.pibench import read_personas, write_persona
from studio.domain.task import Recovery
from studio.drafts.load import load_episode
from studio.models import Persona, Role
from tests.drafts import save_order
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("read_file", "gmail__show_draft"))
    client = Client()
    client.force_login(author)
    return client, persona, reverse("studio:profile", args=[benchmark.slug, persona.user_id])


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def facts(client, url, persona, *pairs):
    data = {"base_version": persona.version, "name": "Baker", "tools": ["read_file", "gmail__show_draft"]}
    data["attributes"] = [f"new{n}" for n in range(len(pairs))]
    for n, (name, value) in enumerate(pairs):
        data |= {f"attributes.new{n}.name": name, f"attributes.new{n}.value": value, f"attributes.new{n}.kind": "text"}
    return client.post(url, data, follow=True)


def test_facts_preserve_their_order(project):
    client, persona, url = project

    html = facts(client, url, persona, ("Tone", "warm"), ("Age", "48")).content.decode()

    assert load_episode(Persona.objects.get()).persona.attributes == {"Tone": "warm", "Age": "48"}
    assert list(load_episode(Persona.objects.get()).persona.attributes) == ["Tone", "Age"]
    assert 'value="Tone"' in html


def test_duplicate_fact_is_reported_beside_it_and_input_preserved(project):
    client, persona, url = project

    html = facts(client, url, persona, ("Age", "48"), ("Age", "49")).content.decode()

    assert "“Age” already exists" in html
    assert "48" in html and "49" in html
    assert load_episode(Persona.objects.get()).persona.attributes == {}


@pytest.mark.parametrize(("role", "offered"), [(Role.AUTHOR, 2), (Role.VIEWER, 0), (Role.REVIEWER, 0)])
def test_rows_are_offered_to_whoever_may_add_them(project, role: str, offered: int):
    _, persona, url = project
    client = Client()
    client.force_login(member(persona.benchmark, role))

    assert client.get(url).content.decode().count(' data-row-add="') == offered


def test_facts_survive_export_and_import(project):
    client, persona, url = project
    facts(client, url, persona, ("Age", "48"))
    episode = load_episode(Persona.objects.get())

    (read,) = read_personas(write_persona(episode, {})).episodes
    assert read.persona.attributes == {"Age": "48"}


def test_tools_show_descriptions_and_the_tasks_that_use_them(project):
    client, persona, url = project
    a_task(persona, "one", tools=("read_file",))
    a_task(persona, "two", tools=("read_file",))

    html = " ".join(client.get(url).content.decode().split())

    assert (
        "Open a file: text, Word, Excel, PowerPoint, PDF, mail, notebooks, and pictures to look at</td> <td>1, 2</td>"
        in html
    )
    assert 'Show a draft.</td> <td><span class="quiet">none</span></td>' in html


def test_tools_can_be_picked_or_typed(project):
    client, persona, url = project
    a_persona(persona.benchmark, "miller", tools=("mill__grind",))
    a_persona(BenchmarkFactory(), "stranger", tools=("secret__tool",))

    html = client.get(url).content.decode()
    assert 'value="mill__grind"' in html and 'value="write_file"' in html
    assert "secret__tool" not in html
    data = form_of(html, "profile").data()
    assert data["tools"] == ["read_file", "gmail__show_draft"]
    client.post(
        url, data | {"tools": ["mill__grind", "gmail__show_draft"], "tools_more": ["oven__heat\r\n oven__heat "]}
    )

    tools = Persona.objects.get(pk=persona.pk).tools
    assert list(tools) == ["gmail__show_draft", "mill__grind", "oven__heat"]
    data = form_of(client.get(url).content.decode(), "profile").data()
    assert (data["tools_more"], data["tools"][-1]) == ([""], "oven__heat")


@pytest.mark.slow
def test_persistent_intent_that_cannot_be_learned_is_a_gap(project):
    client, persona, url = project
    (intent,) = a_task_spec().intents
    learned = intent.model_copy(
        update={"scope": "persistent", "recoverable_from": (Recovery(kind="session", ref="one"),)}
    )
    a_task(persona, "one")
    assert "No intent is marked as persistent" in client.get(url).content.decode()

    a_task(persona, "two", intents=(learned,))
    html = client.get(url).content.decode()
    assert "<b>task 1</b>" in html
    save_order(persona.pk, ["two", "one"], by=None)
    assert "which does not come before task 1" in client.get(url).content.decode()


def test_empty_persona_has_a_page_and_a_preview_with_guidance(project):
    client, _, url = project

    assert "No intent is marked as persistent" in client.get(url).content.decode()
    assert "No tasks yet" in client.get(url.replace("profile", "behaviour")).content.decode()


def test_preview_shows_the_chosen_task_to_members_only(project):
    client, persona, url = project
    behaviour = url.replace("profile", "behaviour")
    a_task(persona, "one", initial_request="Bread, please.")
    two = a_task(persona, "two", initial_request="<b>Rolls</b>, please.")
    stranger = Client()
    stranger.force_login(member(BenchmarkFactory(), Role.OWNER))

    assert "Bread, please." in client.get(behaviour).content.decode()
    assert "&lt;b&gt;Rolls&lt;/b&gt;, please." in client.get(f"{behaviour}?task={two.pk}").content.decode()
    assert (client.get(f"{behaviour}?task=%00").status_code, client.get(f"{behaviour}?task=x").status_code) == (
        400,
        200,
    )
    assert stranger.get(behaviour).status_code == 404

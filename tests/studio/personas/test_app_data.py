"""What the simulated apps of a persona hold, on its pages and in its files."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_episode
from studio.imports.importer import import_files
from studio.models import Benchmark, Blob, Persona, Role
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
NOTES = {
    "accounts": [{"username": "ada@example.com", "password": "invented"}],
    "notes": [{"owner": "ada@example.com", "title": "Flour <b>order</b>", "content": "40 kg"}],
}


@pytest.fixture(scope="module")
def shared_desk(module_db) -> SimpleNamespace:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=("simple_note__login", "gmail__login"))
    return SimpleNamespace(benchmark=benchmark, author=author, persona=persona)


@pytest.fixture
def desk(shared_desk: SimpleNamespace) -> SimpleNamespace:
    desk = fresh(shared_desk)
    desk.client = Client()
    desk.client.force_login(desk.author)
    return desk


def url(desk: SimpleNamespace, *app: str) -> str:
    return reverse("studio:app" if app else "studio:apps", args=[desk.benchmark.slug, "baker", *app])


def save(desk: SimpleNamespace, app: str, text: str):
    form = form_of(desk.client.get(url(desk, app)).content.decode(), "app-data").data()
    return desk.client.post(url(desk, app), form | {"text": [text]})


def data_of(persona: Persona) -> dict[str, bytes]:
    spec = load_episode(persona, with_tasks=False).persona
    return {app: bytes(Blob.objects.get(pk=file.sha256).content) for app, file in spec.app_data.items()}


def test_app_data_is_saved_as_a_version_and_shown_as_tables(desk: SimpleNamespace):
    before = Persona.objects.get(pk=desk.persona.pk).version

    assert save(desk, "simple_note", json.dumps(NOTES)).status_code == 302

    persona = Persona.objects.get(pk=desk.persona.pk)
    assert persona.version == before + 1
    assert json.loads(data_of(persona)["simple_note"]) == NOTES
    page = desk.client.get(url(desk)).content.decode()
    assert "Flour &lt;b&gt;order&lt;/b&gt;" in page
    assert page.index("Simple Note") < page.index("Splitwise")  # apps in use come first
    assert "there is no account to log in to" in page  # gmail is bound and has no data
    assert page.count("What the assistant can do with it") == 2
    assert "<b>Login</b>" in page


@pytest.mark.parametrize(
    ("app", "text", "message"),
    [
        ("simple_note", "{", "this is not JSON"),
        ("simple_note", '{"pages": []}', "there is no table “pages”"),
        ("simple_note", '{"notes": [{"owner": "a"}]}', "notes, record 1 title: Field required."),
        ("clock", '{"now": "soon"}', "Write a JSON object like"),
    ],
)
def test_unusable_app_data_is_refused_beside_the_field(desk: SimpleNamespace, app: str, text: str, message: str):
    answer = save(desk, app, text)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert message in page.replace("&quot;", '"')
    assert form_of(page, "app-data").data()["text"][0].strip() == text
    assert data_of(desk.persona) == {}


def test_inconsistent_app_data_is_saved_and_named(desk: SimpleNamespace):
    save(desk, "simple_note", json.dumps({"notes": NOTES["notes"]}))

    assert "there is no account &#x27;ada@example.com&#x27; (owner)" in desk.client.get(url(desk)).content.decode()


@pytest.mark.slow
def test_emptied_app_data_is_removed(desk: SimpleNamespace):
    save(desk, "clock", '{"now": "2027-03-01T09:00"}')
    assert list(data_of(desk.persona)) == ["clock"]

    save(desk, "clock", " ")

    assert data_of(desk.persona) == {}


def test_only_edits_of_the_same_app_conflict(desk: SimpleNamespace):
    form = form_of(desk.client.get(url(desk, "clock")).content.decode(), "app-data").data()
    save(desk, "simple_note", json.dumps(NOTES))

    first = desk.client.post(url(desk, "clock"), form | {"text": ['{"now": "2027-03-01T09:00"}']})
    second = desk.client.post(url(desk, "clock"), form | {"text": ['{"now": "2028-03-01T09:00"}']})

    assert (first.status_code, second.status_code) == (302, 409)
    assert "Not saved." in second.content.decode()
    assert json.loads(data_of(desk.persona)["clock"]) == {"now": "2027-03-01T09:00"}
    assert "simple_note" in data_of(desk.persona)


def test_unknown_app_is_not_found(desk: SimpleNamespace):
    assert desk.client.get(url(desk, "fax")).status_code == 404


@pytest.mark.slow
def test_app_data_is_exported_and_imported_with_its_persona(desk: SimpleNamespace):
    a_task(desk.persona, by=desk.author)
    save(desk, "simple_note", json.dumps(NOTES))

    files = benchmark_files(desk.benchmark)

    assert "data/baker/apps/simple_note.json" in files
    other = Benchmark.objects.create(slug="other", name="Other")
    import_files(other, files, by=None)
    assert data_of(other.personas.get()) == data_of(desk.persona)

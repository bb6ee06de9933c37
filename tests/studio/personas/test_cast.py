"""The cast of a persona on its page, in the API and by command, and what an import offers to make."""

from __future__ import annotations

import json
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from studio.findings.queries import findings_of
from studio.imports import staging
from studio.imports.importer import import_files
from studio.models import Benchmark, Persona, Role
from studio.personas.app_tables import record_names
from studio.personas.cast import load_cast
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.shared_rows import fresh
from tests.studio.imports.archives import zipped
from tests.studio.page_forms import form_of
from tests.studio.personas.test_app_data import data_of

pytestmark = pytest.mark.django_db
REQUEST = "My Gmail email is ada@example.com and password is 'm41l['. Please email Denise Moss about the order."
TOOLS = ("gmail__login", "gmail__send_email", "todoist__login")


@pytest.fixture(scope="module")
def shared_desk(module_db) -> SimpleNamespace:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author, tools=TOOLS)
    a_task(persona, by=author, initial_request=REQUEST)
    return SimpleNamespace(benchmark=benchmark, author=author, persona=persona)


@pytest.fixture
def desk(shared_desk: SimpleNamespace) -> SimpleNamespace:
    desk = fresh(shared_desk)
    desk.client = Client()
    desk.client.force_login(desk.author)
    desk.url = reverse("studio:cast", args=[desk.benchmark.slug, desk.persona.user_id])
    return desk


def page_form(desk: SimpleNamespace) -> dict[str, list[str]]:
    return form_of(desk.client.get(desk.url).content.decode(), "cast").data()


def accounts(persona: Persona, app: str) -> dict[str, str]:
    rows = json.loads(data_of(persona)[app])["accounts"]
    return {row["username"]: row.get("password", "") for row in rows}


def rules(benchmark: Benchmark) -> set[str]:
    return set(findings_of(benchmark).values_list("rule", flat=True))


def test_what_tasks_name_is_made_once_a_person_confirms_it(desk: SimpleNamespace):
    assert "sign-in-missing" in rules(desk.benchmark)
    page = desk.client.get(desk.url).content.decode()
    assert "Named in tasks, missing in the apps" in page
    assert "denise.moss@example.com" in page
    assert "No task says an address, so this one was made up." in page

    answer = desk.client.post(desk.url, page_form(desk))

    assert answer.status_code == 302
    assert accounts(desk.persona, "gmail") == {"ada@example.com": "m41l[", "denise.moss@example.com": ""}
    assert accounts(desk.persona, "todoist") == {"ada@example.com": "", "denise.moss@example.com": ""}
    assert not {"sign-in-missing", "request-unknown-record", "secret-in-request"} & rules(desk.benchmark)
    assert not load_cast(Persona.objects.get(pk=desk.persona.pk)).is_wanting


def test_what_is_unticked_is_not_made(desk: SimpleNamespace):
    form = page_form(desk)
    del form["people.n1.make"]

    desk.client.post(desk.url, form)

    assert accounts(desk.persona, "gmail") == {"ada@example.com": "m41l["}


@pytest.mark.slow
def test_people_are_added_changed_and_lose_a_password(desk: SimpleNamespace):
    desk.client.post(desk.url, page_form(desk))
    form = page_form(desk)
    form |= {"people.p0.password_gmail": [""], "people.p1.email": ["d@example.com"]}
    form |= {"people": [*form["people"], "new1"], "people.new1.first_name": ["Hal"], "people.new1.email": ["h@x.org"]}

    assert desk.client.post(desk.url, form).status_code == 302

    assert accounts(desk.persona, "gmail") == {"ada@example.com": "", "d@example.com": "", "h@x.org": ""}


def test_a_wrong_address_stands_beside_its_field_and_nothing_is_saved(desk: SimpleNamespace):
    form = page_form(desk) | {"people.n1.email": ["no address"], "people.n0.first_name": ["Ada <b>"]}

    answer = desk.client.post(desk.url, form)

    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Write an address such as ada@example.com." in page
    assert 'value="no address"' in page
    assert "Ada &lt;b&gt;" in page
    assert data_of(desk.persona) == {}


def test_two_people_do_not_share_an_address(desk: SimpleNamespace):
    form = page_form(desk) | {"people.n1.email": ["ada@example.com"]}

    answer = desk.client.post(desk.url, form)

    assert "ada@example.com has this already; each person has their own." in answer.content.decode()


def test_a_cast_that_somebody_else_saved_meanwhile_is_not_overwritten(desk: SimpleNamespace):
    form = page_form(desk)
    desk.client.post(desk.url, form)

    assert desk.client.post(desk.url, form).status_code == 422


def test_a_row_is_added_without_scripts(desk: SimpleNamespace):
    page = desk.client.post(desk.url, page_form(desk) | {"do": ["people:add"]}).content.decode()

    assert "Someone new" in page
    assert data_of(desk.persona) == {}


def test_api_shows_and_enters_the_cast(desk: SimpleNamespace):
    url = reverse("studio:api_cast", args=[desk.benchmark.slug, desk.persona.user_id])
    found = desk.client.get(url).json()
    assert [row["email"] for row in found["named"]] == ["ada@example.com", "denise.moss@example.com"]
    assert found["named"][0]["passwords"] == {"gmail": "m41l["}

    people = [{"first_name": "Denise", "last_name": "Moss", "email": "dm@example.com"}]
    entered = desk.client.post(url, {"people": people, "named": True}, content_type="application/json").json()

    assert entered["named"] == []
    assert {row["email"] for row in entered["people"]} == {"ada@example.com", "dm@example.com"}
    refused = desk.client.post(url, {"people": [{"email": "x"}]}, content_type="application/json")
    assert refused.status_code == 400
    assert "Write an address" in refused.content.decode()


def test_command_makes_what_tasks_name(desk: SimpleNamespace):
    where = {"benchmark": desk.benchmark.slug, "persona": desk.persona.user_id}
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("cast", stdout=out, **where)
    assert ended.value.code == 1
    assert "lacking: ada@example.com · signs in to gmail, named in" in out.getvalue()

    call_command("cast", make=True, stdout=StringIO(), **where)

    assert accounts(desk.persona, "gmail")["ada@example.com"] == "m41l["


def test_a_request_is_offered_how_people_are_reached(desk: SimpleNamespace):
    desk.client.post(desk.url, page_form(desk))

    names = record_names(Persona.objects.get(pk=desk.persona.pk))

    assert ("My Gmail email is ada@example.com and password is 'm41l['.", "Gmail sign-in") in names
    assert ("denise.moss@example.com", "email address of Denise Moss") in names


def test_an_import_tells_what_no_date_or_account_is(desk: SimpleNamespace):
    tasks = [{"title": "Call", "project_id": 7, "due_date": "soon"}]
    report = import_files(
        desk.benchmark,
        {
            **persona_files(),
            "cook/apps/todoist.json": json.dumps({"accounts": [], "tasks": tasks}).encode(),
            "cook/apps/gmail.json": b"[1]",
        },
        by=desk.author,
    )

    assert [(each.file, each.message) for each in report.warnings if "/apps/" in each.file] == [
        ("cook/apps/gmail.json", "gmail: this must be a JSON object with a list of records for each table."),
        ("cook/apps/todoist.json", "tasks: Row 1, project_id: there is no project 7"),
        ("cook/apps/todoist.json", "tasks: Row 1, due_date: Write a date such as 2026-04-13."),
    ]


def test_an_import_leads_to_what_its_tasks_name(desk: SimpleNamespace):
    row = staging.preview(desk.benchmark, zipped(persona_files()), name="cook.zip", by=desk.author, published=False)

    answer = desk.client.post(reverse("studio:import_decide", args=[desk.benchmark.slug, row.pk]))

    assert answer.url == reverse("studio:cast", args=[desk.benchmark.slug, "cook"])


def persona_files() -> dict[str, bytes]:
    return {
        "cook/profile.yaml": b"schema_version: v2\nuser_id: cook\n",
        "cook/episode.yaml": b"schema_version: v2\nepisode_id: e\nuser_id: cook\ntasks: [{task_id: t}]\n",
        "cook/tools.yaml": b"tool_names: [gmail__login]\n",
        "cook/tasks/t/task.yaml": json.dumps(
            {
                "schema_version": "v2",
                "task_id": "t",
                "user_id": "cook",
                "intent": {"initial_input": REQUEST, "hidden_intent": [{"content": "In one line."}]},
            }
        ).encode(),
    }

"""When a persona's sessions take place, on its page."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from studio.drafts.load import load_episode
from studio.models import Blob, Persona, Role
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.studio.page_forms import form_of

pytestmark = pytest.mark.django_db
TIMES = {"now": "2027-03-01T09:00", "days": 2.0, "tasks": {"bake": "2027-03-05T10:30"}}


@pytest.fixture
def persona() -> Persona:
    benchmark = BenchmarkFactory()
    persona = a_persona(benchmark, by=member(benchmark, Role.AUTHOR))
    a_task(persona, task_id="bake", title="Bake a loaf")
    return persona


def page(persona: Persona, role: Role = Role.AUTHOR, **changes: str):
    client = Client()
    client.force_login(member(persona.benchmark, role))
    url = reverse("studio:clock", args=[persona.benchmark.slug, persona.user_id])
    if not changes:
        return client.get(url)
    return client.post(url, form_of(client.get(url).content.decode(), "clock").data(**changes))


def stored(persona: Persona) -> str:
    file = load_episode(Persona.objects.get(pk=persona.pk)).persona.app_data.get("clock")
    return bytes(Blob.objects.get(pk=file.sha256).content).decode() if file else ""


def picked() -> dict[str, str]:
    return {"now": TIMES["now"], "days": "2", "task-0": TIMES["tasks"]["bake"]}


def test_times_are_picked_and_stored_as_the_clock(persona: Persona):
    assert page(persona, **picked()).status_code == 302

    assert json.loads(stored(persona)) == TIMES
    shown = page(persona).content.decode()
    assert 'value="2027-03-01T09:00"' in shown and 'value="2027-03-05T10:30"' in shown
    assert "Bake a loaf" in shown


def test_seconds_that_a_file_has_stay_when_the_page_is_saved(persona: Persona):
    to_the_second = {**picked(), "now": "2027-03-01T09:00:30", "task-0": "2027-03-05T10:30:15"}
    page(persona, **to_the_second)

    page(persona, days="3")

    assert json.loads(stored(persona)) == {
        "now": "2027-03-01T09:00:30",
        "days": 3.0,
        "tasks": {"bake": "2027-03-05T10:30:15"},
    }


def test_nothing_picked_is_no_clock_and_the_usual_start_is_said(persona: Persona):
    page(persona, **picked())

    assert page(persona, **{"now": "", "days": "", "task-0": ""}).status_code == 302

    assert stored(persona) == ""
    assert "Leave blank for Monday, 13 April 2026, 09:00." in page(persona).content.decode()


@pytest.mark.parametrize("changes", [{"now": "soon"}, {"days": "-1"}, {"task-0": "2027-13-01T09:00"}])
def test_what_is_no_time_is_said_at_its_field(persona: Persona, changes: dict[str, str]):
    answer = page(persona, **changes)

    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    assert stored(persona) == ""


def test_who_may_not_edit_sees_the_times_only(persona: Persona):
    shown = page(persona, Role.VIEWER).content.decode()

    assert '<fieldset class="fields" disabled>' in shown and 'form="clock"' not in shown
    assert page(persona, Role.VIEWER, **picked()).status_code == 403

"""What people wrote is shown as text on every page, and every form that posts carries its token."""

from __future__ import annotations

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from annotations.models import AuditCampaign
from evaluation.models import ResultsView
from studio.drafts.load import load_episode, load_task
from studio.models import Benchmark, Comment, Import, Notification, Persona, Role, User
from studio.tasks.save import save_task
from tests.everywhere.test_roles import requests, send
from tests.everywhere.world import World, build_world

pytestmark = pytest.mark.django_db

HOSTILE = "</textarea>\"'><x-hostile>&amp;"


@pytest.fixture
def world() -> World:
    world = build_world()
    spec = load_task(world.task)
    texts = dict.fromkeys(("title", "description", "initial_request"), HOSTILE)
    rows = {
        "intents": tuple(row.model_copy(update={"content": HOSTILE}) for row in spec.intents),
        "checklist": tuple(row.model_copy(update={"criterion": HOSTILE}) for row in spec.checklist),
    }
    save_task(world.task.pk, spec.model_copy(update=texts | rows), by=world.people[Role.OWNER])
    Benchmark.objects.update(name=HOSTILE, description=HOSTILE)
    for persona in Persona.objects.all():
        spec = load_episode(persona, with_tasks=False).persona
        persona.set_spec(spec.model_copy(update={"name": HOSTILE, "role_text": HOSTILE}))
        persona.save()
    User.objects.update(display_name=HOSTILE)
    for model, field in (
        (AuditCampaign, "name"),
        (Comment, "text"),
        (Import, "name"),
        (Notification, "text"),
        (ResultsView, "name"),
    ):
        model._default_manager.update(**{field: HOSTILE})
    return world


@pytest.mark.slow
def test_no_page_takes_a_text_for_markup_or_has_a_form_without_a_token(world: World):
    client = Client()
    client.force_login(world.people[Role.OWNER])
    found, shown, forms = [], 0, 0
    for route, method, _, address in requests(world):
        if method != "GET":
            continue
        answer = send(client, method, address, route.name, world)
        if answer.status_code != 200 or not answer.get("Content-Type", "").startswith("text/html"):
            continue
        page = LexborHTMLParser(answer.content)
        shown += "x-hostile" in answer.content.decode()
        found += [f"{route.name}: {one.parent.html[:200]}" for one in page.css("x-hostile") if one.parent]
        for form in page.css("form[method=post i]"):
            forms += 1
            if not form.css("input[name=csrfmiddlewaretoken]"):
                found.append(f"{route.name}: no token in {(form.html or '')[:200]}")

    assert found == []
    assert shown > 60 and forms > 60

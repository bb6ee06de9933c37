"""The walk through the code that docs/architecture.md shows is the one that a saved field takes."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from studio.models import Revision, Role
from tests.factories import BenchmarkFactory, a_persona, a_task, member
from tests.studio.page_forms import form_of
from tests.walks import called_by, documented

pytestmark = pytest.mark.django_db
MOST = 10


def test_documented_walk_is_the_one_that_a_saved_field_takes(client: Client, monkeypatch: pytest.MonkeyPatch):
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    task = a_task(a_persona(benchmark, by=author), by=author)
    client.force_login(author)
    form = form_of(client.get(task.get_absolute_url()).content.decode(), "task").data()
    stored: list[list[str]] = []
    store = type(Revision.objects).bulk_create

    def bulk_create(manager: Any, rows: Any, **options: Any) -> Any:
        if manager.model is Revision:
            stored.append(called_by("studio"))
        return store(manager, rows, **options)

    monkeypatch.setattr(type(Revision.objects), "bulk_create", bulk_create)
    address = reverse("studio:autosave", args=[benchmark.slug, task.persona.user_id, task.pk])
    answer = client.post(address, form | {"title": ["Rye for Saturday"], "save_version": ["1"]}).json()

    assert answer["versioned"] is True
    [called] = stored
    walk = documented("saving a field")
    assert called[called.index(walk[0]) :] == walk  # middleware comes before
    assert len(walk) <= MOST

"""Reading posted data."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from studio.forms.post_data import number_of
from studio.models import Role
from tests.factories import BenchmarkFactory, a_persona, a_task, member


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("007", 7), ("", 0), (None, 0), ("²", 0), ("٣", 0), ("-1", 0), ("1.5", 0), ("9" * 10, 0), (" 7", 0)],
)
def test_number_of_reads_ascii_digits_only(text, number):
    assert number_of(text) == number


@pytest.mark.slow
@pytest.mark.django_db
def test_non_ascii_digits_in_requests_are_handled():
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR, Role.REVIEWER)
    persona = a_persona(benchmark, by=author)
    task = a_task(persona, by=author)
    client = Client()
    client.force_login(author)
    here = [benchmark.slug, persona.user_id]

    assert client.get(reverse("studio:version", args=[*here, task.pk, 1]), {"with": "²"}).status_code == 200
    assert client.get(reverse("studio:script_new", args=here), {"task": "²"}).status_code == 200
    assert client.post(task.get_absolute_url(), {"base_version": "²"}).status_code < 500
    assert (
        client.post(reverse("studio:workflow_step", args=[*here, task.pk, "approve"]), {"version": "²"}).status_code
        < 500
    )
    assert client.post(reverse("studio:tasks", args=[benchmark.slug]), {"task": "²:²"}).status_code < 500

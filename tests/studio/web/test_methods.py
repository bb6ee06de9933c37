from __future__ import annotations

import pytest
from django.test import Client

from studio.models import Role
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db


def test_an_address_that_only_forms_send_to_opens_a_page_that_says_so():
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    task = a_task(a_persona(benchmark, by=author), by=author)
    client = Client()
    client.force_login(author)

    answer = client.get(f"{task.get_absolute_url()}do/submit/")

    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    assert "Nothing was changed." in answer.content.decode()
    assert f'href="{task.get_absolute_url()}">Go to its page' in answer.content.decode()


def test_the_api_answers_a_wrong_method_as_a_problem():
    answer = Client().post("/api/schema/")

    assert answer.status_code == 405
    assert answer.headers["Content-Type"] == "application/problem+json"

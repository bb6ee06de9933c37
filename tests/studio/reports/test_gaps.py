"""A benchmark's plan and its form."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from studio.domain.plan import PAPER_PLAN, Plan
from studio.models import Benchmark, Role
from tests.factories import BenchmarkFactory, member

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "wrong",
    [
        {"plan_sessions": 30},
        {"plan_sessions": 0, "plan_groups": 0, "plan_standalone": 0},
        {"plan_group_least": 4},
        {"plan_group_least": 1},
        {"plan_signals": 21},
        {"plan_groups": 300},
    ],
)
def test_database_rejects_a_plan_that_cannot_be_met(wrong):
    benchmark = BenchmarkFactory()

    with pytest.raises(IntegrityError, match="plan_"), transaction.atomic():
        Benchmark.objects.filter(pk=benchmark.pk).update(**wrong)

    assert Benchmark.objects.get(pk=benchmark.pk).plan == PAPER_PLAN


def test_benchmark_form_saves_a_plan_and_rejects_an_inconsistent_one():
    benchmark = BenchmarkFactory()
    client = Client()
    client.force_login(member(benchmark, Role.OWNER))
    url = reverse("studio:benchmark_edit", args=[benchmark.slug])
    sent = {"name": "Short", "slug": benchmark.slug, "approvals_needed": 1}
    ten = {"sessions": 10, "groups": 3, "group_least": 2, "group_most": 4, "standalone": 2, "signals": 0}

    refused = client.post(url, sent | {f"plan_{name}": value for name, value in (ten | {"sessions": 40}).items()})
    assert "3 groups of 2 to 4 tasks and 2 standalone make 8 to 14 tasks, not 40." in refused.content.decode()
    assert 'value="40"' in refused.content.decode()
    assert client.post(url, sent | {f"plan_{name}": value for name, value in ten.items()}).status_code == 302

    benchmark.refresh_from_db()
    assert benchmark.plan == Plan(**ten)


def test_new_benchmark_has_the_papers_plan():
    client = Client()
    client.force_login(member(BenchmarkFactory(), Role.OWNER))

    html = client.get(reverse("studio:benchmark_new")).content.decode()

    assert 'name="plan_sessions" value="20"' in html
    assert 'name="plan_groups" value="6"' in html

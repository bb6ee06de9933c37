from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from studio.imports.sample import ACCOUNTS, SLUG, load_sample
from studio.models import Benchmark, Event, Finding, Membership, Task, User
from tests.factories import rewrite

pytestmark = pytest.mark.django_db


def test_sample_has_accounts_of_every_role() -> None:
    assert load_sample()

    benchmark = Benchmark.objects.get(slug=SLUG)
    assert Task.objects.filter(persona__benchmark=benchmark).count() >= 10
    assert benchmark.personas.count() == 2
    assert not list(Finding.objects.exclude(severity="hint").values_list("rule", "message"))
    assert Membership.objects.filter(benchmark=benchmark).count() == len(ACCOUNTS)
    assert User.objects.get(username="author").check_password("author-demo")


@pytest.mark.slow
def test_loading_the_sample_again_preserves_changes() -> None:
    load_sample()
    rewrite(Task.objects.filter(task_id="radio_01_clock"), title="Mine")
    person = User.objects.get(username="viewer")
    person.set_password("something else")
    person.save()
    events = Event.objects.count()

    assert not load_sample()

    assert Task.objects.get(task_id="radio_01_clock").title == "Mine"
    assert User.objects.get(username="viewer").check_password("something else")
    assert Event.objects.count() == events


def test_sample_command_prints_the_accounts() -> None:
    out = StringIO()

    call_command("load_sample", "--tasks-only", stdout=out)

    assert "reviewer  reviewer-demo" in out.getvalue()

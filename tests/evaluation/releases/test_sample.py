from __future__ import annotations

import re
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from annotations.adjudication import undecided_packets
from annotations.models import AuditCampaign
from annotations.visibility import pending_packets
from evaluation.models import Pilot
from evaluation.results.scores import read_scores
from studio.models import Benchmark, Event, Task, User
from tests.evaluation.builders import endpoint


def in_template(name: str) -> str:
    return " ".join((settings.BASE_DIR / "templates" / "evaluation" / name).read_text().split())


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_new_sample_has_something_to_do_for_everyone() -> None:
    for name in ("helpful", "user", "judge"):  # earlier tests of this kind may have emptied the tables
        endpoint(f"scripted-{name}")
    call_command("load_sample", stdout=StringIO())

    benchmark = Benchmark.objects.get(slug="sample")
    states = dict(Task.objects.filter(persona__benchmark=benchmark).values_list("task_id", "state"))
    assert states["radio_02_briefing"] == "in_review"
    assert states["vet_06_booster_texts"] == "changes_requested"
    assert states["radio_04_music_return"] == "draft"
    assert list(states.values()).count("released") == len(states) - 3

    [pilot] = Pilot.objects.filter(benchmark=benchmark)
    assert (pilot.state, pilot.scripted) == (Pilot.State.FINISHED, True)

    strict = read_scores(pilot)["strict"]
    numbers = f"Proc {100 * strict['proc']:.1f} · Comp {100 * strict['comp']:.1f} (n = {strict['n']})"
    assert numbers in in_template("pilots/list.html"), "the empty state shows other numbers than the sample has"

    [audit] = AuditCampaign.objects.filter(benchmark=benchmark)
    assert audit.scripted and audit.state == AuditCampaign.State.OPEN
    assert len(undecided_packets(audit)) == 1
    assert pending_packets(audit, User.objects.get(username="auditor"))

    assert sorted(benchmark.releases.values_list("version", flat=True)) == ["0.1", "0.2"]
    first, second = benchmark.releases.order_by("version")
    assert first.sha256 != second.sha256
    totals = (
        f"{second.manifest['totals']['tasks']} tasks · {second.manifest['totals']['hidden_intents']} hidden intents"
    )
    assert f"{totals} · {len(second.exceptions)} exceptions accepted" in in_template("releases/list.html")
    assert Event.objects.filter(benchmark=benchmark, verb="approved").count() == len(states) + 1

    client = Client()
    client.force_login(User.objects.get(username="owner"))
    checks = {
        re.findall(r"<dt>checks</dt>\s*<dd>\s*(\d+)", client.get(row.get_absolute_url()).content.decode())[0]
        for row in (benchmark, second)
    }
    assert len(checks) == 1, "the benchmark and its release count checks differently"

    call_command("load_sample", stdout=StringIO())
    assert benchmark.releases.count() == 2

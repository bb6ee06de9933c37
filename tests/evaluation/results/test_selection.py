"""Pilots chosen by tag, model and day; choices with a name, an address and a place in releases."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from evaluation.models import Pilot, Release, ResultsView
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.results.benchmark_results import ResultsError
from evaluation.results.selection import PilotRule, frozen_views, save_view, select_pilots
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, pilot_of, task
from tests.evaluation.factories import person
from tests.factories import member

pytestmark = pytest.mark.django_db


def chosen(benchmark: Benchmark, **rule: str) -> list[int]:
    pilots = list(benchmark.pilots.all())
    return [pilot.number for pilot in select_pilots(benchmark, pilots, [], PilotRule.from_json(rule))]


def test_pilots_are_chosen_by_tag_model_and_day(benchmark: Benchmark):
    Pilot.objects.filter(number=1).update(tags=["paper"], created_at=timezone.now() - timedelta(days=30))
    today = timezone.now().date()
    assert chosen(benchmark, tag="paper") == [1]
    assert chosen(benchmark, tag="none has it") == []
    assert chosen(benchmark, model="scripted-lazy") == [2]
    assert chosen(benchmark, since=str(today - timedelta(days=1))) == [2]
    assert chosen(benchmark, until=str(today - timedelta(days=1))) == [1]
    assert chosen(benchmark, since=str(today)) == [2]
    assert chosen(benchmark, until=str(today - timedelta(days=30))) == [1]
    assert chosen(benchmark, until=str(today - timedelta(days=31))) == []
    assert chosen(benchmark, tag="paper", model="scripted-lazy") == []
    with pytest.raises(ResultsError, match="is not a day"):
        chosen(benchmark, since="May")


@pytest.mark.slow
def test_saved_view_is_a_page_that_every_member_opens_and_that_takes_in_new_pilots(
    benchmark: Benchmark, client: Client
):
    client.force_login(member(benchmark, "author"))
    pilot = Pilot.objects.get(number=1)
    client.post(f"/pilots/{pilot.pk}/tags/", {"tags": "paper, first draft,  paper"})
    pilot.refresh_from_db()
    assert pilot.tags == ["paper", "first draft"]
    page = f"/benchmarks/{benchmark.slug}/results/"
    client.post(f"{page}views/", {"name": "Table 1", "tag": "paper", "scoring": "compat"})
    client.post(f"{page}views/", {"name": "Statuses", "pilot": ["2"], "scoring": "strict", "figure": "statuses"})
    client.force_login(member(benchmark, "viewer"))
    first = client.get(f"{page}views/1/", follow=True).content.decode()
    assert "scripted-helpful" in first and "scripted-lazy" not in first.partition('id="leaderboard"')[2]
    assert "compat scoring" in first and "Table 1" in first
    Pilot.objects.filter(number=2).update(tags=["paper"])
    again = client.get(f"{page}views/1/", follow=True).content.decode()
    assert "scripted-lazy" in again.partition('id="leaderboard"')[2]
    assert "Terminal statuses" in client.get(f"{page}views/2/", follow=True).content.decode()
    assert client.get(f"{page}views/3/").status_code == 404
    assert client.post(f"{page}views/1/remove/").status_code == 403


def test_name_of_a_view_is_taken_once(benchmark: Benchmark):
    options = {"by": None, "pilots": [1], "rule": PilotRule(), "scoring": "strict", "figure": ""}
    save_view(benchmark, "Table 1", **options)
    with pytest.raises(ResultsError, match="already"):
        save_view(benchmark, " Table  1 ", **options)
    with pytest.raises(ResultsError, match="name"):
        save_view(benchmark, "  ", **options)


@pytest.mark.slow
def test_command_and_api_take_views_and_rules(benchmark: Benchmark, client: Client, capsys):
    Pilot.objects.filter(number=2).update(tags=["paper"])
    save_view(benchmark, "Lazy", by=None, pilots=[2], rule=PilotRule(), scoring="strict", figure="")
    for given in (["--tag", "paper"], ["--view", "1"], ["--model", "scripted-lazy"]):
        call_command("results", "--benchmark", benchmark.slug, "--json", *given)
        assert [row["number"] for row in json.loads(capsys.readouterr().out)["pilots"]] == [2]
    client.force_login(member(benchmark, "viewer"))
    for query in ("tag=paper", "view=1", "model=scripted-lazy"):
        answer = client.get(f"/api/benchmarks/{benchmark.slug}/results/?{query}").json()
        assert [row["number"] for row in answer["pilots"]] == [2]
    assert client.get(f"/api/benchmarks/{benchmark.slug}/results/?view=9").status_code == 400
    with pytest.raises(SystemExit):
        call_command("results", "--benchmark", benchmark.slug, "--since", "May")
    assert "is not a day" in capsys.readouterr().err


@pytest.mark.slow
def test_release_freezes_the_views_that_were_put_into_releases(benchmark: Benchmark, client: Client):
    save_view(benchmark, "Table 1", by=None, pilots=[1, 2], rule=PilotRule(), scoring="strict", figure="")
    save_view(benchmark, "Statuses", by=None, pilots=[1], rule=PilotRule(), scoring="strict", figure="statuses")
    save_view(benchmark, "Draft", by=None, pilots=[1], rule=PilotRule(), scoring="strict", figure="")
    client.force_login(member(benchmark, "release_manager"))
    for number in (1, 2):
        address = f"/benchmarks/{benchmark.slug}/results/views/{number}/freeze/"
        assert client.post(address, {"in_releases": "1"}).status_code == 302
    frozen = frozen_views(benchmark)
    release = cut_release(benchmark, ReleaseOptions(version="1.0", accept="A test."), by=None, signature="Ada")
    assert Release.objects.get(pk=release.pk).manifest["results"] == json.loads(json.dumps(frozen))
    assert [view["name"] for view in frozen] == ["Table 1", "Statuses"]
    assert [row["agent"] for row in frozen[0]["leaderboard"]] == ["scripted-helpful", "scripted-lazy"]
    assert frozen[1]["figure"]["name"] == "statuses"
    ResultsView.objects.all().delete()
    page = client.get(f"/releases/{release.pk}/").content.decode()
    assert "Table 1" in page and "scripted-lazy" in page


@pytest.mark.slow
def test_the_bar_says_which_pilots_are_shown_and_ticks_only_those_named(client: Client):
    benchmark = benchmark_of(task("a"))
    first, second = pilot_of(benchmark), pilot_of(benchmark)
    client.force_login(person(benchmark, "viewer"))
    address = f"/benchmarks/{benchmark.slug}/results/"

    usual, named = (" ".join(client.get(address, given).content.decode().split()) for given in ({}, {"pilot": [2]}))

    assert "2 shown of 2" in usual and " checked>" not in usual and "Show all" not in usual
    assert "1 chosen of 2" in named and named.count(" checked>") == 1 and "Show all" in named
    assert first.number == 1 and second.number == 2

"""What audits and validations have to show before a release: set by owners, on a page and by the API."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.feasibility.kinds import LIMITS
from evaluation.probes.standing import probe_limits
from evaluation.releases.readiness import ReleaseLimits, limits_of, set_limits
from studio.domain.options import OptionsError
from studio.models import Benchmark, Event, Role
from tests.at_once import after
from tests.evaluation.builders import benchmark_of, release_blockers, rubric, task
from tests.factories import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return benchmark_of(task("a", checklist=(rubric("It says the fee."),)))


@pytest.mark.parametrize(("name", "share"), [("probe_told", 1.2), ("probe_idle", -0.1), ("probe_reference", 0.5)])
def test_limits_are_shares_of_known_names(name: str, share: float) -> None:
    with pytest.raises(OptionsError):
        ReleaseLimits.read({name: share})


def test_usual_limits_are_those_of_the_probes() -> None:
    usual = ReleaseLimits().model_dump()
    assert {name: usual[name] for name in LIMITS} == {name: limit.usual for name, limit in LIMITS.items()}


def test_only_what_is_not_as_usual_is_kept_and_told(benchmark: Benchmark) -> None:
    owner = member(benchmark, Role.OWNER)
    set_limits(benchmark, ReleaseLimits(audited_decisions=3, probe_alone=0.3), by=owner)
    benchmark.refresh_from_db()
    assert benchmark.release_limits == {"audited_decisions": 3, "probe_alone": 0.3}
    assert probe_limits(benchmark) == {"probe_alone": 0.3}
    assert "a release needs 3" in " ".join(blocker.message for blocker in release_blockers(benchmark))
    [event] = Event.objects.filter(verb="limits_changed")
    assert "Decisions that people have resolved: 10 → 3" in event.summary

    set_limits(benchmark, ReleaseLimits(audited_decisions=3, probe_alone=0.3), by=owner)
    assert Event.objects.filter(verb="limits_changed").count() == 1


def test_owner_sets_limits_on_the_page_and_others_read_them(benchmark: Benchmark, client: Client) -> None:
    address = reverse("evaluation:release_limits", args=[benchmark.slug])
    client.force_login(member(benchmark, Role.RELEASE_MANAGER))
    page = client.get(address).content.decode()
    assert "Only owners of the benchmark change them." in page and ">Save</button>" not in page
    assert client.post(address, {"probe_alone": "0.2"}).status_code == 403

    client.force_login(member(benchmark, Role.OWNER))
    bad = client.post(address, {"probe_alone": "2"})
    assert (bad.status_code, list(bad.context["form"].errors)) == (422, ["probe_alone"])
    assert client.post(address, {"probe_alone": "0.2", "audited_decisions": "0"}).status_code == 302
    benchmark.refresh_from_db()
    assert limits_of(benchmark).probe_alone == 0.2
    assert limits_of(benchmark).audited_decisions == 0


def test_window_that_has_not_seen_others_limits_does_not_replace_them(benchmark: Benchmark) -> None:
    address = reverse("evaluation:release_limits", args=[benchmark.slug])
    first, second = Client(), Client()
    for client in (first, second):
        client.force_login(member(benchmark, Role.OWNER))
    opened = second.get(address).context
    usual = dict(opened["form"].initial)
    assert first.post(address, usual | {"probe_alone": "0.2", "seen": opened["seen"]}).status_code == 302

    refused = second.post(address, usual | {"probe_idle": "0.1", "seen": opened["seen"]})

    page = refused.content.decode()
    benchmark.refresh_from_db()
    assert (refused.status_code, benchmark.release_limits) == (409, {"probe_alone": 0.2})
    assert "Not saved: these were changed elsewhere since you opened this page." in page
    assert "<b>A model that has the request alone earns at most</b> is now “0.2”" in page
    sent = {bound.name: bound.value() for bound in refused.context["form"]}
    assert (sent["probe_alone"], sent["probe_idle"]) == ("0.2", "0.1")
    assert second.post(address, sent | {"seen": refused.context["seen"]}).status_code == 302
    benchmark.refresh_from_db()
    assert benchmark.release_limits == {"probe_alone": 0.2, "probe_idle": 0.1}


@pytest.mark.django_db(transaction=True)
def test_of_two_windows_that_save_limits_at_once_the_later_is_refused(benchmark: Benchmark) -> None:
    address = reverse("evaluation:release_limits", args=[benchmark.slug])
    owner, first, second = member(benchmark, Role.OWNER), Client(), Client()
    for client in (first, second):
        client.force_login(owner)
    opened = first.get(address).context
    shown = opened["form"].initial | {"seen": opened["seen"]}

    refused = after(
        lambda: first.post(address, shown | {"probe_alone": "0.2"}),
        lambda: second.post(address, shown | {"probe_idle": "0.1"}),
    )

    benchmark.refresh_from_db()
    assert (refused.status_code, benchmark.release_limits) == (409, {"probe_alone": 0.2})


def test_api_reads_and_replaces_limits(benchmark: Benchmark, client: Client) -> None:
    client.force_login(member(benchmark, Role.OWNER))
    address = f"/api/benchmarks/{benchmark.slug}/release-limits/"
    assert client.get(address).json()["disagreement"] == 0.1
    sent = client.put(address, {"disagreement": 0.2}, content_type="application/json")
    assert sent.json()["disagreement"] == 0.2
    benchmark.refresh_from_db()
    assert benchmark.release_limits == {"disagreement": 0.2}
    assert client.put(address, {"disagreement": 2}, content_type="application/json").status_code == 400

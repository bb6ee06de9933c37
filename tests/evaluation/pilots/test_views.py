from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evaluation.models import ModelEndpoint, Pilot, Session
from evaluation.results.scores import score_keys
from evaluation.views.pilots import PERSONAS_PER_PAGE
from studio.domain.persona import PersonaSpec
from studio.models import Membership
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, rubric, task
from tests.evaluation.factories import finish, person, pilot_row
from tests.factories import mark_approved

pytestmark = pytest.mark.django_db
STRANGE = ["/pilots/{pilot}/", "/pilots/{pilot}/report.json", "/sessions/{session}/", "/benchmarks/{slug}/pilots/"]


def choice(**changes: object) -> dict[str, object]:
    chosen = {"agent": "scripted-helpful", "user_model": "scripted-user", "judge": "scripted-judge"}
    return chosen | {"persona": "", "runs": 1} | changes


def signed_in(client: Client, pilot: Pilot, *roles: str) -> Client:
    client.force_login(person(pilot.benchmark, *roles))
    return client


@pytest.mark.parametrize("path", STRANGE)
def test_pilot_of_another_benchmark_is_404(client: Client, path: str):
    pilot = pilot_row()
    session = Session.objects.get()
    client.force_login(person())

    path = path.format(pilot=pilot.pk, session=session.pk, slug=pilot.benchmark.slug)

    assert client.get(path).status_code == 404
    assert client.post(f"/pilots/{pilot.pk}/cancel/").status_code == 404
    assert client.post(f"/benchmarks/{pilot.benchmark.slug}/pilots/new/", choice()).status_code == 404
    pilot.refresh_from_db()
    assert (pilot.state, Pilot.objects.count()) == ("waiting", 1)


def test_anonymous_user_is_sent_to_sign_in(client: Client):
    assert client.get("/pilots/").url.startswith("/login/")


def test_viewer_can_read_but_not_start_pilots(client: Client):
    pilot = pilot_row()
    signed_in(client, pilot, "viewer")

    page = client.get(f"/pilots/{pilot.pk}/").content.decode()

    assert "Cancel</button>" not in page
    assert client.post(f"/pilots/{pilot.pk}/cancel/").status_code == 403
    assert client.post(f"/benchmarks/{pilot.benchmark.slug}/pilots/new/", choice()).status_code == 403
    assert Pilot.objects.count() == 1


def test_author_starts_a_pilot_and_sees_its_page(client: Client):
    benchmark = benchmark_of(task("a"), task("b", "a"), task("c"))
    client.force_login(person(benchmark, "author"))

    answer = client.post(
        f"/benchmarks/{benchmark.slug}/pilots/new/", choice(tasks=["b"], runs=2, turns=5, tokens=1000, cost="0.5")
    )

    pilot = Pilot.objects.get()
    assert answer.url == f"/pilots/{pilot.pk}/"
    assert (pilot.runs_wanted, pilot.limits["turns"], pilot.limits["tokens"], pilot.limits["cost"]) == (2, 5, 1000, 0.5)
    assert list(pilot.runs.get(number=1).sessions.values_list("revision__task__task_id", flat=True)) == ["a", "b"]


def test_start_form_marks_drafts_and_scripted_models(client: Client):
    benchmark = benchmark_of(task("a"), task("b"))
    mark_approved(benchmark.personas.get().tasks.filter(task_id="b"))
    client.force_login(person(benchmark, "author"))

    page = client.get(f"/benchmarks/{benchmark.slug}/pilots/new/").content.decode()

    assert page.count("scripted-helpful – scripted") == 1
    assert page.count("</span>draft</span>") == 1
    assert "frozen as they are at the start" in page


def test_start_form_of_a_large_benchmark_loads_the_selected_personas_tasks(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("evaluation.forms.pilots.TASKS_SHOWN", 3)
    benchmark = benchmark_of(task("own_1"), task("own_2"))
    benchmark_of(task("other_1"), task("other_2"), persona=PersonaSpec(user_id="someone_else"), into=benchmark)
    client.force_login(person(benchmark, "author"))
    path = f"/benchmarks/{benchmark.slug}/pilots/new/"

    everyone = client.get(path).content.decode()
    selected = client.get(path, {"persona": "someone_else"}).content.decode()
    named = client.get(path, {"task": "other_2"}).content.decode()

    assert 'type="checkbox" name="tasks"' not in everyone and "choose an episode first" in everyone
    assert selected.count('type="checkbox" name="tasks"') == 2
    assert 'value="other_2" checked' in named and 'value="own_1"' not in named


@pytest.mark.slow
def test_pilot_page_paginates_personas_and_counts_all(client: Client):
    benchmark = benchmark_of()
    total = PERSONAS_PER_PAGE + 1
    for number in range(total):
        persona = PersonaSpec(user_id=f"u{number}", name=f"Persona {number}")
        benchmark_of(task(f"task_{number}"), persona=persona, into=benchmark)
    pilot = pilot_row(benchmark)
    signed_in(client, pilot, "viewer")

    first = client.get(f"/pilots/{pilot.pk}/").content.decode()
    second = client.get(f"/pilots/{pilot.pk}/?page=2").content.decode()

    assert "Persona 0" in first and f"Persona {PERSONAS_PER_PAGE}" not in first
    assert f"Persona {PERSONAS_PER_PAGE}" in second and "Persona 0" not in second
    assert f"0 of {total} sessions finished" in first and f"0 of {total} sessions finished" in second
    assert "?page=2" in second.split('hx-trigger="every 2s"')[0].rsplit("hx-get", 1)[1]


def test_invalid_start_form_keeps_choices_and_shows_the_reason(client: Client):
    benchmark = benchmark_of(task("a"))
    client.force_login(person(benchmark, "author"))

    answer = client.post(f"/benchmarks/{benchmark.slug}/pilots/new/", choice(runs=99))

    assert answer.status_code == 200
    assert 'value="99"' in answer.content.decode()
    assert "Enter a whole number between 1 and 20." in answer.content.decode()
    assert not Pilot.objects.exists()


@pytest.mark.slow
def test_only_an_unfinished_pilot_page_polls(client: Client):
    pilot = pilot_row()
    signed_in(client, pilot, "viewer")
    path = f"/pilots/{pilot.pk}/"

    under_way = client.get(path, headers={"HX-Request": "true"}).content.decode()
    Pilot.objects.update(state=Pilot.State.FINISHED)
    over = client.get(path, headers={"HX-Request": "true"}).content.decode()

    assert "<html" not in under_way + over
    assert 'hx-trigger="every 2s"' in under_way
    assert "every 2s" not in over
    assert 'hx-trigger="every 2s"' not in client.get(path).content.decode()


def test_cancelling_keeps_finished_sessions(client: Client):
    pilot = pilot_row(benchmark_of(task("a"), task("b")))
    finish(pilot)
    signed_in(client, pilot, "owner")

    client.post(f"/pilots/{pilot.pk}/cancel/")

    assert list(Session.objects.order_by("pk").values_list("state", flat=True)) == ["finished", "cancelled"]


def test_infrastructure_failure_shows_its_reason_and_a_retry(client: Client):
    pilot = pilot_row()
    Session.objects.update(state="error", reason="The judge <b>cannot</b> be reached.", attempts=5)
    Pilot.objects.update(state=Pilot.State.STOPPED)
    signed_in(client, pilot, "author")

    page = client.get(f"/pilots/{pilot.pk}/").content.decode()
    client.post(f"/pilots/{pilot.pk}/retry/")

    assert "The judge &lt;b&gt;cannot&lt;/b&gt; be reached." in page
    assert "Stopped by technical failures, not by the agent" in page and "next try" not in page
    assert Pilot.objects.get().state == Pilot.State.RUNNING


def test_while_a_service_is_tried_again_the_page_says_when(client: Client):
    pilot = pilot_row()
    soon = timezone.now() + timedelta(seconds=40.5)
    Session.objects.update(state="error", reason="The model is away.", failure="ServerError", retry_at=soon)
    Pilot.objects.update(state=Pilot.State.RUNNING)
    signed_in(client, pilot, "author")

    page = client.get(f"/pilots/{pilot.pk}/").content.decode()
    session = client.get(Session.objects.get().get_absolute_url())

    assert re.search(r"Waiting for a service: next try in \d+ s", page)
    assert "Retry once it works again" not in page and "technical failures, not" not in page
    assert re.search(r"next try in \d+ s", session.content.decode())


def test_both_scoring_modes_are_shown_with_their_counts(client: Client):
    pilot = pilot_row()
    score = {
        "proc": 0.5,
        "comp": 0.25,
        "proc_std": None,
        "comp_std": None,
        "n": 4,
        "failed": 1,
        "missing": 2,
        "runs": [],
    }
    strict = score | {"comp": 0.125}
    totals = {"agent": 1234, "user": 10, "judge": 20}
    Pilot.objects.update(
        state="finished",
        scores={"compat": score, "strict": strict, "personas": {}, "ungraded": 3, "tokens": totals, "cost": "1.5"}
        | {"judge_tokens": {"compat": 7777, "strict": 5555}},
    )
    Session.objects.update(cost="1.5", **{f"{part}_tokens": used for part, used in totals.items()})
    Pilot.objects.update(scores_key=score_keys([pilot.pk])[pilot.pk])
    signed_in(client, pilot, "viewer")

    page = client.get(f"/pilots/{pilot.pk}/").content.decode()

    for text in ("25.0", "12.5", "7,777", "5,555", "1,234", "$1.50", "scripted"):
        assert text in page


def test_report_download_equals_the_commands_report(client: Client):
    pilot = pilot_row()
    signed_in(client, pilot, "viewer")

    answer = client.get(f"/pilots/{pilot.pk}/report.json")

    assert answer["Content-Disposition"].startswith("attachment")
    assert json.loads(answer.content)["pilot"] == pilot.pk


def test_empty_list_offers_the_first_step(client: Client):
    benchmark = benchmark_of(task("a", checklist=(rubric("x"),)))
    user = person(benchmark, "author")
    client.force_login(user)

    own = client.get(f"/benchmarks/{benchmark.slug}/pilots/").content.decode()
    Membership.objects.filter(user=user).update(role="viewer")
    viewers = client.get(f"/benchmarks/{benchmark.slug}/pilots/").content.decode()
    Membership.objects.filter(user=user).delete()
    strangers = client.get("/pilots/").content.decode()

    assert "No pilots yet" in own
    assert f"/benchmarks/{benchmark.slug}/pilots/new/" in own
    assert f"/benchmarks/{benchmark.slug}/pilots/new/" not in viewers
    assert "No benchmarks yet" in strangers


def test_pilots_page_starts_a_pilot_also_when_one_exists(client: Client):
    pilot = pilot_row()
    other = benchmark_of(task("z"))
    user = person(pilot.benchmark, "author")
    Membership.objects.create(user=user, benchmark=other, role="viewer")
    client.force_login(user)

    every = client.get("/pilots/").content.decode()
    elsewhere = client.get(f"/benchmarks/{other.slug}/pilots/").content.decode()

    assert f"/benchmarks/{pilot.benchmark.slug}/pilots/new/" in every
    assert f"/benchmarks/{other.slug}/pilots/new/" not in every + elsewhere
    assert "you need to be an owner, author, reviewer or release manager" in elsewhere
    assert 'data-label="Proc"' in every  # stacked on a phone, where a table is no wider than the page
    assert 'class="number optional"' not in every


def test_scripted_models_are_offered_only_for_the_part_they_play(client: Client):
    ModelEndpoint.objects.create(name="real", base_url="https://example.com/v1", model="real-1")
    benchmark = benchmark_of(task("a"))
    client.force_login(person(benchmark, "author"))

    form = client.get(f"/benchmarks/{benchmark.slug}/pilots/new/").context["form"]

    offered = {part: {row.name for row in form.fields[part].queryset} for part in ("agent", "user_model", "judge")}
    assert offered == {
        "agent": {"real", *(f"scripted-{name}" for name in ("helpful", "passive", "asks", "silent"))},
        "user_model": {"real", "scripted-user"},
        "judge": {"real", "scripted-judge"},
    }


def test_results_say_that_agent_and_judge_were_the_same_model(client: Client):
    pilot = pilot_row()
    signed_in(client, pilot, "author")
    before = client.get(f"/pilots/{pilot.pk}/").content.decode()
    same = {"name": "one", "model": "real-1"}
    Pilot.objects.filter(pk=pilot.pk).update(config={"agent": same, "judge": same | {"name": "two"}})

    after = client.get(f"/pilots/{pilot.pk}/").content.decode()

    assert ("were the same model" in before, "were the same model" in after) == (False, True)
    assert json.loads(client.get(f"/pilots/{pilot.pk}/report.json").content)["agent_judges_itself"] is True


def test_parameters_of_an_agent_are_chosen_on_the_start_page(client: Client):
    benchmark = benchmark_of(task("a"))
    client.force_login(person(benchmark, "author"))
    address = f"/benchmarks/{benchmark.slug}/pilots/new/"
    given = {
        "react_memory": "consolidated",
        "react_context_tokens": "30000",
        "react_instructions": "",
        "no-op_text": "x",
    }

    refused = client.post(address, choice(kind="react", **given | {"react_context_tokens": "0"}))
    assert refused.context["form"].errors.keys() == {"react_context_tokens"}
    assert 'data-when="react"' in refused.content.decode()
    assert client.post(address, choice(kind="react", **given)).status_code == 302
    assert Pilot.objects.get().agent_kind.params == {"memory": "consolidated", "context_tokens": "30000"}


def test_each_of_several_agents_gets_a_pilot_of_its_own(client: Client):
    benchmark = benchmark_of(task("a"))
    endpoint("scripted-asks")
    client.force_login(person(benchmark, "author"))

    answer = client.post(
        f"/benchmarks/{benchmark.slug}/pilots/new/", choice(agent=["scripted-helpful", "scripted-asks"], runs=2)
    )

    assert answer.url == f"/benchmarks/{benchmark.slug}/pilots/"
    assert sorted(Pilot.objects.values_list("agent__name", "runs_wanted")) == [
        ("scripted-asks", 2),
        ("scripted-helpful", 2),
    ]


def test_no_pilot_starts_if_one_of_several_is_refused(client: Client):
    benchmark = benchmark_of(task("a"))
    endpoint("scripted-asks")
    base = pilot_of(benchmark)
    Pilot.objects.update(state="finished")
    client.force_login(person(benchmark, "author"))

    page = client.post(
        f"/benchmarks/{benchmark.slug}/pilots/new/",
        choice(agent=["scripted-helpful", "scripted-asks"], mode="changed", base=base.number, protocol="release"),
    ).content.decode()

    assert "take the same" in page
    assert Pilot.objects.count() == 1


def test_running_again_offers_every_setting_of_the_pilot(client: Client):
    benchmark = benchmark_of(task("a"), task("b"))
    endpoint("scripted-asks")
    pilot = pilot_of(
        benchmark,
        "scripted-asks",
        tasks=["b"],
        runs=3,
        params={"memory": "consolidated"},
        limits={"turns": 7},
        budgets={"pilot": {"cost": 2.5}, "session": {"tokens": 9000}},
    )
    client.force_login(person(benchmark, "author"))
    path = f"/benchmarks/{benchmark.slug}/pilots/new/?like={pilot.number}"

    form = client.get(path).context["form"]
    given = {name: form[name].value() for name in form.fields}
    client.post(path, {name: value for name, value in given.items() if value not in (None, False)})

    again = Pilot.objects.latest("number")
    assert again.number == pilot.number + 1
    for name in ("agent", "user_model", "judge", "runs_wanted", "limits", "budgets", "protocol", "mode", "agent_kind"):
        assert getattr(again, name) == getattr(pilot, name), name
    assert Session.objects.filter(run__pilot=again).count() == 3


def test_what_the_form_asks_last_is_told_in_a_line(client: Client):
    benchmark = benchmark_of(task("a"))
    endpoint("scripted-helpful"), endpoint("scripted-user"), endpoint("scripted-judge")
    client.force_login(person(benchmark, "author"))

    page = client.get(f"/benchmarks/{benchmark.slug}/pilots/new/").content.decode()

    assert "user scripted-user, judge scripted-judge · agents work as react · paper protocol" in page
    assert ">own<" not in page and ">all<" not in page

"""What is said before a pilot starts, in place of after forty sessions."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from evaluation.agents import react
from evaluation.endpoints import services
from evaluation.endpoints.testing import request_test
from evaluation.endpoints.tryout import Line
from evaluation.models import EndpointTest, ModelEndpoint, Pilot
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.models import Benchmark, Role
from studio.personas.cast import enter_given
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, rubric, task
from tests.factories import api_token, member

pytestmark = pytest.mark.django_db
FAILED = Line("tools", "fails", "no call: it answered in words", "Choose a model that calls tools.")


@pytest.fixture
def model() -> ModelEndpoint:
    """It failed what only agents need."""
    row = endpoint("mute", base_url="https://models.example/v1", model="mute", scripted=False)
    test = request_test(row, by=None)
    EndpointTest.objects.filter(pk=test.pk).update(
        state="finished", finished_at=timezone.now(), lines=[FAILED.to_json()]
    )
    return row


@pytest.fixture
def benchmark() -> Benchmark:
    return benchmark_of(task("a"))


def form_data(agent: ModelEndpoint, **more: object) -> dict[str, Any]:
    others = {"user_model": "scripted-user", "judge": "scripted-judge"}
    return {"agent": agent.name, "runs": 1, "mode": "episode"} | others | more


def test_agent_that_failed_its_test_starts_no_pilot_until_that_is_accepted(model: ModelEndpoint, benchmark: Benchmark):
    with pytest.raises(
        OptionsError, match=r"mute failed its test as agent: “Calls a tool”, no call.* Choose a model that calls tools"
    ):
        pilot_of(benchmark, agent=model)

    assert not Pilot.objects.exists()
    assert pilot_of(benchmark, agent=model, accept_warnings=True).agent == model
    assert pilot_of(benchmark, user_model=model, judge=model).judge == model


@pytest.mark.slow
def test_start_page_says_it_and_asks(model: ModelEndpoint, benchmark: Benchmark, client: Client):
    client.force_login(member(benchmark, Role.OWNER))
    address = f"/benchmarks/{benchmark.slug}/pilots"

    estimate = client.get(f"{address}/estimate/", form_data(model)).content.decode()
    asked = client.post(f"{address}/new/", form_data(model)).content.decode()
    started = client.post(f"{address}/new/", form_data(model, accept_warnings="on"))

    assert "failed its test as agent: “Calls a tool”, no call: it answered in words" in estimate
    assert "failed its test" in asked and 'name="accept_warnings"' in asked
    assert started.status_code == 302 and Pilot.objects.count() == 1


def test_api_and_command_say_it_too(model: ModelEndpoint, benchmark: Benchmark, client: Client):
    owner = member(benchmark, Role.OWNER)
    wanted = {"benchmark": benchmark.slug, "agent": "mute", "user_model": "scripted-user", "judge": "scripted-judge"}
    headers = {"Authorization": f"Token {api_token(owner)}"}

    refused = client.post("/api/pilots/", wanted, content_type="application/json", headers=headers)
    started = client.post(
        "/api/pilots/", wanted | {"accept_warnings": True}, content_type="application/json", headers=headers
    )
    out = io.StringIO()
    arguments = ["pilot", "--benchmark", benchmark.slug, "--agent", "mute", "--user-model", "scripted-user",
                 "--judge", "scripted-judge", "--json"]  # fmt: skip
    with pytest.raises(SystemExit):
        call_command(*arguments, stdout=out)
    call_command(*arguments, "--accept-warnings", stdout=io.StringIO())

    assert (refused.status_code, started.status_code) == (400, 201)
    assert "failed its test" in refused.json()["errors"]["accept_warnings"][0]
    assert "failed its test" in json.dumps(json.loads(out.getvalue()), ensure_ascii=False)
    assert Pilot.objects.count() == 2


REQUEST = "My Gmail email is ada@example.com and password is 'r4[in'. Any news?"
CANNOT = r"^1 of 2 tasks of mailer cannot be done\. “a”: Signing in to Gmail as ada@example.com answers 401"


@pytest.fixture
def mailer() -> Benchmark:
    persona = PersonaSpec(user_id="mailer", tools=("gmail__login", "gmail__show_inbox_threads"))
    return benchmark_of(task("a", initial_request=REQUEST, title=""), task("b"), persona=persona)


def test_tasks_that_cannot_be_done_are_said_before_and_the_start_asks(mailer: Benchmark, client: Client):
    client.force_login(member(mailer, Role.OWNER))
    with pytest.raises(OptionsError, match=CANNOT) as refused:
        pilot_of(mailer)
    estimate = client.get(
        f"/benchmarks/{mailer.slug}/pilots/estimate/", form_data(ModelEndpoint.objects.get(name="scripted-helpful"))
    )

    assert refused.value.field == "accept_warnings"
    assert "1 of 2 tasks of mailer cannot be done" in estimate.content.decode()
    assert pilot_of(mailer, tasks=["b"])
    assert pilot_of(mailer, accept_warnings=True)


def test_a_reason_that_several_tasks_share_is_said_once_and_leads_to_each_persona(client: Client):
    persona = PersonaSpec(user_id="mailer", tools=("gmail__login", "gmail__show_inbox_threads"))
    tasks = [task(name, initial_request=REQUEST, title=f"News {name}") for name in "abcde"]
    benchmark = benchmark_of(*tasks, persona=persona)
    client.force_login(member(benchmark, Role.OWNER))

    with pytest.raises(OptionsError) as refused:
        pilot_of(benchmark)
    data = form_data(ModelEndpoint.objects.get(name="scripted-helpful"))
    estimate = client.get(f"/benchmarks/{benchmark.slug}/pilots/estimate/", data).content.decode()

    assert "“News a”, “News b”, “News c” and 2 more: Signing in to Gmail as ada@example.com" in str(refused.value)
    assert str(refused.value).count("Signing in") == 1
    assert f"/b/{benchmark.slug}/p/mailer/can-be-done/" in estimate


def test_nothing_is_said_once_the_apps_hold_the_account(mailer: Benchmark):
    enter_given(mailer.personas.get(), [], named=True, by=None)

    assert pilot_of(mailer)


@pytest.mark.slow
def test_a_name_that_only_an_earlier_task_tells_speaks_against_a_start_without_that_task(client: Client):
    named = (rubric("The plan names the 'Marlin 4'."),)
    benchmark = benchmark_of(
        task("shop", initial_request="Buy the Marlin 4 speaker.", title="Shop"),
        task("evening", initial_request="Plan my evening with it.", title="Evening", checklist=named),
        persona=PersonaSpec(user_id="host"),
    )
    client.force_login(member(benchmark, Role.OWNER))
    told = "Criteria name “Marlin 4”, known only from earlier tasks: “Shop”."

    with pytest.raises(OptionsError, match=r"^1 of 1 task of host cannot be done\. “Evening”: " + told):
        pilot_of(benchmark, tasks=["evening"])
    with pytest.raises(OptionsError, match=told):
        pilot_of(benchmark, mode="groups")

    assert pilot_of(benchmark, tasks=["shop", "evening"])
    page = client.get(f"/b/{benchmark.slug}/p/host/can-be-done/").content.decode()
    [_, evening] = client.get(f"/api/benchmarks/{benchmark.slug}/personas/host/can-be-done/").json()["tasks"]
    out = io.StringIO()
    call_command("can_be_done", "--benchmark", benchmark.slug, stdout=out)
    assert told in page and "1 task can be done only after earlier tasks." in page
    assert (evening["can_be_done"], evening["told_earlier"]) == (True, {"Marlin 4": ["shop"]})
    assert told in out.getvalue()


@pytest.mark.slow
def test_research_without_pages_is_said_and_leads_to_where_pages_are_added(client: Client):
    benchmark = benchmark_of(
        task("a", initial_request="Search the internet for harbour fees."), persona=PersonaSpec(user_id="clerk")
    )
    client.force_login(member(benchmark, Role.OWNER))

    with pytest.raises(OptionsError, match="and agents find no web page for it"):
        pilot_of(benchmark)

    page = client.get(f"/b/{benchmark.slug}/p/clerk/can-be-done/").content.decode()
    assert f"/b/{benchmark.slug}/p/clerk/web/" in page and "Make what the apps lack" not in page
    assert benchmark.personas.get().tasks.get().get_absolute_url() in page


def test_page_api_and_command_say_which_tasks_cannot_be_done(mailer: Benchmark, client: Client):
    client.force_login(member(mailer, Role.REVIEWER))
    out = io.StringIO()

    page = client.get(f"/b/{mailer.slug}/p/mailer/can-be-done/").content.decode()
    [first, second] = client.get(f"/api/benchmarks/{mailer.slug}/personas/mailer/can-be-done/").json()["tasks"]
    with pytest.raises(SystemExit) as ended:
        call_command("can_be_done", "--benchmark", mailer.slug, stdout=out)

    assert "1 of 2 tasks cannot be done." in page
    assert (first["can_be_done"], second["can_be_done"]) == (False, True)
    assert first["calls"] == [
        {
            "tool": "gmail__login",
            "arguments": {"username": "ada@example.com", "password": "r4[in"},
            "status": 401,
        }
    ]
    assert ended.value.code == 1
    assert out.getvalue().startswith("mailer · a: Signing in to Gmail as ada@example.com answers 401")


def test_more_tools_than_the_service_takes_are_said_before(monkeypatch: pytest.MonkeyPatch):
    few = replace(services.BY_SLUG["openai"], max_tools=3)
    monkeypatch.setitem(services.BY_SLUG, "openai", few)
    names = ("read_file", "write_file", "list_dir", "exec")
    benchmark = benchmark_of(task("a"), persona=PersonaSpec(user_id="clerk", tools=names))
    model = endpoint("gpt", base_url="https://api.openai.com/v1", model="gpt-5.4", scripted=False)

    with pytest.raises(OptionsError, match="has 4 tools in one task; OpenAI takes at most 3"):
        pilot_of(benchmark, agent=model)
    assert pilot_of(benchmark, agent=model, kind="react", params={"tools": "search"})
    assert pilot_of(benchmark)


@pytest.mark.parametrize(("most", "params"), [(3, {"tools": "search"}), (4, {})])
def test_agent_with_too_many_tools_to_show_looks_for_them_and_results_name_it(
    monkeypatch: pytest.MonkeyPatch, most: int, params: dict[str, str]
):
    monkeypatch.setattr(react, "MOST_AT_ONCE", most)
    names = ("read_file", "write_file", "list_dir", "exec")
    benchmark = benchmark_of(task("a"), persona=PersonaSpec(user_id="clerk", tools=names))

    pilot = pilot_of(benchmark)

    assert pilot.configured_agent.params == params
    assert pilot_of(benchmark, kind="react", params={"tools": "all"}).configured_agent.params == {"tools": "all"}


def test_model_without_a_price_is_named_where_a_limit_in_dollars_holds(benchmark: Benchmark):
    unpriced = endpoint("free-text", base_url="https://models.example/v1", model="m", scripted=False)
    ModelEndpoint.objects.filter(pk=unpriced.pk).update(input_price=None, output_price=None)
    unpriced.refresh_from_db()
    in_dollars: dict[str, Any] = {"budgets": {"pilot": {"cost": 5}}}

    with pytest.raises(OptionsError, match=r"^free-text has no price: a limit in dollars stops it only if"):
        pilot_of(benchmark, agent=unpriced, **in_dollars)

    assert pilot_of(benchmark, agent=unpriced, accept_warnings=True, **in_dollars).budgets["pilot"]["cost"] == 5
    assert pilot_of(benchmark, agent=unpriced, budgets={"pilot": {"tokens": 5_000}})

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from evaluation.models import Pilot
from studio.domain.persona import PersonaSpec
from tests.evaluation.builders import benchmark_of, endpoint, intents, rubric, task
from tests.evaluation.stub_model import StubModel, decisions, serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings) -> Iterator[StubModel]:
    monkeypatch.setenv("STUB_API_KEY", "none")
    monkeypatch.setattr("evaluation.pilots.wait.workers_answer", lambda: False)
    settings.SESSION_RETRY_SECONDS, settings.SESSION_ATTEMPTS = 0, 2
    with serving(StubModel()) as model:
        endpoint("stub", base_url=model.base_url, scripted=False, key_env="STUB_API_KEY")
        yield model


def run(*arguments: str) -> int:
    """The exit status."""
    try:
        call_command("pilot", *arguments)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


PARTS = ("--agent", "stub", "--user-model", "stub", "--judge", "stub")
RELEASE = ["--protocol", "release"]


@pytest.mark.slow
def test_command_runs_sessions_itself_without_a_worker(stub: StubModel, capsys):
    benchmark = benchmark_of(
        task("a"), task("b", "a", intents=intents("x"), checklist=(rubric("c"),)), persona=PersonaSpec(user_id="one")
    )
    benchmark_of(task("z", checklist=(rubric("c"),)), persona=PersonaSpec(user_id="two"), into=benchmark)
    stub.follow_up = lambda body: decisions(body, lambda index: True)

    status = run("--benchmark", benchmark.slug, *PARTS, *RELEASE, "--runs", "2", "--wait", "--json")

    report = json.loads(capsys.readouterr().out)
    assert (status, report["state"]) == (0, "finished")
    assert [(row["persona"], row["task"], row["run"], row["state"]) for row in report["sessions"]] == [
        (persona, name, number, "finished")
        for persona, names in (("one", "ab"), ("two", "z"))
        for number in (1, 2)
        for name in names
    ]
    assert (report["scores"]["compat"]["proc"], report["scores"]["strict"]["comp_std"]) == (1.0, 0.0)


@pytest.mark.slow
def test_chosen_tasks_run_with_their_dependencies(stub: StubModel, capsys):
    benchmark = benchmark_of(task("a"), task("b"), task("c", "b", checklist=(rubric("x"),)))

    status = run("--benchmark", benchmark.slug, *PARTS, *RELEASE, "--tasks", "c", "--wait")

    output = capsys.readouterr().out
    assert status == 0
    assert " · a · " not in output
    assert " · c · run 1: finished, 3 turns, Proc 0.0 %, Comp 100.0 % compat / 100.0 % strict" in output


def test_infrastructure_failure_is_exit_status_1(stub: StubModel, capsys):
    benchmark = benchmark_of(task("a"))
    stub.satisfaction = lambda body: (400, "{}")

    status = run("--benchmark", benchmark.slug, *PARTS, "--wait", "--json")

    report = json.loads(capsys.readouterr().out)
    assert (status, report["state"], report["sessions"][0]["state"]) == (1, "stopped", "error")


def test_limits_of_a_session_are_those_of_the_page(stub: StubModel, capsys):
    benchmark = benchmark_of(task("a", intents=intents("x", "y"), checklist=(rubric("c"),)))

    status = run("--benchmark", benchmark.slug, *PARTS, "--limit", "turns=1", "tool_calls=9", "--wait", "--json")

    [session] = json.loads(capsys.readouterr().out)["sessions"]
    assert (status, session["turns"]) == (0, 1)
    limits = Pilot.objects.get().limits
    assert (limits["turns"], limits["tool_calls"]) == (1, 9)
    assert run("--benchmark", benchmark.slug, *PARTS, "--limit", "turns=many") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--benchmark", "nothing", *PARTS), "There is no benchmark “nothing”"),
        (("--benchmark", "SLUG", "--agent", "nobody"), "--agent: There is no model “nobody”. There are: "),
        (("--benchmark", "SLUG", "--agent", "stub"), "--user-model: Choose a model. There are: "),
        (("--benchmark", "SLUG", *PARTS, "--tasks", "q"), "No episode here has the task “q”."),
        (("--benchmark", "SLUG", *PARTS, "--runs", "99"), "--runs: Choose at most 20."),
    ],
)
def test_usage_error_is_exit_status_2_and_starts_nothing(
    stub: StubModel, capsys, arguments: tuple[str, ...], message: str
):
    slug = benchmark_of(task("a")).slug

    status = run(*(slug if part == "SLUG" else part for part in arguments), "--json")

    out, err = capsys.readouterr()
    assert (status, Pilot.objects.count()) == (2, 0)
    assert message in err
    assert message in json.loads(out)["errors"][0]["message"] + " " + json.loads(out)["errors"][0]["fix"]

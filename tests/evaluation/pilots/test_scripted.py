"""Whole pilots over HTTP with the scripted model, well-behaved and not."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.models import ModelCall, Session, Verdict
from evaluation.pilots.wait import wait_for_pilot
from evaluation.results.pilot_report import pilot_report
from studio.domain.task import ExactCheck
from studio.imports.importer import import_path
from studio.imports.sample import load_sample
from studio.models import Benchmark, Task
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, rule, task

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_workers(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    monkeypatch.setattr("evaluation.pilots.wait.workers_answer", lambda: False)
    settings.SESSION_RETRY_SECONDS, settings.SESSION_ATTEMPTS = 0, 2


def small_benchmark() -> Benchmark:
    return benchmark_of(
        task("a", assets=(file("notes.md", "The harbour fee is due on Friday."),)),
        task(
            "b",
            "a",
            intents=intents("Name the harbour fee.", "Sign as the clerk of the northern office."),
            files_read=("notes.md",),
            checklist=(
                rubric("The reply names the harbour fee.", 2),
                rule("The notes are still there.", ExactCheck(kind="file_exists", path="notes.md")),
            ),
        ),
    )


@pytest.mark.slow
def test_every_scripted_agent_completes_an_episode_marked_as_scripted():
    benchmark = small_benchmark()
    for agent in ("scripted-helpful", "scripted-passive", "scripted-asks", "scripted-silent"):
        report = pilot_report(wait_for_pilot(pilot_of(benchmark, agent)))

        assert (report["state"], report["scripted"], report["scores"]["scripted"]) == ("finished", True, True)
        for session in report["sessions"]:
            assert session["turns"] <= len(session["intents"]) + 1
            assert {intent["status"] for intent in session["intents"]} <= {"completed", "inferred", "provided"}


@pytest.mark.slow
def test_same_pilot_gives_the_same_outcome():
    benchmark = small_benchmark()

    reports = [pilot_report(wait_for_pilot(pilot_of(benchmark, "scripted-asks"))) for _ in range(2)]

    for report in reports:
        for session in report["sessions"]:
            del session["session"]
    assert reports[0]["sessions"] == reports[1]["sessions"]
    assert reports[0]["scores"] == reports[1]["scores"]


@pytest.mark.slow
def test_faulty_judge_is_asked_again():
    stumbles = ("fenced", "fewer", "more", "prose", "malformed", "500", "cut")
    model = endpoint("stumbling", model="scripted-judge" + "".join(f"+{stumble}x1" for stumble in stumbles))

    pilot = wait_for_pilot(pilot_of(small_benchmark(), judge=model))

    assert pilot.state == "finished"
    assert set(Session.objects.values_list("state", flat=True)) == {"finished"}
    answered = ModelCall.objects.filter(endpoint=model, answered=True)
    used = Verdict.objects.filter(model_call__endpoint=model).values("model_call").distinct()
    assert answered.count() == used.count() + 3


@pytest.mark.slow
def test_unsupported_quote_marks_the_verdict():
    liar = endpoint("liar", model="scripted-judge+misquote")

    wait_for_pilot(pilot_of(small_benchmark(), judge=liar))
    wait_for_pilot(pilot_of(small_benchmark()))

    met = Verdict.objects.filter(kind="checklist", grader="rubric", met=True)
    assert set(met.filter(model_call__endpoint=liar).values_list("supported", flat=True)) == {False}
    assert set(met.exclude(model_call__endpoint=liar).values_list("supported", flat=True)) == {True}


def test_unavailable_judge_stops_the_pilot_and_is_not_the_agents_failure():
    broken = endpoint("broken", model="scripted-judge+quota")

    pilot = wait_for_pilot(pilot_of(benchmark_of(task("a", checklist=(rubric("x"),))), judge=broken))

    score = pilot_report(pilot)["scores"]["strict"]
    assert (pilot.state, score["failed"], score["missing"], score["comp"]) == ("stopped", 0, 1, None)


@pytest.mark.slow
def test_real_episode_of_twenty_tasks(pibench_data: Path):
    benchmark = Benchmark.objects.create(slug="real", name="Real")
    import_path(benchmark, pibench_data / "law_trainee", by=None)

    pilot = wait_for_pilot(pilot_of(benchmark, "scripted-asks", accept_warnings=True))

    report = pilot_report(pilot)
    assert (report["state"], len(report["sessions"])) == ("finished", 20)
    scored = [session for session in report["sessions"] if not session["setup"]]
    assert len(scored) == 11
    assert all(session["proc"] is not None and session["comp"]["strict"] is not None for session in scored)
    missing_scripts = {s["task"][-3:] for s in scored if s["ungraded"]}
    assert missing_scripts == {"008", "012", "014", "018", "020"}
    assert sum(s["tokens"]["judge"] for s in scored) > 0
    hidden = benchmark_texts(benchmark)
    for call in ModelCall.objects.filter(purpose="agent", turn=1):
        assert not any(text in str(call.request["messages"]) for text in hidden)


def benchmark_texts(benchmark: Benchmark) -> list[str]:
    """Every criterion: none of them may reach an agent."""

    return [
        item["criterion"]
        for checklist in Task.objects.filter(persona__benchmark=benchmark).values_list("spec__checklist", flat=True)
        for item in checklist
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("agent", "proc", "compat", "strict"),
    [
        ("scripted-helpful", 0.1468253968253968, 0.19206349206349208, 0.22063492063492066),
        ("scripted-asks", 0.023809523809523808, 0.19523809523809524, 0.22380952380952382),
    ],
)
def test_release_scores_the_sample_as_it_did_before_there_were_protocols(
    agent: str, proc: float, compat: float, strict: float
):
    for name in ("helpful", "asks", "user", "judge"):
        endpoint(f"scripted-{name}")
    load_sample()

    pilot = wait_for_pilot(pilot_of(Benchmark.objects.get(slug="sample"), agent, persona="radio_producer"))

    scores = pilot_report(pilot)["scores"]
    assert (scores["compat"]["proc"], scores["strict"]["proc"]) == (proc, proc)
    assert (scores["compat"]["comp"], scores["strict"]["comp"]) == (compat, strict)

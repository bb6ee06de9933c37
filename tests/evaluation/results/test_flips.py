"""Two pilots side by side: what differs between them, and which sessions came out otherwise."""

from __future__ import annotations

import csv
import io
import zipfile

import pytest
from django.test import Client

from evaluation.models import Session
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import compute_results
from evaluation.results.compared import differences, find_flips
from studio.drafts.load import load_task
from studio.models import Benchmark, Task
from studio.tasks.save import save_task
from tests.evaluation.results.builders import tried
from tests.factories import member

pytestmark = pytest.mark.django_db
FIRST, AGAIN = "Pilot 1 · scripted-helpful", "Pilot 3 · scripted-helpful"


@pytest.fixture
def again(benchmark: Benchmark) -> Benchmark:
    """The first pilot's agent once more: in b it covers and meets all, in c it meets both."""
    tried(benchmark, "scripted-helpful", {"a": 2, "b": 2, "c": 0}, 2)
    return benchmark


def results_of(benchmark: Benchmark):
    return compute_results(benchmark, list(benchmark.pilots.order_by("number")))


def test_flipped_sessions_say_what_rose_and_what_fell(again: Benchmark):
    flips = find_flips(results_of(again), FIRST, AGAIN, ScoringMode.STRICT)
    seen = [
        (flip.task, [change.name for change in flip.rose], [change.name for change in flip.fell])
        for flip in flips.flipped
    ]
    assert flips.pairs == 2
    assert seen == [("b", ["Intent 2", "Criterion 2"], []), ("c", ["Criterion 2"], [])]
    back = find_flips(results_of(again), AGAIN, FIRST, ScoringMode.STRICT)
    assert [change.after for change in back.flipped[0].fell] == ["provided", "not met"]


@pytest.mark.slow
def test_page_compares_two_pilots_of_one_agent_and_opens_their_transcripts(again: Benchmark, client: Client):
    client.force_login(member(again, "viewer"))
    page = client.get(f"/benchmarks/{again.slug}/results/compare/", {"first": FIRST, "second": AGAIN}).content.decode()
    first = Session.objects.get(run__pilot__number=1, run__number=1, revision__task__task_id="b")
    second = Session.objects.get(run__pilot__number=3, revision__task__task_id="b")
    assert f"/sessions/{first.pk}/?beside={second.pk}" in page
    assert "2 of 2 pairs of sessions" in " ".join(page.split())
    assert "Of these tasks 2 rose, 0 fell and 0 stayed." in " ".join(page.split())
    assert "same tasks with the same agent, models, judge and limits" in page


def test_difference_between_pilots_is_named(benchmark: Benchmark):
    task = Task.objects.get(task_id="c")
    spec = load_task(task)
    save_task(task.pk, spec.model_copy(update={"initial_request": "Please write it anew."}), by=None)
    tried(benchmark, "scripted-lazy", {"a": 2, "b": 2, "c": 0}, 2, runs=1)
    results = results_of(benchmark)
    assert differences(results, "Pilot 2 · scripted-lazy", "Pilot 3 · scripted-lazy") == ["wording of 1 task"]
    assert "model of the agent" in differences(results, FIRST, "Pilot 2 · scripted-lazy")


@pytest.mark.slow
def test_comparison_is_downloaded_with_the_pages_numbers(again: Benchmark, client: Client):
    client.force_login(member(again, "viewer"))
    url = f"/benchmarks/{again.slug}/results/compare/"
    chosen = {"first": FIRST, "second": AGAIN}
    page = client.get(url, chosen).content.decode()
    document = client.get(url, {**chosen, "format": "json"}).json()
    comp = next(row for row in document["metrics"] if row["metric"] == "comp")
    assert [(row["task"], row["difference"] > 0) for row in comp["tasks"]] == [("b", True), ("c", True)]
    assert [(row["task"], row["rose"][-1]["name"]) for row in document["flipped"]] == [
        ("b", "Criterion 2"),
        ("c", "Criterion 2"),
    ]
    for style, sign in (("markdown", "| Persona | Task |"), ("latex", r"\begin{tabular}")):
        assert f"format={style}" in page
        text = client.get(url, {**chosen, "format": style}).content.decode()
        assert sign in text
        assert f"{100 * comp['tasks'][0]['second']:.1f}" in text
    with zipfile.ZipFile(io.BytesIO(client.get(url, {**chosen, "format": "csv"}).content)) as archive:
        tasks = list(csv.DictReader(io.StringIO(archive.read("tasks.csv").decode())))
        assert archive.namelist() == ["differences.csv", "tasks.csv", "flipped.csv"]
    assert float(next(row for row in tasks if row["metric"] == "comp")["second"]) == comp["tasks"][0]["second"]

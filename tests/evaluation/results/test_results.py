from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from itertools import product

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.judging.judged import correct_verdict
from evaluation.metrics.labels import labels_of
from evaluation.models import Pilot, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.loading import load_pilot
from evaluation.results.scores import read_scores
from evaluation.results.tables import Mark, leaderboard_table
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, endpoint, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.results.builders import tried

pytestmark = pytest.mark.django_db


def document(benchmark: Benchmark, *arguments: str) -> dict:
    stream = io.StringIO()
    call_command("results", "--benchmark", benchmark.slug, "--json", *arguments, stdout=stream)
    return json.loads(stream.getvalue())


def test_sessions_share_their_pilot_and_do_not_read_its_scores_once_each(benchmark: Benchmark):
    pilot = Pilot.objects.filter(benchmark=benchmark)[0]

    sessions = load_pilot(pilot).sessions

    assert len(sessions) > 1
    assert len({id(session.run.pilot) for session in sessions}) == 1
    assert "scores" in sessions[0].run.pilot.get_deferred_fields()


def test_sessions_that_stand_at_one_place_have_one_order(benchmark: Benchmark):
    first, second = Pilot.objects.filter(benchmark=benchmark).order_by("pk")[:2]
    first.taken_sessions.set(Session.objects.of(second))
    for rows in (Session.objects.filter(run__pilot=first), first.runs.order_by()):
        rows.update(id=F("id"))  # the tables have them last now

    sessions = load_pilot(first).sessions

    places = [(row.run.persona_revision.persona_id, row.run.number, row.position, row.run.arm) for row in sessions]
    assert len(set(places)) < len(places)
    assert [
        row.pk for _, row in sorted(zip(places, sessions, strict=True), key=lambda pair: (pair[0], pair[1].pk))
    ] == [row.pk for row in sessions]


def test_command_api_and_download_give_the_same_numbers(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))

    by_command = document(benchmark)

    assert client.get(f"/api/benchmarks/{benchmark.slug}/results/").json() == by_command
    assert client.get(f"/benchmarks/{benchmark.slug}/results/?format=json").json() == by_command


def test_leaderboard_has_each_agent_in_both_scorings(benchmark: Benchmark):
    rows = {(row["agent"], row["scoring"]): row for row in document(benchmark)["leaderboard"]}

    assert set(rows) == set(product(["scripted-helpful", "scripted-lazy"], ["compat", "strict"]))
    helpful = rows["scripted-helpful", "strict"]
    # b pools its intents with those of a and counts twice: ((1 + 2) / 4 · 2 + 0) / 3
    assert helpful["proc"]["mean"] == pytest.approx(1 / 2)
    assert helpful["comp"]["mean"] == 0.5
    assert (helpful["proc"]["sd"], helpful["proc"]["n"], helpful["runs"], helpful["scripted"]) == (0.0, 4, 2, True)


def test_leaderboard_agrees_with_the_pilots_own_scores(benchmark: Benchmark):
    for pilot in Pilot.objects.filter(benchmark=benchmark):
        own = read_scores(pilot)
        for row in document(benchmark, "--pilot", str(pilot.number))["leaderboard"]:
            for metric in ("proc", "comp"):
                assert row[metric]["mean"] == pytest.approx(own[row["scoring"]][metric])


def test_statuses_categories_and_sessions_are_complete(benchmark: Benchmark):
    results = document(benchmark, "--pilot", "1")

    assert results["statuses"] == [{"agent": "scripted-helpful", "completed": 6, "inferred": 0, "provided": 6}]
    assert {(row["category"], row["tasks"]) for row in results["categories"]} == {("A", 1), ("B", 1)}
    sessions = [row for row in results["sessions"] if row["run"] == 1]
    assert [(row["task"], row["setup"], row["weight"]) for row in sessions] == [
        ("a", True, None),
        ("b", False, 2),
        ("c", False, 1),
    ]
    assert [row["proc"]["strict"] for row in sessions] == [None, 0.75, 0.0]


@pytest.mark.parametrize("state", ["failed", "waiting"])
def test_session_that_was_not_graded_tells_the_intents_it_covered(benchmark: Benchmark, state: str):
    Session.objects.filter(run__pilot__number=1, run__number=1).update(
        state=state, graded_strict_at=None, graded_compat_at=None
    )

    sessions = [row for row in document(benchmark, "--pilot", "1")["sessions"] if row["run"] == 1]

    assert [row["covered"] for row in sessions] == [2, 1, 0]


@pytest.mark.slow
def test_tables_can_be_had_as_csv_markdown_and_latex(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    address = f"/benchmarks/{benchmark.slug}/results/?format="

    with zipfile.ZipFile(io.BytesIO(client.get(f"{address}csv").content)) as archive:
        names = archive.namelist()
        board = list(csv.DictReader(io.StringIO(archive.read("leaderboard.csv").decode())))
    assert {"leaderboard.csv", "statuses.csv", "models.csv", "sessions.csv"} <= set(names)
    assert [(row["agent"], float(row["proc_mean"]), row["scoring"]) for row in board[:1]] == [
        ("scripted-helpful", 0.5, "compat")
    ]
    assert {"proc_sd", "proc_low", "proc_high", "comp_mean"} <= set(board[0])
    assert "| scripted-helpful (scripted) | 50.0 ± 0.0" in client.get(f"{address}markdown").content.decode()
    assert r"& 50.0 $\pm$ 0.0" in client.get(f"{address}latex").content.decode()


def test_exports_mark_best_only_what_the_page_marks(benchmark: Benchmark):
    made = document(benchmark)
    table = leaderboard_table(made, ScoringMode.STRICT)
    assert {cell.rank for row in table.rows for cell in row if isinstance(cell, Mark)} == {""}

    made["leaderboard"][-1]["marks"]["proc"] = "best"
    marked = leaderboard_table(made, ScoringMode(made["leaderboard"][-1]["scoring"]))
    assert [cell.rank for row in marked.rows for cell in row if isinstance(cell, Mark)].count("best") == 1


def test_unknown_pilot_is_a_usage_error(benchmark: Benchmark, client: Client, capsys):
    with pytest.raises(SystemExit) as exit:
        document(benchmark, "--pilot", "77")
    client.force_login(person(benchmark, "viewer"))
    answer = client.get(f"/api/benchmarks/{benchmark.slug}/results/?pilot=77")

    assert exit.value.code == 2
    assert (answer.status_code, "no pilot 77" in answer.content.decode()) == (400, True)


@pytest.mark.slow
def test_pages_show_scores_their_sums_and_a_comparison(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    page = f"/benchmarks/{benchmark.slug}/results/"

    board = client.get(page).content.decode()
    assert "Leaderboard" in board and "By category" in board and "scripted" in board
    assert 'data-room-name="Benchmarks" aria-current="page"' in re.sub(r"\s+", " ", board)
    behind = client.get(f"{page}sessions/?agent=scripted-helpful").content.decode()
    assert "(75.0 × 2 + 0.0) / 3" in behind and "setup, not scored on its own" in behind
    both = client.get(f"{page}compare/?first=scripted-helpful&second=scripted-lazy").content.decode()
    assert "not more than noise" in both
    assert "takes about 2 tasks" in re.sub(r"\s+", " ", both)
    assert "?pilot=1&amp;pilot=2&amp;scoring=strict&amp;agent=scripted-lazy&amp;category=A" in board
    assert (
        "Choose two different agents"
        in client.get(f"{page}compare/?first=scripted-lazy&second=scripted-lazy").content.decode()
    )


def test_benchmark_without_pilots_says_where_results_come_from(client: Client):
    benchmark = benchmark_of(task("a"))
    client.force_login(person(benchmark, "owner"))

    assert "No results yet" in client.get(f"/benchmarks/{benchmark.slug}/results/").content.decode()
    assert document(benchmark)["leaderboard"] == []


def test_corrected_verdict_changes_the_results(benchmark: Benchmark):
    row = Verdict.objects.filter(judging__session__run__pilot__number=2, judging__scoring="strict", index=1).first()

    correct_verdict(row, False, by=None)

    board = document(benchmark)["leaderboard"]
    [lazy] = [line for line in board if (line["agent"], line["scoring"]) == ("scripted-lazy", "strict")]
    expected = {"b": 2 / 3, "c": 5 / 6}[row.judging.session.revision.spec["task_id"]]
    assert lazy["comp"]["mean"] == pytest.approx(expected)


def test_results_of_another_benchmark_are_404(benchmark: Benchmark, client: Client):
    client.force_login(person())

    for path in ("", "sessions/", "compare/"):
        assert client.get(f"/benchmarks/{benchmark.slug}/results/{path}").status_code == 404
    assert client.get(f"/api/benchmarks/{benchmark.slug}/results/").status_code == 404


@pytest.mark.slow
def test_number_of_queries_does_not_grow_with_sessions(client: Client):
    numbers = []
    for runs in (1, 10):
        made = benchmark_of(task("a", checklist=(rubric("x"), rubric("y"))))
        tried(made, "scripted-helpful", {"a": 1}, 1, runs=runs)
        client.force_login(person(made, "viewer"))
        with CaptureQueriesContext(connection) as queries:
            assert client.get(f"/benchmarks/{made.slug}/results/").status_code == 200
        numbers.append(len(queries))

    assert numbers[0] == numbers[1]


def test_one_name_for_two_models_is_told_apart(benchmark: Benchmark):
    Pilot.objects.filter(number=2).update(config={"agent": {"name": "scripted-helpful", "model": "another"}})

    agents = {row["agent"] for row in document(benchmark)["leaderboard"]}

    assert agents == {f"scripted-helpful ({model})" for model in (endpoint("scripted-helpful").model, "another")}


def test_tasks_are_told_apart_by_the_apps_they_name_and_by_their_tags():
    named = task(
        "a",
        tools=("gmail__send_email", "mcp_appworld_phone__send_text_message", "read_file"),
        metadata={
            "difficulty": "hard",
            "tags": ["urgent", "mail", "q", "", "two\nlines", 3],
            "threads": ["billing"],
            "notes": "x" * 61,
            "note": "x" * 60,
        },
    )
    labels = labels_of(named)
    assert labels["tools"].split("\n") == ["gmail", "phone"]
    assert labels["tag"].split("\n") == ["mail", f"note: {'x' * 60}", "q", "threads: billing", "urgent"]
    assert labels_of(task("b"))["tag"] == ""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator

from evaluation.models import Pilot, Session
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import Results, compute_results
from evaluation.results.figures.catalogue import FIGURES, build_figure
from evaluation.results.figures.figure import Column, Figure
from evaluation.results.figures.pages import figure_body
from studio.dev.schemas import FOLDER
from studio.models import Benchmark, Revision, Task
from tests.evaluation.builders import benchmark_of, task
from tests.evaluation.factories import person, turn
from tests.evaluation.results.builders import tried

pytestmark = pytest.mark.django_db
STRICT = ScoringMode.STRICT


def results_of(benchmark: Benchmark) -> Results:
    return compute_results(benchmark, list(Pilot.objects.filter(benchmark=benchmark).order_by("number")))


def rows_of(benchmark: Benchmark, name: str) -> list[dict]:
    return [dict(row) for row in build_figure(results_of(benchmark), name, STRICT).rows]


def test_statuses_are_shares_of_all_intents(benchmark: Benchmark):
    helpful, lazy = rows_of(benchmark, "statuses")

    assert (helpful["completed"], helpful["provided"], helpful["n"]) == (0.5, 0.5, 12)
    assert (lazy["completed"], lazy["inferred"], lazy["n"]) == (pytest.approx(1 / 6), 0.0, 6)


def test_what_is_achieved_in_every_run_is_told_for_each_number_of_runs(benchmark: Benchmark):
    once, twice, lazy = rows_of(benchmark, "in_every_run")

    assert [(row["agent"], row["runs"], row["n_intents"], row["n_tasks"]) for row in (once, twice, lazy)] == [
        ("scripted-helpful", 1, 6, 2),
        ("scripted-helpful", 2, 6, 2),
        ("scripted-lazy", 1, 6, 2),
    ]
    assert once["intents"] == 0.5 and lazy["intents"] == pytest.approx(1 / 6)
    assert twice["intents"] <= once["intents"] and twice["tasks"] <= once["tasks"]


def test_statuses_are_split_by_category(benchmark: Benchmark):
    rows = {(row["category"][:1], row["agent"]): row for row in rows_of(benchmark, "statuses_by_category")}

    assert rows["A", "scripted-helpful"]["completed"] == 0.5
    assert rows["B", "scripted-lazy"]["completed"] == 0.5
    assert rows["n", "scripted-helpful"]["completed"] == 1.0  # the set-up task has no category


def test_points_of_agents_are_their_scores_on_the_leaderboard(benchmark: Benchmark):
    board = {agent.agent: agent for agent in results_of(benchmark).board(STRICT)}

    for name in ("turns_and_proc", "proc_and_comp"):
        for row in rows_of(benchmark, name):
            assert row["proc"] == board[row["agent"]].scores["proc"].mean
    assert {row["turns"] for row in rows_of(benchmark, "turns_and_proc")} == {2.0}


@pytest.mark.slow
def test_points_of_tasks_lead_to_their_sessions(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    page = client.get(f"/benchmarks/{benchmark.slug}/results/charts/?figure=proc_and_comp_by_task").content.decode()

    link = re.search(r'<a href="([^"]+task=c)">', page)[1].replace("&amp;", "&")
    behind = client.get(link).content.decode()
    assert "3 sessions" in behind and "· c" in re.sub(r"\s+", " ", behind)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_page_a_table_and_downloads(name: str, benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    address = f"/benchmarks/{benchmark.slug}/results/charts/?figure={name}"
    figure = build_figure(results_of(benchmark), name, STRICT)

    assert f"<h1>{figure.title}</h1>" in client.get(address).content.decode()
    downloaded = client.get(f"{address}&format=json").json()["figure"]
    assert downloaded == json.loads(json.dumps(figure.document()))
    lines = list(csv.reader(io.StringIO(client.get(f"{address}&format=csv").content.decode())))
    assert len(lines) == len(figure.rows) + 2
    assert {column.key for column in figure.columns} <= set(lines[1])
    assert client.get(f"{address}&format=latex").content.decode().count(r"\\") == len(figure.rows) + 1


@pytest.mark.parametrize("name", FIGURES)
def test_figure_without_pilots_shows_a_notice(name: str, client: Client):
    benchmark = benchmark_of(task("a"))
    client.force_login(person(benchmark, "viewer"))
    page = client.get(f"/benchmarks/{benchmark.slug}/results/charts/?figure={name}")

    assert page.status_code == 200
    assert '<div class="empty">' in page.content.decode()


def test_statuses_by_turn_add_up_to_all_intents(benchmark: Benchmark):
    [helpful] = [row for row in rows_of(benchmark, "statuses_by_turn") if row["agent"] == "scripted-helpful"]

    assert (helpful["turn"], helpful["completed"], helpful["provided"], helpful["n"]) == ("1", 0.5, 0.5, 12)


def test_items_are_judged_over_all_sessions_and_lead_to_the_editor(benchmark: Benchmark):
    rows = {(row["task"], row["item"].split(":")[0]): row for row in rows_of(benchmark, "items")}
    task_row = Task.objects.get(persona__benchmark=benchmark, task_id="b")

    assert rows["b", "Intent 1"]["n"] == 3
    assert rows["b", "Criterion 2"]["difficulty"] == pytest.approx(1 / 3)
    assert rows["b", "Criterion 1"]["links"]["item"] == f"{task_row.get_absolute_url()}#checklist"


def test_criteria_are_named_by_their_text(benchmark: Benchmark):
    names = {row["item"] for row in rows_of(benchmark, "items") if row["kind"] == "criterion"}

    assert names == {"Criterion 1: x", "Criterion 2: y"}


def test_intents_are_shown_for_each_agent_the_hardest_first(benchmark: Benchmark):
    rows = rows_of(benchmark, "intents_by_agent")

    assert [row["scripted-helpful"] for row in rows if row["task"] == "a"] == [1.0, 1.0]
    means = [(row["scripted-helpful"] + row["scripted-lazy"]) / 2 for row in rows]
    assert means == sorted(means)


def test_failure_pattern_opens_its_sessions_with_their_evidence(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    rows = {row["name"]: row for row in rows_of(benchmark, "failures")}

    assert rows["missed_hidden"]["scripted-lazy"] == 1.0
    assert rows["ignored_context"]["scripted-lazy"] is None  # no intent of these tasks lasts across sessions
    assert "scripted-lazy" not in rows["ignored_context"]["links"]
    page = f"/benchmarks/{benchmark.slug}/results/sessions/?pattern=missed_hidden&agent=scripted-lazy"
    behind = re.sub(r"\s+", " ", client.get(page).content.decode())
    assert "Did the visible, missed the hidden" in behind and "2 sessions" in behind
    assert "100 % of the checklist was met" in behind and "the user had to say intent 2" in behind


def test_questions_that_miss_lower_the_precision_of_asking(benchmark: Benchmark):
    session = Session.objects.filter(run__pilot__number=2).order_by("pk")[0]
    turn(session, 1, reply="Which harbour? And `which?` fee?")
    turn(session, 2, reply="Here it is.")

    lazy = {row["agent"]: row for row in rows_of(benchmark, "asking")}["scripted-lazy"]

    assert (lazy["asking_turns"], lazy["precision"], lazy["questions"]) == (1, 0.0, pytest.approx(2 / 3))


def test_scores_under_the_chosen_rule_have_not_moved(benchmark: Benchmark):
    rows = {(row["rule"], row["agent"]): row for row in rows_of(benchmark, "credit_rules")}

    assert rows["Proc: done or asked for", "scripted-helpful"]["moved"] == 0.0
    assert rows["Comp: first credit stays, strict", "scripted-lazy"]["moved"] == 0.0


def test_agents_are_told_apart_with_more_tasks(benchmark: Benchmark):
    rows = {row["score"]: row for row in rows_of(benchmark, "separation")}

    assert rows["Comp"]["pair"] == "scripted-lazy over scripted-helpful"
    assert (rows["Comp"]["difference"], rows["Comp"]["tasks"], rows["Comp"]["tasks_1"]) == (0.5, 2, 2)


def ablated(benchmark: Benchmark, covered: int) -> Pilot:
    """b runs after a, and alone, where it covers fewer intents."""
    return tried(benchmark, "scripted-helpful", {"a": 2, "b": 1, "b alone": covered}, 1, mode="ablation")


def test_task_without_its_earlier_sessions_counts_for_the_ablation_alone(benchmark: Benchmark):
    results = compute_results(benchmark, [ablated(benchmark, covered=0)])

    [row] = build_figure(results, "ablation", STRICT).rows

    assert (row["agent"], row["n"]) == ("scripted-helpful · ablation", 1)
    assert (row["proc_with"], row["proc_without"], row["proc_drop"]) == (0.5, 0.0, 0.5)
    assert (row["comp_with"], row["comp_drop"]) == (0.5, 0.0)
    assert {row["runs"] for row in build_figure(results, "in_every_run", STRICT).rows} == {1}
    [agent] = results.board(STRICT)
    assert agent.sessions == 2


def test_groups_that_score_the_same_alone_are_named(benchmark: Benchmark):
    results = compute_results(benchmark, [ablated(benchmark, covered=1)])

    figure = build_figure(results, "ablation", STRICT)

    assert len(figure.facts["unchanged"]) == 1 and figure.facts["unchanged"][0].endswith(" · b")
    assert figure.facts["unchanged"][0] in figure.note


@pytest.mark.slow
def test_page_of_the_ablation_chooses_pilots_of_that_mode(benchmark: Benchmark, client: Client):
    ablated(benchmark, covered=0)
    client.force_login(person(benchmark, "viewer"))
    page = f"/benchmarks/{benchmark.slug}/results/charts/"

    assert "scripted-helpful · ablation" in client.get(f"{page}?figure=ablation").content.decode()
    assert "scripted-helpful · ablation" not in client.get(f"{page}?figure=statuses").content.decode()


@pytest.mark.parametrize("name", FIGURES)
def test_command_and_api_give_the_figure_of_the_page(name: str, benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    stream = io.StringIO()
    call_command("results", "--benchmark", benchmark.slug, "--figure", name, "--json", stdout=stream)

    page = client.get(f"/benchmarks/{benchmark.slug}/results/charts/?figure={name}&format=json").json()
    assert json.loads(stream.getvalue()) == page
    assert client.get(f"/api/benchmarks/{benchmark.slug}/results/?figure={name}").json() == page


@pytest.mark.slow
def test_figures_and_results_satisfy_their_published_schemas(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    address = f"/api/benchmarks/{benchmark.slug}/results/"
    documents = {"results": address, "results-figure": f"{address}?figure=ablation"}

    for name, url in documents.items():
        schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
        document = client.get(url).json()
        assert [error.message for error in Draft202012Validator(schema).iter_errors(document)] == []


def test_results_name_the_frozen_tasks_with_their_hashes(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    document = client.get(f"/api/benchmarks/{benchmark.slug}/results/?pilot=1").json()

    [pilot] = document["pilots"]
    assert [row["task"] for row in pilot["tasks"]] == ["a", "b", "c"]
    hashes = {row.sha256 for row in Revision.objects.filter(task__persona__benchmark=benchmark)}
    assert {row["sha256"] for row in pilot["tasks"]} <= hashes


@pytest.mark.slow
def test_scripted_agents_are_marked_in_tables_and_drawings(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    for name in ("statuses", "failures"):
        address = f"/benchmarks/{benchmark.slug}/results/charts/?figure={name}"
        page = client.get(address).content.decode()
        drawn = re.search(r'<script id="figure-data"[^>]*>(.*?)</script>', page)[1]
        assert all("scripted-lazy (scripted)" in text for text in (page.replace(drawn, ""), drawn))
        assert "scripted-lazy (scripted)" in client.get(f"{address}&format=markdown").content.decode()


def test_api_names_the_figures_there_are(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "viewer"))
    address = f"/api/benchmarks/{benchmark.slug}/results/?figure="

    assert "statuses" in client.get(f"{address}nothing").json()["errors"]["figure"][0]
    assert client.get(f"{address}statuses&scoring=x").status_code == 400


@pytest.mark.parametrize(("agents", "first"), [(1, 40), (5, 20), (60, 5)])
def test_long_tables_show_their_first_rows_and_fold_the_rest(benchmark: Benchmark, agents: int, first: int):
    columns = [Column("a", "A"), *(Column(f"b{n}", f"B{n}", "percent") for n in range(agents))]
    figure = Figure("f", "Title", "", columns, [{"a": "text"}] * 300, shown=200)

    page = figure_body(results_of(benchmark), figure, STRICT, f"agents={agents}")

    before, _, folded = page.partition("<details")
    assert (before.count("<tr>") - 1, folded.count("<tr>") - 1) == (first, 200 - first)
    assert f"{200 - first} more rows; the downloads have all 300" in " ".join(folded.split())

"""Pilots of different protocols, or versions of the agent's loop, are never ranked together: page, API and command."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.models import Pilot, Session
from evaluation.results.benchmark_results import ResultsError, choose_pilots, compute_results, rankable
from evaluation.results.compared import differences
from evaluation.results.document import results_document
from evaluation.results.figures.catalogue import build_figure
from evaluation.results.selection import chosen_pilots
from evaluation.results.tables import tables_of
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, pilot_of, rubric, task
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import work_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    """With a pilot of each protocol, release first."""
    made = benchmark_of(task("a", checklist=(rubric("x"),)))
    for protocol in ("release", "paper"):
        work_through(pilot_of(made, protocol=protocol))
    return made


def pilots(benchmark: Benchmark) -> list[Pilot]:
    return list(Pilot.objects.filter(benchmark=benchmark).order_by("number"))


def test_what_pilots_that_are_not_asked_about_took_over_does_not_matter(benchmark: Benchmark):
    again = [pilot_of(benchmark, protocol="paper") for _ in range(2)]
    again[1].taken_sessions.add(*Session.objects.filter(run__pilot=again[0]))
    asked = pilots(benchmark)[1:3]

    assert rankable(asked) == asked


def test_results_are_of_the_pilots_that_may_be_ranked_with_the_newest(benchmark: Benchmark):
    assert [pilot.protocol for pilot in choose_pilots(benchmark, pilots(benchmark))] == ["paper"]


def test_pilots_named_together_that_may_not_be_ranked_are_refused(benchmark: Benchmark):
    with pytest.raises(ResultsError, match=r"Pilot 1 ran under the release protocol, agent loop 1, Pilot 2 under"):
        chosen_pilots(benchmark, pilots(benchmark), [1, 2], {})


def test_another_version_of_the_loop_is_not_ranked_either(benchmark: Benchmark):
    newest = pilots(benchmark)[-1]
    older = pilot_of(benchmark, protocol="paper")
    Pilot.objects.filter(pk=older.pk).update(agent_loop=newest.agent_loop + 1)

    assert [pilot.number for pilot in choose_pilots(benchmark, pilots(benchmark))] == [3]


@pytest.mark.slow
def test_pilots_of_other_tasks_are_not_ranked_beside_whole_episodes(client: Client):
    made = benchmark_of(task("a", checklist=(rubric("x"),)), task("b", checklist=(rubric("x"),)))
    whole = work_through(pilot_of(made))
    part = work_through(pilot_of(made, tasks=["b"]))

    assert choose_pilots(made, [whole, part]) == [whole]
    with pytest.raises(ResultsError, match="Pilot 2 ran 1 tasks, Pilot 1 2: they are never ranked together"):
        chosen_pilots(made, [whole, part], [1, 2], {})
    client.force_login(person(made, "owner"))
    page = " ".join(client.get(f"/benchmarks/{made.slug}/results/?pilot=1&pilot=2").content.decode().split())
    assert "Left out: pilot 2. Pilot 2 ran 1 tasks, Pilot 1 2" in page


@pytest.mark.slow
def test_an_ablation_named_beside_an_episode_is_left_to_its_own_figure(client: Client):
    made = benchmark_of(task("a", checklist=(rubric("x"),)), task("b", "a", checklist=(rubric("x"),)))
    episode, ablation = work_through(pilot_of(made)), work_through(pilot_of(made, mode="ablation"))

    with pytest.raises(ResultsError, match="Pilot 2 ran in mode ablation, Pilot 1 in mode episode"):
        chosen_pilots(made, [episode, ablation], [1, 2], {})
    with pytest.raises(ResultsError, match="Pilot 1 ran in mode episode, Pilot 2 in mode ablation"):
        chosen_pilots(made, [episode, ablation], [1, 2], {}, "ablation")


def test_results_name_the_terms_and_paper_has_one_scoring(benchmark: Benchmark):
    paper = pilots(benchmark)[1]

    results = compute_results(benchmark, [paper])
    document = results_document(results)

    assert document["terms"] == [str(paper.terms)]
    assert {row["scoring"] for row in document["leaderboard"]} == {"strict"}
    assert {tuple(row["comp"]) for row in document["sessions"]} == {("strict",)}
    assert tables_of(document)[0].caption == f"Proc and Comp in percent, strict scoring; {paper.terms}"
    with pytest.raises(ResultsError, match="one scoring"):
        build_figure(results, "proc_and_comp", "compat")


def test_release_has_both_scorings(benchmark: Benchmark):
    document = results_document(compute_results(benchmark, pilots(benchmark)[:1]))

    assert document["scorings"] == ["compat", "strict"]


def test_page_says_what_it_left_out(benchmark: Benchmark, client: Client):
    client.force_login(person(benchmark, "owner"))

    page = client.get(f"/benchmarks/{benchmark.slug}/results/?pilot=1&pilot=2").content.decode()

    assert "Left out: pilot 1." in " ".join(page.split())


def test_comparison_takes_both_and_says_that_the_protocol_differs(benchmark: Benchmark):
    results = compute_results(benchmark, pilots(benchmark))

    first, second = [side for side in results.sides if side.startswith("Pilot ")]

    assert "protocol" in differences(results, first, second)
    assert results.modes == ["strict"]
    assert len({results.agents[pilot.pk] for pilot in results.pilots}) == 2


def test_command_refuses_them_too(benchmark: Benchmark, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        call_command("results", "--benchmark", benchmark.slug, "--pilot", "1", "2")

    assert stopped.value.code == 2
    assert "never ranked together" in capsys.readouterr().err

"""What was computed once is read by every process, until something it follows from changes."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.models import Pilot, VerdictCorrection
from evaluation.models.verdicts import Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import compute_results
from evaluation.results.figures.catalogue import FIGURES, build_figure
from evaluation.results.pages import compute_ahead
from studio.models import Benchmark
from tests.evaluation.results.builders import kept
from tests.factories import member

pytestmark = pytest.mark.django_db


def computed(benchmark: Benchmark):
    return compute_results(benchmark, list(benchmark.pilots.order_by("number")))


@pytest.mark.slow
def test_figures_read_from_the_database_are_those_that_were_computed(benchmark: Benchmark):
    fresh = {name: build_figure(computed(benchmark), name, "strict").document() for name in FIGURES}
    stored = computed(benchmark)
    with CaptureQueriesContext(connection) as queries:
        again = {name: build_figure(stored, name, "strict").document() for name in FIGURES}
    assert again == fresh
    assert all("evaluation_computed" in query["sql"] for query in queries)


def test_sessions_and_boards_read_from_the_database_are_those_that_were_computed(benchmark: Benchmark):
    results = computed(benchmark)
    fresh = results.rows, results.scored, results.whole_board(ScoringMode.STRICT)
    stored = computed(benchmark)
    assert (stored.rows, stored.scored, stored.whole_board(ScoringMode.STRICT)) == fresh


@pytest.mark.slow
def test_first_reader_finds_everything_computed_once_the_pilots_have_ended(benchmark: Benchmark, client: Client):
    compute_ahead(benchmark.pk)
    client.force_login(member(benchmark, "viewer"))
    before = kept()
    for address in ("", "?scoring=compat", *[f"charts/?figure={name}" for name in FIGURES]):
        assert client.get(f"/benchmarks/{benchmark.slug}/results/{address}").status_code == 200
    assert kept() == before


@pytest.mark.slow
def test_correction_is_shown_although_the_page_is_stored(benchmark: Benchmark, client: Client):
    client.force_login(member(benchmark, "viewer"))
    before = client.get(f"/benchmarks/{benchmark.slug}/results/").content
    pilot = Pilot.objects.get(number=1)
    for verdict in Verdict.objects.filter(judging__session__run__pilot=pilot, judging__scoring="strict"):
        VerdictCorrection.objects.create(verdict=verdict, met=not verdict.met)
    assert client.get(f"/benchmarks/{benchmark.slug}/results/").content != before

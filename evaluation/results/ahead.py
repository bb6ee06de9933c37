"""What the results of a benchmark show first, computed before anybody opens it: once its pilots end, or other decisions
score."""

from __future__ import annotations

from evaluation.models import Pilot
from evaluation.results.benchmark_results import address_of, choose_pilots, compute_results
from evaluation.results.figures.catalogue import FIGURES, build_figure
from evaluation.results.figures.pages import figure_body
from evaluation.results.pages import leaderboard_html
from evaluation.results.scores import refresh_scores
from studio.models import Benchmark


def compute_ahead(benchmark_id: int) -> None:
    """The scores of all pilots, and all figures of those that are shown unless others are chosen."""
    benchmark = Benchmark.objects.get(pk=benchmark_id)
    pilots = refresh_scores(Pilot.objects.filter(benchmark=benchmark).select_related("agent", "user_model", "judge"))
    for pilot_mode in {kind.mode for kind in FIGURES.values()}:
        chosen = choose_pilots(benchmark, pilots, mode=pilot_mode)
        results = compute_results(benchmark, chosen)
        for mode in results.modes:
            address = address_of(chosen, mode)
            for name, kind in FIGURES.items():
                if kind.mode == pilot_mode:
                    figure_body(results, build_figure(results, name, mode.value), mode, address)
            leaderboard_html(results, mode, address)

"""`manage.py results`: every table of results, from stored sessions."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import Pilot
from evaluation.results.benchmark_results import ResultsError, choose_pilots, compute_results, results_document
from evaluation.results.tables import render_tables, tables_of
from studio.management.base import ReportCommand

EMPTY: dict[str, Any] = {"leaderboard": [], "statuses": [], "categories": [], "sessions": []}


class Command(ReportCommand):
    help = (
        "Proc and Comp per agent, persona and category, terminal statuses and every session, from stored sessions. "
        "Exit status 0, or 2 for a usage error."
    )

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--pilot",
            nargs="+",
            type=int,
            default=[],
            metavar="N",
            help="only these pilots, by number; default: all by real models, or all if only scripted models ran",
        )
        parser.add_argument(
            "--format", choices=["json", "csv", "markdown", "latex"], default="markdown", help="default: markdown"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["json"] or options["format"] == "json"
        benchmark = self.find_benchmark(options["benchmark"], as_json=as_json, document=EMPTY)
        pilots = list(Pilot.objects.filter(benchmark=benchmark).select_related("agent", "user_model", "judge"))
        try:
            chosen = choose_pilots(benchmark, pilots, options["pilot"])
        except ResultsError as error:
            self.usage_error(str(error), "Name pilots by their numbers.", as_json=as_json, document=EMPTY)
        document = results_document(compute_results(benchmark, chosen))
        if as_json:
            self.print_json(document)
        else:
            self.stdout.write(render_tables(tables_of(document), options["format"]))

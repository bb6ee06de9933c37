"""`manage.py results`: every table of results, from stored sessions."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import Pilot
from evaluation.results.benchmark_results import Results, ResultsError, compute_results
from evaluation.results.document import figure_document, results_document
from evaluation.results.figures.catalogue import FIGURES, SCORINGS, build_figure
from evaluation.results.selection import chosen_pilots
from evaluation.results.tables import render_tables, tables_of
from studio.management.base import ReportCommand


class Command(ReportCommand):
    help = (
        "Proc and Comp per agent, persona and category, terminal statuses and every session, from stored sessions. "
        "Exit status 0, or 2 for a usage error."
    )

    empty = {"leaderboard": [], "statuses": [], "categories": [], "sessions": []}

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
        parser.add_argument("--view", type=int, metavar="N", help="the pilots of this saved view")
        parser.add_argument("--tag", help="only pilots with this tag")
        parser.add_argument("--model", help="only pilots of this model or agent")
        parser.add_argument("--since", metavar="DAY", help="only pilots started on this day or later: 2026-05-31")
        parser.add_argument("--until", metavar="DAY", help="only pilots started on this day or earlier")
        parser.add_argument(
            "--format", choices=["json", "csv", "markdown", "latex"], default="markdown", help="default: markdown"
        )

        parser.add_argument("--figure", choices=[*FIGURES], help="one figure of the charts, instead of all tables")
        parser.add_argument(
            "--scoring",
            choices=SCORINGS,
            default=SCORINGS[-1],
            help="of the figure; default: strict",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = self.as_json or options["format"] == "json"
        benchmark = self.find_benchmark(options)
        pilots = list(Pilot.objects.filter(benchmark=benchmark).select_related("agent", "user_model", "judge"))
        try:
            chosen = chosen_pilots(benchmark, pilots, options["pilot"], options, options["figure"] or "")
        except ResultsError as error:
            hint = "Choose pilots by --pilot, --view, or --tag, --model, --since and --until."
            self.stop(str(error), hint)
        results = compute_results(benchmark, chosen)
        if options["figure"]:
            try:
                self._print_figure(results, options["figure"], options["scoring"], options["format"])
            except ResultsError as error:
                self.stop(str(error), "Leave --scoring out.")
            return
        document = results_document(results)
        if self.as_json:
            self.print_json(document)
        else:
            self.stdout.write(render_tables(tables_of(document), options["format"]))

    def _print_figure(self, results: Results, name: str, scoring: str, style: str) -> None:
        figure = build_figure(results, name, scoring)
        if self.as_json:
            self.print_json(figure_document(results, figure, scoring))
        else:
            table = figure.raw_table() if style == "csv" else figure.table()
            self.stdout.write(render_tables([table], style))

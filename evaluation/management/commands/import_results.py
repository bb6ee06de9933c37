"""`manage.py import_results`: output folders of the public π-Bench release as pilots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.pilots.outputs.importing import import_outputs
from evaluation.pilots.outputs.reading import OutputError
from studio.management.base import EXIT_PROBLEMS, ReportCommand, error


class Command(ReportCommand):
    help = (
        "Read the release's outputs (<model>[__runNN]/<user>/<task>/eval/results) as one pilot for each model, its "
        "verdicts as they came. Tasks must have the same intents and criteria here. Exit status 0; 1 if a file cannot "
        "be imported (nothing is then); 2 for a usage error."
    )

    empty = {"pilots": []}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("folder", type=Path, help="the folder “outputs”, or that of one model in it")
        parser.add_argument("--judge", default="", metavar="MODEL", help="that judged; the files do not name it")
        parser.add_argument("--user-model", default="", metavar="MODEL", help="that played the user")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = self.find_benchmark(options)
        try:
            pilots = import_outputs(
                benchmark, options["folder"], by=None, judge=options["judge"], user_model=options["user_model"]
            )
        except OutputError as problem:
            if self.as_json:
                found = {"file": problem.file, "field": problem.field}
                self.print_json(
                    {**self.empty, "errors": [error(problem.message, "Mend the file, or leave it out.") | found]}
                )
            else:
                self.stderr.write(f"{problem}\nNothing was imported.")
            raise SystemExit(EXIT_PROBLEMS) from problem
        document = {
            "pilots": [{"number": row.number, "agent": row.agent_name, "runs": row.runs_wanted} for row in pilots]
        }
        if self.as_json:
            self.print_json(document)
        for row in [] if self.as_json else pilots:
            self.stdout.write(f"Pilot {row.number}: {row.agent_name}, {row.runs_wanted} run(s)")

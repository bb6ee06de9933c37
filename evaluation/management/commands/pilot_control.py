"""`manage.py pilot_control`: pause, resume, cancel or retry a pilot."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.budgets import add_budget_arguments, read_budgets
from evaluation.models import Pilot
from evaluation.pilots.budgets import set_budgets
from evaluation.pilots.control import ACTIONS, ControlError, control_pilot
from studio.management.base import EXIT_PROBLEMS, ReportCommand, default_user


class Command(ReportCommand):
    help = (
        "Pause, resume, cancel or retry a pilot, and change its budget before. Exit status 0: done, or it was so "
        "already; 1: its state does not "
        "allow it; 2: usage error."
    )

    empty = {"pilot": None, "state": None}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pilot", type=int, metavar="N", help="the pilot's id, as `manage.py pilot --json` gives it")
        parser.add_argument("action", choices=ACTIONS)
        parser.add_argument(
            "--all",
            action="store_true",
            dest="everything",
            help="with retry: the sessions that the agent failed, too; without, only what failed for our own reasons",
        )
        add_budget_arguments(parser)
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        found = self.find("pilot", Pilot.objects.all(), "pk", options["pilot"])
        if budgets := read_budgets(options):
            set_budgets(found, budgets, by=default_user())
        try:
            pilot = control_pilot(found.pk, options["action"], by=default_user(), everything=options["everything"])
        except ControlError as problem:
            self.empty = {"pilot": found.pk, "state": found.state}
            self.stop(str(problem), status=EXIT_PROBLEMS)
        if self.as_json:
            self.print_json({"pilot": pilot.pk, "state": pilot.state})
        else:
            self.stdout.write(f"Pilot {pilot.number} of {pilot.benchmark.slug}: {pilot.state}")

"""`manage.py pilot_control`: pause, resume, cancel or retry a pilot."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.management.budgets import add_budget_arguments, read_budgets
from evaluation.models import Pilot
from evaluation.pilots.budgets import BudgetError, set_budgets
from evaluation.pilots.control import ACTIONS, ControlError, control_pilot
from studio.management.base import EXIT_PROBLEMS, ReportCommand, default_user, error

EMPTY: dict[str, Any] = {"pilot": None, "state": None}


class Command(ReportCommand):
    help = (
        "Pause, resume, cancel or retry a pilot, and change its budget before. Exit status 0: done, or it was so "
        "already; 1: its state does not "
        "allow it; 2: usage error."
    )

    empty = EMPTY

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
        as_json = options["json"]
        if not Pilot.objects.filter(pk=options["pilot"]).exists():
            self.usage_error(
                f"There is no pilot {options['pilot']}.",
                "Its id is in its page's address, and in `manage.py pilot --json` as “pilot”.",
                as_json=as_json,
                document=EMPTY,
            )
        try:
            if budgets := read_budgets(options):
                set_budgets(Pilot.objects.get(pk=options["pilot"]), budgets, by=default_user())
        except BudgetError as problem:
            self.usage_error(str(problem), "Nothing was done.", as_json=as_json, document=EMPTY)
        try:
            pilot = control_pilot(
                options["pilot"], options["action"], by=default_user(), everything=options["everything"]
            )
        except ControlError as problem:
            state = Pilot.objects.values_list("state", flat=True).get(pk=options["pilot"])
            if as_json:
                self.print_json({"pilot": options["pilot"], "state": state, "errors": [error(str(problem), "")]})
            self.stderr.write(self.style.ERROR(str(problem)))
            sys.exit(EXIT_PROBLEMS)
        if as_json:
            self.print_json({"pilot": pilot.pk, "state": pilot.state})
        else:
            self.stdout.write(f"Pilot {pilot.number} of {pilot.benchmark.slug}: {pilot.state}")

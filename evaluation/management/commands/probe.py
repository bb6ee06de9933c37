"""`manage.py probe`: which tasks are validated, and probing what was not probed yet."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import Validation
from evaluation.probes.cost import told_before
from evaluation.probes.rules import probe_rules
from evaluation.probes.standing import TaskStanding, standings_of
from evaluation.probes.validation import ValidationOptions, plan_validation, start_validation, wait_for_validation
from studio.management.base import EXIT_PROBLEMS, ReportCommand, add_options, default_user, read_options
from studio.models import Task


class Command(ReportCommand):
    help = (
        "Probe tasks that were not probed yet as they are now: candidates by a model, reference solutions, and answers "
        "that take no work. Exit status 0: all of them are validated; 1: some are not; 2: usage error."
    )
    empty = {"validation": None, "tasks": []}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_options(parser, ValidationOptions)
        parser.add_argument("--dry-run", action="store_true", help="say what would be probed, and what is known")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = self.find_benchmark(options)
        wanted = read_options(ValidationOptions, options)
        plan = plan_validation(benchmark, wanted)
        if not self.as_json:
            self.stderr.write(told_before(benchmark, wanted))
        probe_rules(Task.objects.filter(persona__benchmark=benchmark).values_list("pk", flat=True))
        validation = None
        if plan.due and not options["dry_run"]:
            validation = wait_for_validation(start_validation(benchmark, wanted, by=default_user()))
        found = [
            each
            for persona in self.find_personas({**options, "persona": wanted.persona})
            for each in standings_of(persona, wanted.task)
            if not each.exempt
        ]
        if self.as_json:
            tasks = [each.to_json() for each in found]
            self.print_json({"validation": validation and validation.to_json(), "tasks": tasks})
        else:
            self._print(validation, found)
        if not all(each.validated for each in found):
            sys.exit(EXIT_PROBLEMS)

    def _print(self, validation: Validation | None, found: list[TaskStanding]) -> None:
        for each in found:
            name = f"{each.row.persona.user_id} · {each.task.task_id}"
            self.stdout.write(f"{name}: {'validated' if each.validated else f'not validated. {each.why}'}")
            for part in each.kinds:
                if part.passed is not True:
                    self.stdout.write(f"  {part.kind.label}: {part.sentence}")
        if validation is not None and validation.state != Validation.State.FINISHED:
            self.stdout.write(f"The validation stopped: {validation.reason}")
        self.stdout.write(f"{sum(each.validated for each in found)} of {len(found)} tasks are validated.")

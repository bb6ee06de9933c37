"""`manage.py can_be_done`: which tasks cannot be done with what their apps hold."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.trials.outlook import outlook
from studio.domain.phrases import count_of
from studio.management.base import EXIT_PROBLEMS, ReportCommand


class Command(ReportCommand):
    help = (
        "Sign in and make plausible calls as each task says. Exit status 0: every task can be done as far as that "
        "shows; 1: some cannot; 2: usage error."
    )
    empty = {"tasks": []}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--persona", default="", metavar="P", help="only this persona, by its user id")

    def handle(self, *args: Any, **options: Any) -> None:
        personas = self.find_personas(options)
        found = [(persona, prospect) for persona in personas for prospect in outlook(persona)]
        impossible = [(persona, prospect) for persona, prospect in found if prospect.obstacles]
        if self.as_json:
            self.print_json(
                {"tasks": [{"persona": persona.user_id, **prospect.document()} for persona, prospect in found]}
            )
        else:
            for persona, prospect in impossible:
                why = " ".join(obstacle.sentence for obstacle in prospect.obstacles)
                self.stdout.write(f"{persona.user_id} · {prospect.task.task_id}: {why}")
            for persona, prospect in found:
                if prospect.told:
                    self.stdout.write(f"{persona.user_id} · {prospect.task.task_id}: {prospect.told}")
            self.stdout.write(f"{len(impossible)} of {count_of(len(found), 'task')} cannot be done.")
        if impossible:
            sys.exit(EXIT_PROBLEMS)

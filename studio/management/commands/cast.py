"""`manage.py cast`: the people of a persona's apps, and those that its tasks name."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from studio.domain.cast import CastPerson
from studio.drafts.validate import DraftError, StaleDraftError
from studio.management.base import EXIT_PROBLEMS, ReportCommand, default_user
from studio.personas.cast import Cast, CastError, cast_document, enter_given, load_cast


class Command(ReportCommand):
    help = (
        "Show the people of a persona’s simulated apps, and the accounts, people and messages that its tasks name and "
        "the apps lack. Exit status 0: nothing is lacking; 1: something is; 2: usage error."
    )
    empty = {"people": [], "named": [], "messages": []}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--persona", required=True, metavar="P", help="the persona’s user id")
        parser.add_argument("--make", action="store_true", help="put what is lacking into the apps")

    def handle(self, *args: Any, **options: Any) -> None:
        (persona,) = self.find_personas(options)
        if options["make"]:
            try:
                enter_given(persona, [], named=True, by=default_user())
            except (CastError, DraftError, StaleDraftError) as error:
                self.stop(str(error), "Nothing was saved.")
            persona.refresh_from_db()
        cast = load_cast(persona)
        if self.as_json:
            self.print_json(cast_document(cast))
        else:
            self._print(cast)
        if cast.is_wanting or cast.problem:
            sys.exit(EXIT_PROBLEMS)

    def _print(self, cast: Cast) -> None:
        if cast.problem:
            self.stdout.write(cast.problem)
        for person in cast.people:
            self.stdout.write(f"{person}{_ways(person)}")
        for row in cast.named:
            tasks = ", ".join(dict.fromkeys(each.task for each in row.said))
            self.stdout.write(f"lacking: {row.person}{_ways(row.person)}, named in {tasks}")
        for message in cast.messages:
            self.stdout.write(
                f"lacking: a message from {message.message.sender} about “{message.message.subject}”, named in "
                f"{message.said.task}"
            )


def _ways(person: CastPerson) -> str:
    ways = [part for part in (person.email, person.phone_number) if part and part != str(person)]
    signs_in = ", ".join(app for app, password in person.passwords.items() if password)
    return f"{' · ' if ways else ''}{', '.join(ways)}{f' · signs in to {signs_in}' if signs_in else ''}"

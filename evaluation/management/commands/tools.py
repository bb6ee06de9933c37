"""`manage.py tools`: the tools that agents get for a persona, and those that it binds in vain."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from studio.domain.tool_catalog import general_cards, tool_cards
from studio.drafts.load import load_episode
from studio.management.base import ReportCommand
from studio.personas.tool_servers import server_cards


class Command(ReportCommand):
    help = (
        "List the tools that agents get for a persona, and the bound names that stand for no tool. Exit status 0, or 2 "
        "for a usage error."
    )

    empty = {"offered": [], "missing": []}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--persona", required=True, metavar="P", help="by its user id")

    def handle(self, *args: Any, **options: Any) -> None:
        (row,) = self.find_personas(options)
        persona = load_episode(row, with_tasks=False).persona
        always, named = tool_cards(persona.tools)
        servers = server_cards(persona)
        names = {card.name for card in always}
        general, apps = general_cards(persona), [card for card in named if card.name not in names]
        offered = sorted({card.name for card in (*general, *apps, *servers) if card.known and not card.lacking})
        missing = [name for name in dict.fromkeys(persona.tools) if name not in offered]
        if self.as_json:
            self.print_json({"offered": offered, "missing": missing})
            return
        self.stdout.write(f"Offered: {', '.join(offered)}")
        self.stdout.write(f"Missing: {', '.join(missing) or 'none'}")
        for card in (card for card in (*general, *servers) if card.lacking):
            self.stdout.write(f"Not offered: {card.name}. {card.lacking}")

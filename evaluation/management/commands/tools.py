"""`manage.py tools`: the tools that agents get for a persona, and those that it binds in vain."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from studio.domain.tool_catalog import tool_cards
from studio.drafts.load import load_episodes
from studio.management.base import ReportCommand

EMPTY: dict[str, Any] = {"offered": [], "missing": []}


class Command(ReportCommand):
    help = (
        "List the tools that agents get for a persona, and the bound names that stand for no tool. Exit status 0, or 2 "
        "for a usage error."
    )

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--persona", required=True, metavar="P", help="by its user id")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["json"]
        benchmark = self.find_benchmark(options["benchmark"], as_json=as_json, document=EMPTY)
        row = benchmark.personas.filter(user_id=options["persona"]).first()
        if row is None:
            known = ", ".join(benchmark.personas.values_list("user_id", flat=True)) or "none yet"
            message = f"{benchmark} has no persona “{options['persona']}”."
            self.usage_error(message, f"Available: {known}.", as_json=as_json, document=EMPTY)
        bound = load_episodes([row], with_tasks=False)[row.pk].persona.tools
        always, named = tool_cards(bound)
        general = {card.name: card for card in always}
        some = [general[card.name] for card in named if card.name in general]
        bound_apps = [card for card in named if card.name not in general]
        offered = sorted({card.name for card in (*(some or always), *bound_apps) if card.known and not card.lacking})
        missing = [card.name for card in named if not card.known or card.lacking]
        lacking = [card for card in some or always if card.lacking]
        if as_json:
            self.print_json({"offered": offered, "missing": missing})
            return
        self.stdout.write(f"Offered: {', '.join(offered)}")
        self.stdout.write(f"Missing: {', '.join(missing) or 'none'}")
        for card in lacking:
            self.stdout.write(f"Not on this machine: {card.name}. {card.lacking}")

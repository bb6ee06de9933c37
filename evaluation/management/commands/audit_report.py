"""`manage.py audit_report`: the results of an audit."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotations.figures import campaign_figures
from annotations.models import AuditCampaign
from annotations.results import summarize
from studio.management.base import ReportCommand

EMPTY: dict[str, Any] = {"campaign": None}


class Command(ReportCommand):
    help = "Every figure of an audit's results page. Exit status 0: printed; 2: usage error."

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument("--campaign", type=int, required=True, metavar="N", help="as in its page's address")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = AuditCampaign.objects.select_related("benchmark").filter(pk=options["campaign"]).first()
        if campaign is None:
            self.usage_error("--campaign: there is no such audit.", "", as_json=options["json"], document=EMPTY)
        if options["json"]:
            self.print_json(campaign_figures(campaign))
            return
        summary = summarize([campaign])
        self.stdout.write(
            f"{campaign.name}: {summary.packets} {campaign.packets_word}, "
            f"{summary.waiting} waiting, {summary.undecided} undecided"
        )
        for row in summary.sources:
            self.stdout.write(
                f"{row.source} (majority) disagree with the judge: "
                f"checklist {row.checklist.rate.percent}, intents {row.intents.rate.percent}"
            )
        for error in summary.errors:
            self.stdout.write(
                f"  {error.label}: judge too lenient {error.confusion.too_lenient}, "
                f"too strict {error.confusion.too_strict} of {error.confusion.n}"
            )
        coefficients = {"Fleiss' κ": summary.kappa, "Krippendorff's α": summary.alpha, "Gwet's AC1": summary.ac1}
        for name, value in coefficients.items():
            self.stdout.write(f"  {name}: {'–' if value is None else f'{value:.3f}'}")

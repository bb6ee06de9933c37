"""`manage.py audit_report`: the results of an audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.template.loader import render_to_string

from annotations.figures import campaign_figures
from annotations.models import AuditCampaign
from annotations.reports import report_context
from annotations.results import summarize
from evaluation.audits.pdf import PrintError, print_pdf
from studio.management.base import ReportCommand


class Command(ReportCommand):
    help = (
        "Every figure of an audit's results page. With --pdf the report as a file, if Chromium is installed. "
        "Exit status 0: printed; 2: usage error."
    )

    empty = {"campaign": None}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument("--campaign", type=int, required=True, metavar="N", help="as in its page's address")
        parser.add_argument("--pdf", type=Path, metavar="FILE", help="write the report there, as a PDF")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = self.find("audit", AuditCampaign.objects.select_related("benchmark"), "pk", options["campaign"])
        if options["pdf"]:
            self._write_pdf(campaign, options["pdf"])
        if self.as_json:
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
        for between in summary.agreement:
            self.stdout.write(
                f"  Between auditors, {between.kind.lower()}: Fleiss' κ {between.fleiss_kappa.text}, "
                f"Krippendorff's α {between.krippendorff_alpha.text}, Gwet's AC1 {between.gwet_ac1.text} "
                f"(n = {between.questions})"
            )

    def _write_pdf(self, campaign: AuditCampaign, path: Path) -> None:
        try:
            print_pdf(render_to_string("annotations/report.html", report_context(campaign)), path)
        except PrintError as error:
            self.stop(f"--pdf: {error}")

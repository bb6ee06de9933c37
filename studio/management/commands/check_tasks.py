"""`manage.py check_tasks`: run the authoring checks."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from studio.findings.refresh import check_personas, run_graders
from studio.findings.waivers import waiver_reasons
from studio.management.base import EXIT_PROBLEMS, ReportCommand
from studio.models import Task

KEYS = ("persona", "task", "rule", "severity", "field", "item", "passage", "message", "fix", "other")


class Command(ReportCommand):
    help = (
        "Check the drafts of a benchmark. Exit status 0: only hints and dismissed findings; 1: errors or warnings; "
        "2: usage error."
    )

    empty = {"findings": []}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--persona", default="", metavar="P", help="only this persona, by its user id")

    def handle(self, *args: Any, **options: Any) -> None:
        personas = self.find_personas(options)
        run_graders(personas, wait=True)
        findings = list(check_personas(personas))
        reasons = waiver_reasons(Task.objects.filter(persona__in=personas))
        waived = [
            reasons.get((finding.persona, finding.task, finding.fingerprint, finding.severity == "error"))
            for finding in findings
        ]
        open_findings = [finding for finding, reason in zip(findings, waived, strict=True) if reason is None]
        if self.as_json:
            self.print_json(
                {
                    "findings": [
                        {key: getattr(finding, key) for key in KEYS} | {"waived": reason}
                        for finding, reason in zip(findings, waived, strict=True)
                    ]
                }
            )
        else:
            for finding in open_findings:
                item = f" {finding.item}" if finding.item else ""
                self.stdout.write(
                    f"{finding.severity:8} {finding.persona} · {finding.task} · {finding.field}{item}: "
                    f"{finding.message} {finding.fix} [{finding.rule}]"
                )
            rest = f", {len(findings) - len(open_findings)} dismissed" if len(open_findings) < len(findings) else ""
            self.stdout.write(f"{len(open_findings)} finding{'' if len(open_findings) == 1 else 's'}{rest}.")
        if any(finding.severity != "hint" for finding in open_findings):
            sys.exit(EXIT_PROBLEMS)

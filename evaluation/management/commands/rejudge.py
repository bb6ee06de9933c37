"""`manage.py rejudge`: judge a pilot's stored sessions again."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import Judging, Pilot
from evaluation.pilots.judging_work import wait_for_round
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, start_rejudging
from evaluation.results.comparison import round_report
from studio.management.base import EXIT_PROBLEMS, ReportCommand, add_options, default_user, read_options


class Command(ReportCommand):
    help = (
        "Judge the stored sessions of a pilot again, without running its agent: by another judge, with another prompt "
        "version, or several times. What was asked before is answered from the record and costs nothing. Exit status "
        "0: started, or with --wait finished; 1: some judgings were stopped by technical failures; 2: usage error."
    )

    empty = {"pilot": None, "judgings": 0, "calls": {"asked": 0, "replayed": 0}, "flipped": 0, "cost": "0"}

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument("--pilot", type=int, required=True, metavar="N", help="its id, as in its page's address")
        add_options(parser, RejudgingOptions)
        parser.add_argument("--estimate", action="store_true", help="only say what it would cost")
        parser.add_argument("--wait", action="store_true", help="return when all is judged")

    def handle(self, *args: Any, **options: Any) -> None:
        if options.get("batched") and options["wait"]:
            self.stop("--wait: batches may take days.", "Leave it out.")
        pilot = self.find("pilot", Pilot.objects.all(), "pk", options["pilot"])
        plan = plan_rejudging(pilot, read_options(RejudgingOptions, options))
        estimate = plan.estimate
        if not self.as_json:
            cost = "unknown" if estimate.cost is None else estimate.cost
            self.stdout.write(
                f"Estimated: {estimate.calls} calls, {estimate.tokens} tokens, {cost} US dollars; "
                f"{estimate.recorded} judgings are in the record."
            )
        if options["estimate"]:
            if self.as_json:
                self.print_json(self.empty | {"pilot": pilot.pk, "estimate": vars(estimate)})
            return
        started = start_rejudging(plan, by=default_user())
        if options["wait"]:
            wait_for_round(started)
        report = round_report(started)
        if self.as_json:
            self.print_json(report)
        else:
            self._print_report(report)
        if report["states"].get(Judging.State.ERROR):
            sys.exit(EXIT_PROBLEMS)

    def _print_report(self, report: dict[str, Any]) -> None:
        states = ", ".join(f"{number} {state}" for state, number in sorted(report["states"].items()))
        calls = report["calls"]
        self.stdout.write(
            f"Round {report['round']} of pilot {report['pilot']}: {report['judgings']} judgings ({states})"
        )
        self.stdout.write(f"{calls['asked']} calls asked, {calls['replayed']} answered from the record")
        self.stdout.write(f"{report['flipped']} decisions flipped; it cost {report['cost']} US dollars")
        if outcomes := report["outcomes"]:
            self.stdout.write(
                f"Under the {report['judging']['protocol']} protocol {outcomes['statuses']} of {outcomes['intents']} "
                f"statuses and {outcomes['scores']} of {outcomes['scored']} scores differ"
            )
        for row in report["decisions"]:
            self.stdout.write(
                f"  {row['kind']}: {row['n']} compared, {row['to_yes']} no to yes, {row['to_no']} yes to no"
            )

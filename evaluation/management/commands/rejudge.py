"""`manage.py rejudge`: judge a pilot's stored sessions again."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import Judging, ModelEndpoint, Pilot
from evaluation.pilots.judging_work import wait_for_round
from evaluation.pilots.rejudging import MAX_SAMPLES, RejudgingError, in_batches, plan_rejudging, start_rejudging
from evaluation.protocol.versions import PROTOCOLS
from evaluation.results.comparison import round_report
from studio.management.base import EXIT_PROBLEMS, ReportCommand, default_user
from studio.models import Benchmark

EMPTY: dict[str, Any] = {
    "pilot": None,
    "judgings": 0,
    "calls": {"asked": 0, "replayed": 0},
    "flipped": 0,
    "cost": "0",
}


class Command(ReportCommand):
    help = (
        "Judge the stored sessions of a pilot again, without running its agent: by another judge, with another prompt "
        "version, or several times. What was asked before is answered from the record and costs nothing. Exit status "
        "0: started, or with --wait finished; 1: some judgings were stopped by infrastructure failures; 2: usage error."
    )

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
        parser.add_argument("--pilot", type=int, required=True, metavar="N", help="its id, as in its page's address")
        parser.add_argument("--judge", default="", metavar="NAME", help="a model endpoint; default: as the pilot ran")
        parser.add_argument(
            "--protocol", default="", choices=PROTOCOLS, help="what judges see; default: as the pilot ran"
        )
        parser.add_argument("--prompt", default="", metavar="V", help="prompt version; default: as the pilot ran")
        parser.add_argument(
            "--samples", type=int, default=1, metavar="K", help=f"times each question is asked, 1 to {MAX_SAMPLES}"
        )
        parser.add_argument("--sessions", nargs="+", type=int, default=[], metavar="ID", help="only these sessions")
        parser.add_argument(
            "--every-turn", action="store_true", help="judge strict items in later turns too, after they were met"
        )
        parser.add_argument(
            "--batched", action="store_true", help="in batches, at half the price; answers may take a day"
        )
        parser.add_argument("--estimate", action="store_true", help="only say what it would cost")
        parser.add_argument("--wait", action="store_true", help="return when all is judged")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["json"]
        pilot = Pilot.objects.filter(pk=options["pilot"]).first()
        if pilot is None:
            self.stop("--pilot: there is no such pilot.", "")
        if options["batched"] and options["wait"]:
            self.stop("--wait: batches may take days.", "Leave it out.")
        judge = self._judge(pilot.benchmark, options["judge"], as_json)
        try:
            plan = plan_rejudging(
                pilot,
                judge=judge,
                protocol=options["protocol"],
                prompt=options["prompt"],
                samples=options["samples"],
                sessions=options["sessions"],
                every_turn=options["every_turn"],
            )
            plan = in_batches(plan) if options["batched"] else plan
        except RejudgingError as error:
            self.stop(error.message, "Nothing was started.")
        estimate = plan.estimate
        if not as_json:
            cost = "unknown" if estimate.cost is None else estimate.cost
            self.stdout.write(
                f"Estimated: {estimate.calls} calls, {estimate.tokens} tokens, {cost} US dollars; "
                f"{estimate.recorded} judgings are in the record."
            )
        if options["estimate"]:
            if as_json:
                self.print_json(EMPTY | {"pilot": pilot.pk, "estimate": vars(estimate)})
            return
        started = start_rejudging(plan, by=default_user())
        if options["wait"]:
            wait_for_round(started)
        report = round_report(started)
        if as_json:
            self.print_json(report)
        else:
            self._print_report(report)
        if report["states"].get(Judging.State.ERROR):
            sys.exit(EXIT_PROBLEMS)

    def _judge(self, benchmark: Benchmark, name: str, as_json: bool) -> ModelEndpoint | None:
        rows = ModelEndpoint.objects.usable_in(benchmark)
        endpoint = rows.filter(name=name).first()
        if name and endpoint is None:
            known = ", ".join(rows.values_list("name", flat=True)) or "none yet"
            message = f"--judge: there is no model “{name}”."
            self.stop(message, f"Available: {known}.")
        return endpoint

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

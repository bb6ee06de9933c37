"""`manage.py audit`: open an audit of the judges of pilots."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import CommandParser

from annotations.campaigns import CampaignError
from annotations.models import AuditCampaign
from evaluation.audits.campaigns import (
    DEFAULT_PEOPLE,
    DEFAULT_SESSIONS,
    DEFAULT_SIZE,
    MAX_PEOPLE,
    AuditOptions,
    open_audit,
)
from evaluation.audits.rounds import Numbers
from evaluation.models import Pilot
from studio.management.base import ReportCommand, default_user

EMPTY: dict[str, Any] = {"campaign": None, "packets": 0, "judgments_wanted": 0}
ASKED = ("size", "half_width", "unit", "strata", "second", "gold", "planted", "seed", "name", "own_tasks", "due")
"""Options that are those of ``AuditOptions``."""
OPTIONS = {
    "size": "--size",
    "round": "--round",
    "half_width": "--half-width",
    "strata": "--strata",
    "overlap": "--people",
    "auditors": "--people",
    "name": "--name",
    "second": "--second",
    "gold": "--gold",
    "planted": "--planted",
    "due": "--due",
    "instructions": "--instructions",
}


class Command(ReportCommand):
    help = (
        "Open an audit: freeze a sample of judges' decisions for the benchmark's auditors to judge blind. "
        "Exit status 0: opened; 2: usage error, nothing was opened."
    )

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--pilot", type=int, nargs="+", required=True, metavar="N", help="their ids, as in their pages' addresses"
        )
        parser.add_argument(
            "--round",
            nargs="+",
            default=[],
            metavar="N|PILOT=N",
            help="which judging, if pilots were judged again: of all, or of a pilot (12=2); default: the round that "
            "scores each",
        )
        parser.add_argument(
            "--unit",
            choices=("session", "decision"),
            default="decision",
            help="what a packet is: a whole session with all its questions, as in the paper, or a single decision",
        )
        parser.add_argument(
            "--size",
            type=int,
            metavar="K",
            help=f"packets; default: {DEFAULT_SIZE} decisions, {DEFAULT_SESSIONS} sessions",
        )
        parser.add_argument(
            "--half-width", type=float, metavar="POINTS", help="instead of --size: as many as give this precision"
        )
        parser.add_argument(
            "--people", type=int, default=DEFAULT_PEOPLE, help="different people per packet; default: %(default)s"
        )
        parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed draws the same sample")
        parser.add_argument("--name", default="", help="default: Audit of pilot N")
        parser.add_argument(
            "--strata",
            choices=[value for value, _ in AuditCampaign.Strata.choices],
            default="",
            help="how they are sampled; default: sessions as many of each pilot, decisions by kind, answer and persona",
        )
        parser.add_argument(
            "--second",
            type=float,
            default=0,
            metavar="PERCENT",
            help="single decisions asked again, in truth, with the whole session",
        )
        parser.add_argument(
            "--gold",
            type=float,
            default=0,
            metavar="PERCENT",
            help="items on top that earlier audits decided beyond doubt",
        )
        parser.add_argument(
            "--planted",
            type=float,
            default=0,
            metavar="PERCENT",
            help="wrong verdicts planted to see who looks; in no score",
        )
        parser.add_argument("--due", type=dt.date.fromisoformat, metavar="YYYY-MM-DD", help="by when people judge")
        parser.add_argument(
            "--instructions", type=Path, metavar="FILE", help="of your own for the auditors, with examples, in Markdown"
        )
        parser.add_argument(
            "--own-tasks", action="store_true", help="people may judge tasks they wrote, edited or approved"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        as_json = options["json"]
        benchmark = self.find_benchmark(options)
        if options["seed"] < 0 or options["people"] > MAX_PEOPLE:
            self._refuse(f"--seed is 0 or more, --people 1 to {MAX_PEOPLE}.", "", as_json)
        pilots = list(Pilot.objects.filter(benchmark=benchmark, pk__in=options["pilot"]).order_by("pk"))
        if missing := set(options["pilot"]) - {pilot.pk for pilot in pilots}:
            numbers = ", ".join(map(str, sorted(missing)))
            available = ", ".join(map(str, Pilot.objects.filter(benchmark=benchmark).values_list("pk", flat=True)))
            self._refuse(
                f"--pilot: “{benchmark.slug}” has no pilot {numbers}.", f"Available: {available or 'none'}.", as_json
            )
        rounds = _read_rounds(options["round"])
        if rounds is None:
            self._refuse("--round: a number, or one for each pilot as PILOT=N.", "Nothing was opened.", as_json)
        try:
            instructions = options["instructions"].read_text(encoding="utf-8") if options["instructions"] else ""
        except (OSError, UnicodeDecodeError):
            self._refuse(f"--instructions: {options['instructions']} cannot be read as text.", "", as_json)
        try:
            asked = {name: options[name] for name in ASKED}
            audit = AuditOptions(**asked, overlap=options["people"], instructions=instructions, round=rounds)
            campaign = open_audit(pilots, audit, by=default_user())
        except CampaignError as error:
            self._refuse(f"{OPTIONS.get(error.field, '')}: {error}", "Nothing was opened.", as_json)
        packets = campaign.packets.count()
        document = {"campaign": campaign.pk, "packets": packets, "judgments_wanted": packets * campaign.overlap}
        if as_json:
            self.print_json(document)
        else:
            self.stdout.write(
                f"Opened audit {campaign.pk}: {packets} {campaign.packets_word}, "
                f"{document['judgments_wanted']} judgments wanted"
            )

    def _refuse(self, message: str, fix: str, as_json: bool) -> NoReturn:
        self.stop(message, fix)


def _read_rounds(values: Sequence[str]) -> Numbers | None:
    """``["2"]``, or ``["12=2", "15=1"]``; None if they cannot be read."""
    if len(values) == 1 and values[0].isdecimal():
        return int(values[0])
    pairs = [value.split("=") for value in values]
    if not all(len(pair) == 2 and all(part.isdecimal() for part in pair) for pair in pairs):
        return None
    return {int(pilot): int(number) for pilot, number in pairs}

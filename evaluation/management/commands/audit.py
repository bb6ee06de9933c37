"""`manage.py audit`: open an audit of the judges of pilots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.audits.opening import AuditOptions, open_audit
from studio.domain.options import OptionsError
from studio.management.base import ReportCommand, add_options, default_user, read_options


class Command(ReportCommand):
    help = (
        "Open an audit: freeze a sample of judges' decisions for the benchmark's auditors to judge blind. "
        "Exit status 0: opened; 2: usage error, nothing was opened."
    )

    empty = {"campaign": None, "packets": 0, "judgments_wanted": 0}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_options(parser, AuditOptions, "round", "rounds", "instructions")
        parser.add_argument(
            "--round",
            nargs="+",
            default=[],
            metavar="N|PILOT=N",
            help="which judging, if pilots were judged again: of all, or of a pilot (12=2); default: the round that "
            "scores each",
        )
        parser.add_argument(
            "--instructions", type=Path, metavar="FILE", help="of your own for the auditors, with examples, in Markdown"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = self.find_benchmark(options)
        others = {"instructions": _read_instructions(options["instructions"]), "round": None}
        wanted = read_options(AuditOptions, options, **others | _read_rounds(options["round"]))
        campaign = open_audit(benchmark, wanted, by=default_user())
        packets = campaign.packets.count()
        document = {"campaign": campaign.pk, "packets": packets, "judgments_wanted": packets * campaign.overlap}
        if self.as_json:
            self.print_json(document)
        else:
            self.stdout.write(
                f"Opened audit {campaign.pk}: {packets} {campaign.packets_word}, "
                f"{document['judgments_wanted']} judgments wanted"
            )


def _read_instructions(path: Path | None) -> str:
    try:
        return path.read_text(encoding="utf-8") if path else ""
    except (OSError, UnicodeDecodeError):
        raise OptionsError("instructions", f"{path} cannot be read as text.") from None


def _read_rounds(values: Sequence[str]) -> dict[str, Any]:
    """``["2"]``, or ``["12=2", "15=1"]``."""
    if len(values) == 1 and values[0].isdecimal():
        return {"round": values[0]}
    pairs = [value.split("=") for value in values]
    if not all(len(pair) == 2 for pair in pairs):
        raise OptionsError("round", "Give a number, or one for each pilot as PILOT=N.")
    return {"rounds": dict(pairs)}

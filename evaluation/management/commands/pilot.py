"""`manage.py pilot`: run a model over tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.engine.plan import LIMITS
from evaluation.management.budgets import add_budget_arguments, read_budgets, read_numbers
from evaluation.models import Pilot
from evaluation.pilots.agents import kind_choices
from evaluation.pilots.estimate import what_runs
from evaluation.pilots.plans import plan_pilot
from evaluation.pilots.start import PilotOptions, find_participants, start_pilot
from evaluation.pilots.wait import wait_for_pilot
from evaluation.results.pilot_report import pilot_report
from studio.domain.options import OptionsError
from studio.management.base import EXIT_PROBLEMS, ReportCommand, add_options, default_user, read_options


class Command(ReportCommand):
    help = (
        "Run a model over tasks of a benchmark. Exit status 0: started, or with --wait finished (a session the agent "
        "failed is a result); 1: stopped by technical failures, or cancelled; 2: usage error."
    )

    empty = {"pilot": None, "state": None, "sessions": [], "scores": {}}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_options(parser, PilotOptions, "params", "limits", "budgets")
        parser.add_argument(
            "--param",
            nargs="+",
            default=[],
            metavar="NAME=TEXT",
            help="parameters of the agent’s kind ("
            + " ".join(f"{name}: {sentence}" for name, sentence in kind_choices())
            + "); NAME=@FILE reads one from a file",
        )
        parser.add_argument(
            "--limit",
            nargs="+",
            default=[],
            metavar="KIND=NUMBER",
            help="of a session: " + ", ".join(f"{name} (usually {usual:g})" for name, usual in LIMITS.items()),
        )
        add_budget_arguments(parser)
        parser.add_argument("--wait", action="store_true", help="return when the pilot has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        pilot = self._start(options)
        if options["wait"]:
            log = self.stderr.write if options["verbosity"] > 0 and not self.as_json else lambda text: None
            pilot = wait_for_pilot(pilot, log=log)
        report = pilot_report(pilot)
        if self.as_json:
            self.print_json(report)
        else:
            self._print_report(report)
        if options["wait"] and report["state"] != Pilot.State.FINISHED:
            sys.exit(EXIT_PROBLEMS)

    def _start(self, options: dict[str, Any]) -> Pilot:
        benchmark, by = self.find_benchmark(options), default_user()
        tasks = [name for text in options.get("tasks", ()) for name in text.split(",") if name]
        limits = read_numbers("limit", options["limit"])
        maps = {"params": _params(options["param"]), "limits": limits, "budgets": read_budgets(options)}
        wanted = read_options(PilotOptions, options, tasks=tasks, **maps)
        if not self.as_json:
            chosen = find_participants(benchmark, wanted, by)
            plans = plan_pilot(benchmark, wanted.mode, wanted.persona, wanted.tasks, chosen.base)
            runs = chosen.base.runs_wanted if chosen.base else wanted.runs
            self.stderr.write(what_runs(benchmark, plans, runs, chosen.endpoints))
        return start_pilot(benchmark, wanted, by=by)

    def _print_report(self, report: dict[str, Any]) -> None:
        scripted = " · scripted, not evidence" if report["scripted"] else ""
        mode = f" · {report['protocol']} protocol"
        mode += "" if report["mode"] == "episode" else f" · {report['mode']}"
        mode += f" since pilot {report['base']}" if report["base"] else ""
        self.stdout.write(f"Pilot {report['number']} of {report['benchmark']}: {report['state']}{mode}{scripted}")
        for session in report["sessions"]:
            line = f"  {session['persona']} · {session['task']} · run {session['run']}: {session['state']}"
            line += " without earlier sessions" if session["arm"] == "without" else ""
            line += f" in pilot {session['taken_from']}" if session["taken_from"] else ""
            if session["turns"]:
                line += f", {session['turns']} turns"
            if not session["setup"]:
                comps = " / ".join(f"{_percent(value)} {mode}" for mode, value in session["comp"].items())
                line += f", Proc {_percent(session['proc'])}, Comp {comps}"
            if session["ungraded"]:
                line += f", {session['ungraded']} ungraded"
            why = session["reason"] or session["blocked"]
            self.stdout.write(line + (f" ({why})" if why else ""))
        for mode in report["scores"]["judge_tokens"]:
            score = report["scores"][mode]
            self.stdout.write(
                f"{mode}: Proc {_percent(score['proc'])}, Comp {_percent(score['comp'])}"
                f" (n = {score['n']}, failed {score['failed']}, missing {score['missing']}, blocked {score['blocked']})"
            )
        for part, use in report["use"].items():
            cached = "" if use["cached"] is None else f" ({use['cached']:,} cached)"
            told = f"{use['prompt'] or 0:,} tokens in{cached}, {use['completion'] or 0:,} out"
            self.stdout.write(f"{part}: {use['calls']:,} calls, {told}, ${use['cost']}")
        for mode, metrics in report["scores"].get("ablation", {}).items():
            for metric, row in metrics.items():
                self.stdout.write(_ablation_line(mode, metric, row))


def _params(words: list[str]) -> dict[str, str]:
    params = {name: text for name, _, text in (word.partition("=") for word in words)}
    try:
        return {name: Path(text[1:]).read_text() if text.startswith("@") else text for name, text in params.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise OptionsError("params", f"A parameter's file cannot be read: {error}.") from None


def _ablation_line(mode: str, metric: str, row: dict[str, Any]) -> str:
    interval = "" if row["low"] is None else f" ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
    p = "" if row["p"] is None else f", p = {row['p']:.3f}"
    return (
        f"{mode}: {metric.capitalize()} {_percent(row['with'])} with earlier sessions, {_percent(row['without'])} "
        f"without; difference {_percent(row['difference'])}{interval}, n = {row['n']}{p}"
    )


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"

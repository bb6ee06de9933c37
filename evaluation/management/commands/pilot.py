"""`manage.py pilot`: run a model over tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from evaluation.management.budgets import add_budget_arguments, read_budgets
from evaluation.models import ModelEndpoint, Pilot
from evaluation.pilots.agents import find_agent, kind_choices
from evaluation.pilots.budgets import BudgetError
from evaluation.pilots.estimate import what_runs
from evaluation.pilots.plans import MODE_HELP, PilotError, plan_pilot
from evaluation.pilots.start import MAX_RUNS, start_pilot
from evaluation.pilots.wait import wait_for_pilot
from evaluation.protocol.versions import PROTOCOLS, ProtocolName
from evaluation.protocol.voice import USER_STYLES, USUAL_STYLE
from evaluation.results.pilot_report import pilot_report
from studio.management.base import EXIT_PROBLEMS, ReportCommand, default_user
from studio.models import Benchmark

EMPTY: dict[str, Any] = {"pilot": None, "state": None, "sessions": [], "scores": {}}


class Command(ReportCommand):
    help = (
        "Run a model over tasks of a benchmark. Exit status 0: started, or with --wait finished (a session the agent "
        "failed is a result); 1: stopped by infrastructure failures, or cancelled; 2: usage error."
    )

    empty = EMPTY

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--persona", default="", metavar="P", help="only this persona, by its user id")
        parser.add_argument(
            "--tasks",
            nargs="+",
            default=[],
            metavar="TASK",
            help="only these tasks, by id, also separated by commas; their dependencies run too",
        )
        parser.add_argument(
            "--protocol",
            default=str(ProtocolName.PAPER),
            choices=PROTOCOLS,
            help=" ".join(f"{name}: {text}" for name, text in PROTOCOLS.items()),
        )
        parser.add_argument(
            "--user-style",
            default="",
            choices=USER_STYLES,
            help=" ".join((f"{USUAL_STYLE}.", *(f"{style}: {text}" for style, text in USER_STYLES.items()))),
        )
        parser.add_argument(
            "--mode",
            default="episode",
            choices=MODE_HELP,
            help=" ".join(f"{mode}: {text}" for mode, text in MODE_HELP.items()),
        )
        parser.add_argument(
            "--base",
            type=int,
            metavar="N",
            help="with --mode changed: the number of the pilot whose other sessions are taken over; runs, limits "
            "and protocol are those of that pilot",
        )
        parser.add_argument(
            "--agent", required=True, metavar="NAME", help="a model endpoint, a scripted model, or an earlier agent"
        )
        parser.add_argument(
            "--kind",
            default="",
            metavar="KIND",
            help="what the agent does with its model: "
            + " ".join(f"{name}: {sentence}" for name, sentence in kind_choices()),
        )
        parser.add_argument(
            "--param",
            nargs="+",
            default=[],
            metavar="NAME=TEXT",
            help="parameters of the agent’s kind; NAME=@FILE reads one from a file",
        )
        parser.add_argument(
            "--user-model",
            default="",
            metavar="NAME",
            help="plays the user; default: scripted-user for a scripted agent, else STUDIO_USER_MODEL",
        )
        parser.add_argument(
            "--judge",
            default="",
            metavar="NAME",
            help="judges the checklist; default: scripted-judge for a scripted agent, else STUDIO_JUDGE",
        )
        parser.add_argument("--runs", type=int, default=1, metavar="K", help=f"runs of each persona, 1 to {MAX_RUNS}")
        add_budget_arguments(parser)
        parser.add_argument(
            "--accept-warnings",
            action="store_true",
            help="start although a model failed its test, or there are more tools than it takes",
        )
        parser.add_argument("--wait", action="store_true", help="return when the pilot has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        pilot = self._start(options)
        if options["wait"]:
            log = self.stderr.write if options["verbosity"] > 0 and not options["json"] else lambda text: None
            pilot = wait_for_pilot(pilot, log=log)
        report = pilot_report(pilot)
        if options["json"]:
            self.print_json(report)
        else:
            self._print_report(report)
        if options["wait"] and report["state"] != Pilot.State.FINISHED:
            sys.exit(EXIT_PROBLEMS)

    def _start(self, options: dict[str, Any]) -> Pilot:
        as_json = options["json"]
        benchmark = self.find_benchmark(options)
        known = None if options["kind"] else find_agent(benchmark, options["agent"])
        agent = known.endpoint if known else self._endpoint(benchmark, "--agent", options["agent"], as_json)
        user_model = self._endpoint(
            benchmark, "--user-model", options["user_model"] or _default(agent, "user"), as_json
        )
        judge = self._endpoint(benchmark, "--judge", options["judge"] or _default(agent, "judge"), as_json)
        base = self._base(benchmark, options["base"], as_json)
        tasks = [name for text in options["tasks"] for name in text.split(",") if name]
        seats = {"agent": agent, "user_model": user_model, "judge": judge}
        try:
            typed = known.params if known else _params(options["param"])
            if not as_json:
                plans = plan_pilot(benchmark, options["mode"], options["persona"], tasks, base)
                self.stderr.write(what_runs(benchmark, plans, base.runs_wanted if base else options["runs"], seats))
            return start_pilot(
                benchmark,
                by=default_user(),
                agent=agent,
                kind=known.kind if known else options["kind"] or "react",
                params=typed,
                user_model=user_model,
                protocol=options["protocol"],
                user_style=options["user_style"],
                judge=judge,
                mode=options["mode"],
                base=base,
                persona=options["persona"],
                tasks=tasks,
                runs=options["runs"],
                budgets=read_budgets(options),
                accept_warnings=options["accept_warnings"],
            )
        except (PilotError, BudgetError) as error:
            self.stop(str(error), "Nothing was started.")

    def _endpoint(self, benchmark: Benchmark, option: str, name: str, as_json: bool) -> ModelEndpoint:
        rows = ModelEndpoint.objects.usable_in(benchmark)
        endpoint = rows.filter(name=name).first()
        if endpoint is None:
            message = f"{option}: there is no model “{name}”." if name else f"Choose one with {option}."
            known = ", ".join(rows.values_list("name", flat=True)) or "none yet"
            self.stop(message, f"Available: {known}.")
        return endpoint

    def _base(self, benchmark: Benchmark, number: int | None, as_json: bool) -> Pilot | None:
        if number is None:
            return None
        pilot = benchmark.pilots.filter(number=number).first()
        if pilot is None:
            self.stop(f"--base: there is no pilot {number}.", "")
        return pilot

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
        raise PilotError("params", f"A parameter's file cannot be read: {error}.") from None


def _ablation_line(mode: str, metric: str, row: dict[str, Any]) -> str:
    interval = "" if row["low"] is None else f" ({100 * row['low']:.1f} to {100 * row['high']:.1f})"
    p = "" if row["p"] is None else f", p = {row['p']:.3f}"
    return (
        f"{mode}: {metric.capitalize()} {_percent(row['with'])} with earlier sessions, {_percent(row['without'])} "
        f"without; difference {_percent(row['difference'])}{interval}, n = {row['n']}{p}"
    )


def _default(agent: ModelEndpoint, part: str) -> str:
    if agent.scripted:
        return f"scripted-{part}"
    return str(settings.DEFAULT_USER_MODEL if part == "user" else settings.DEFAULT_JUDGE)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"

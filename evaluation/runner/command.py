"""The command `pibench`. What a subcommand needs is imported when it runs, so that help comes at once."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from evaluation.runner.errors import PibenchError
from evaluation.runner.tables import plain

if TYPE_CHECKING:
    from evaluation.runner.run import PlannedRun, Seats
    from evaluation.runner.tables import Table
    from studio.domain.tool_servers import ToolServerPolicy

OK, UNFINISHED, USAGE = 0, 1, 2
FOUND = 1
SPLITS = ("public", "validation", "held_out")
"""``studio.domain.episode.Split``"""
HASH = "SHA256:"
"""Begins a fingerprint."""
FINGERPRINT = re.compile(f"({HASH})?[A-Za-z0-9+/]{{43}}")
INTERRUPTED = 128 + signal.SIGINT
EXAMPLES = """\
examples:
  pibench show bench-1.0.zip
  pibench verify bench-1.0.zip --key SHA256:…
  pibench validate bench-1.0.zip                                        (plays its reference solutions again)
  pibench run bench-1.0.zip --model openai:gpt-5.4 --user openai:gpt-5.4-mini --judge openai:gpt-5.4-mini --out results
  pibench run bench-1.0.zip --model scripted:helpful --out trial        (free: no model is asked)
  pibench score results
  pibench compare results other-results
  pibench html results --out results.html
  pibench leaks bench-1.0.zip corpus/ results
  pibench site bench-1.0.zip results other-results --out site
  pibench export results --format eee --out exported
  pibench publish bench-1.0.zip --huggingface lab/bench --github lab/bench    (says what would be sent; sends nothing)
  pibench upload results --studio https://studio.example.org        (with a token in PIBENCH_TOKEN)

Keys are read from the environment (OPENAI_API_KEY, …) and never written. `pibench COMMAND --help` tells more."""
RUN_EXAMPLES = """\
models are named SERVICE:NAME, such as openai:gpt-5.4, openrouter:anthropic/claude-opus-5 or ollama:qwen3. Any address
that speaks OpenAI's API: openai:NAME with --base-url, or openai:NAME@URL for one model alone. scripted:helpful,
scripted:passive, scripted:asks and scripted:silent are free and deterministic, to try a pack out.

Everything stays in --out. After an interruption, however hard, the same command goes on where it stopped: no model is
asked twice for what it has answered. Exit status: 0 all sessions are over, 1 some are not, 2 the command was wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    action: Callable[[argparse.Namespace], int] | None = getattr(args, "action", None)
    if action is None:
        parser.print_help()
        return USAGE
    try:
        return action(args)
    except PibenchError as error:
        _say(f"error: {error}" + (f"\n\nhint: {error.hint}" if error.hint else ""))
        return USAGE
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # whoever reads has gone; so that closing it says nothing
        return OK


class _Parser(argparse.ArgumentParser):
    """Says of what is wrong what was probably meant and where help is, and not all that there is."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """An option that there is not is told before those that are missing."""
        given = list(sys.argv[1:] if args is None else args)
        known = re.findall(r"--[a-z][a-z-]*", self.format_help())
        of_command = "COMMAND" in self.format_usage()
        for word in given:
            if word == "--" or (of_command and not word.startswith("-")):
                break
            option = word.partition("=")[0]
            if option.startswith("--") and not any(name.startswith(option) for name in known):
                self._refuse(f"There is no option {option}.", option, known)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        choice = re.fullmatch(r"argument (.+): invalid choice: '(.*)' \(choose from (.+)\)", message, re.DOTALL)
        if choice is None:
            self._refuse(f"{message[0].upper()}{message[1:]}.", "", ())
        of, given, choices = choice.groups()
        known = re.findall(r"[\w-]+", choices)
        wrong = f"There is no command “{given}”" if of == "COMMAND" else f"{of} cannot be “{given}”"
        self._refuse(f"{wrong}; there {'is' if len(known) == 1 else 'are'} {', '.join(known)}.", given, known)

    def _refuse(self, message: str, given: str, known: Sequence[str]) -> NoReturn:
        alike = get_close_matches(given, sorted(set(known)), n=2)
        meant = f"Did you mean {' or '.join(alike)}? " if alike else ""
        self.exit(USAGE, f"error: {message}\n\nhint: {meant}`{self.prog} --help` tells what there is.\n")


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        "pibench",
        description="Run, score, show and verify packs of π-Bench Studio.",
        epilog=EXAMPLES,
        formatter_class=form,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="the version of pibench")
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")

    run = commands.add_parser(
        "run", help="play a pack's sessions with a model", epilog=RUN_EXAMPLES, formatter_class=form
    )
    run.set_defaults(action=_run)
    _add_run_arguments(run)

    show = commands.add_parser("show", help="what is in a pack, or one of its tasks")
    show.set_defaults(action=_show)
    show.add_argument("pack", type=Path, metavar="PACK")
    show.add_argument("task", nargs="?", metavar="TASK", help="id of the task to show; all tasks are listed without")
    show.add_argument("--persona", help="of this persona, if several have the task")
    _add_json(show)

    verify = commands.add_parser("verify", help="check every file of a pack, and who signed it")
    verify.set_defaults(action=_verify)
    verify.add_argument("pack", type=Path, metavar="PACK")
    verify.add_argument(
        "--key",
        default="",
        metavar="FINGERPRINT",
        help="of the key that must have signed it: SHA256:…, as its makers publish it; without it only integrity is "
        "checked",
    )
    verify.add_argument(
        "--held-out", type=Path, metavar="PACK", help="check too that this is the pack of its held-out tasks"
    )
    _add_json(verify)

    validate = commands.add_parser(
        "validate",
        help="play a pack's reference solutions again, and answers that take no work",
        description="Each reference solution must earn every item, answers that take no work none, beyond the "
        "benchmark's limits. Rules and grader scripts decide without a model; items for a judge stay undecided unless "
        "one is named.",
        epilog="exit status: 0 nothing is amiss, 1 something is, 2 the command was wrong",
    )
    validate.set_defaults(action=_validate)
    validate.add_argument("pack", type=Path, metavar="PACK")
    validate.add_argument("--judge", metavar="MODEL", help="judges items that rules do not decide")
    _add_connection(validate)
    _add_choice(validate)
    validate.add_argument("--jobs", type=_from_1, default=8, metavar="N", help="tasks at once (default 8)")
    _add_servers(validate)
    _add_json(validate)

    score = commands.add_parser("score", help="Proc, Comp, intervals and reliability of results")
    score.set_defaults(action=_score)
    score.add_argument("results", type=Path, metavar="RESULTS")
    score.add_argument("--split", default="", choices=SPLITS, help="only tasks of this split")
    _add_format(score)

    compare = commands.add_parser("compare", help="two results on the tasks that both ran")
    compare.set_defaults(action=_compare)
    compare.add_argument("first", type=Path, metavar="RESULTS")
    compare.add_argument("second", type=Path, metavar="OTHER")
    _add_format(compare)

    leaks = commands.add_parser(
        "leaks",
        help="whether texts or a model's answers have a pack's canary or passages of it",
        epilog="exit status: 0 nothing was found, 1 something was, 2 the command was wrong",
    )
    leaks.set_defaults(action=_leaks)
    leaks.add_argument("pack", type=Path, metavar="PACK")
    leaks.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="a file of text, a folder of them, or a folder of results",
    )
    _add_json(leaks)

    page = commands.add_parser("html", help="results as one page, with every transcript")
    page.set_defaults(action=_html)
    page.add_argument("results", type=Path, metavar="RESULTS")
    page.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the page; it asks no server for anything"
    )

    site = commands.add_parser("site", help="a pack and results of it as static pages, for any web host")
    site.set_defaults(action=_site)
    site.add_argument("pack", type=Path, metavar="PACK")
    site.add_argument(
        "results", type=Path, nargs="*", default=[], metavar="RESULTS", help="of this pack, for the leaderboard"
    )
    site.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="takes the pages; open its index.html")

    publish = commands.add_parser(
        "publish", help="print the commands that would publish a pack, and what they would send; sends nothing"
    )
    publish.set_defaults(action=_publish)
    publish.add_argument("pack", type=Path, metavar="PACK")
    publish.add_argument("--huggingface", default="", metavar="OWNER/NAME", help="a data set there, of its files")
    publish.add_argument("--github", default="", metavar="OWNER/NAME", help="a release there, with the pack")
    _add_json(publish)

    export = commands.add_parser("export", help="results as other collections of evaluations have them")
    export.set_defaults(action=_export)
    export.add_argument("results", type=Path, metavar="RESULTS")
    export.add_argument(
        "--format", choices=("eee",), default="eee", help="eee: Every Eval Ever, scores and a line for each session"
    )
    export.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="takes the files")
    export.add_argument("--organization", default="unknown", metavar="NAME", help="that tells the results")
    export.add_argument(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="other",
        help="of whoever evaluated and the model (default: other)",
    )

    bundle = commands.add_parser("bundle", help="results as one file with hashes, to hand in")
    bundle.set_defaults(action=_bundle)
    bundle.add_argument("results", type=Path, metavar="RESULTS")
    bundle.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="a zip, with the same files for the same results"
    )

    upload = commands.add_parser("upload", help="hand results in at the studio that released the pack")
    upload.set_defaults(action=_upload)
    upload.add_argument("results", type=Path, metavar="RESULTS", help="a folder of results, or a bundle of them")
    upload.add_argument("--studio", required=True, metavar="URL", help="its address")
    upload.add_argument("--token", metavar="TOKEN", help="an API token that may write; default: PIBENCH_TOKEN")
    _add_json(upload)
    return parser


def _add_run_arguments(run: argparse.ArgumentParser) -> None:
    run.add_argument("pack", type=Path, metavar="PACK", help="a release (zip or unpacked), or a folder of personas")
    models = run.add_argument_group("models")
    models.add_argument("--model", required=True, metavar="MODEL", help="is under test")
    models.add_argument("--user", metavar="MODEL", help="plays the user (default: scripted for a scripted model)")
    models.add_argument("--judge", metavar="MODEL", help="judges the checklist (default: likewise)")
    _add_connection(models)
    models.add_argument("--effort", default="", help="how much the model under test thinks: none, low, medium, high, …")
    models.add_argument("--price", action="append", default=[], metavar="MODEL=IN/OUT", help="dollars a million tokens")
    what = run.add_argument_group("what runs")
    _add_choice(what, " and what it builds on")
    what.add_argument("--runs", type=_whole, default=1, metavar="K", help="of every task (default 1; the paper has 3)")
    what.add_argument("--protocol", choices=("paper", "release"), default="paper", help="default: paper")
    what.add_argument(
        "--mode",
        choices=("episode", "groups"),
        default="episode",
        help="whole episodes over one workspace, or each dependency group from an empty one",
    )
    what.add_argument("--agent", default="react", metavar="KIND", help="what works with the model (default: react)")
    what.add_argument("--param", nargs="+", default=[], metavar="NAME=TEXT", help="of the agent; NAME=@FILE reads one")
    what.add_argument(
        "--user-style", choices=("verbatim", "in-voice"), default="", help="default: as the protocol has it"
    )
    limits = run.add_argument_group("limits")
    limits.add_argument(
        "--limit", nargs="+", default=[], metavar="KIND=NUMBER", help="of a session: turns, tool_calls, …"
    )
    for option, of in (("--budget", "the whole run"), ("--session-budget", "each session")):
        limits.add_argument(
            option, nargs="+", default=[], metavar="KIND=NUMBER", help=f"of {of}: tokens=…, calls=…, cost=… (dollars)"
        )
    limits.add_argument("--jobs", type=_from_1, default=16, metavar="N", help="sessions at once (default 16)")
    _add_servers(run)
    out = run.add_argument_group("results")
    out.add_argument("--out", type=Path, metavar="FOLDER", help="takes the results; the same again goes on with them")
    out.add_argument("--dry-run", action="store_true", help="say what would run, and ask no model")
    out.add_argument(
        "--like", type=Path, metavar="RESULTS", help="with --dry-run: estimate what it costs from these results"
    )
    _add_json(out)


def _add_connection(parser: Any) -> None:
    parser.add_argument("--base-url", default="", metavar="URL", help="of all models that do not name their own")
    parser.add_argument("--key-env", default="", metavar="VARIABLE", help="holds the key of --base-url")


def _add_choice(parser: Any, more: str = "") -> None:
    """``more``: what comes with a task."""
    parser.add_argument("--persona", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--task", action="append", default=[], help=f"only this one{more}; may be repeated")
    parser.add_argument(
        "--split",
        action="append",
        default=[],
        choices=SPLITS,
        help="only tasks of this split; may be repeated (default: all that the pack has)",
    )


def _add_servers(parser: argparse.ArgumentParser) -> None:
    servers = parser.add_argument_group("tool servers that the pack names; none is reached unless you say so")
    servers.add_argument("--allow-commands", action="store_true", help="run their commands in the sandbox")
    servers.add_argument("--allow-address", action="append", default=[], metavar="HOST", help="reach this host")
    servers.add_argument("--allow-key", action="append", default=[], metavar="VARIABLE@HOST", help="send it this key")


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"“{text}” is not a whole number") from None


def _from_1(text: str) -> int:
    if (number := _whole(text)) < 1:
        raise argparse.ArgumentTypeError(f"it is a number from 1 up, not {number}")
    return number


def _add_json(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="for programs, on standard output")


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "csv", "latex"), default="text", help="default: text")
    _add_json(parser)


def _run(args: argparse.Namespace) -> int:
    from evaluation.runner.board import Board
    from evaluation.runner.results import Results
    from evaluation.runner.run import start
    from evaluation.runner.scores import score, score_tables, scores_json

    planned = _planned(args)
    for warning in planned.warnings:
        _say(f"warning: {warning}")
    if args.dry_run:
        return _dry_run(args, planned)
    if args.out is None:
        raise PibenchError("There is nowhere to put the results.", "Add --out FOLDER, or --dry-run.")

    def interrupted(number: int, frame: object) -> None:
        os.write(2, b"\nStopped. The same command goes on from here.\n")
        os._exit(INTERRUPTED)  # everything that is kept is kept; threads that wait for models would hold it up

    signal.signal(signal.SIGINT, interrupted)
    with Board(len(planned.sessions), quiet=args.json) as board:
        results: Results = start(planned, args.out, args.jobs, board)
    scored = score(results)
    _answer(args, lambda: scores_json(scored), lambda: [_text_of(score_tables(scored))])
    open_ones = [session for session in results.sessions if session.state not in ("finished", "failed")]
    for session in open_ones[:10]:
        why = session.reason or "an earlier session of its run has not ended"
        _say(f"not finished: {session.planned.name}: {why}")
    if open_ones:
        _say(f"\n{len(open_ones)} of {len(planned.sessions)} sessions are not finished. The same command goes on.")
    return UNFINISHED if open_ones else OK


def _planned(args: argparse.Namespace) -> PlannedRun:
    from evaluation.protocol.modes import PilotMode
    from evaluation.protocol.versions import ProtocolName
    from evaluation.runner.packs import read_pack
    from evaluation.runner.run import RunOptions, plan
    from studio.domain.episode import Split

    options = RunOptions(
        protocol=ProtocolName(args.protocol),
        mode=PilotMode(args.mode),
        personas=args.persona,
        tasks=args.task,
        splits=[Split(name) for name in args.split],
        runs=args.runs,
        user_style=args.user_style,
        limits=_numbers("--limit", args.limit),
        budgets={
            "pilot": _numbers("--budget", args.budget),
            "session": _numbers("--session-budget", args.session_budget),
        },
        servers=_servers(args),
    )
    return plan(read_pack(args.pack), _seats(args), options)


def _servers(args: argparse.Namespace) -> ToolServerPolicy:
    from studio.domain.tool_servers import ToolServerPolicy

    keys = [entry.rpartition("@") for entry in args.allow_key]
    return ToolServerPolicy(
        args.allow_commands, tuple(args.allow_address), tuple((name, host.casefold()) for name, _, host in keys)
    )


def _seats(args: argparse.Namespace) -> Seats:
    from evaluation.runner.models import Connection, endpoint_of
    from evaluation.runner.run import Seats

    prices = {name: price for name, _, price in (each.rpartition("=") for each in args.price)}
    connection = Connection(args.base_url, args.key_env, prices, args.jobs)
    agent = endpoint_of(args.model, connection, args.effort)
    others = {"user": args.user, "judge": args.judge}
    if not agent.scripted and (lacking := [name for name, named in others.items() if not named]):
        seat = "plays the user" if lacking[0] == "user" else "judges"
        add = " and ".join(f"--{name} {args.model}" for name in lacking)
        raise PibenchError(f"Say which model {seat}.", f"Add {add}, or another model: the results say which.")
    user, judge = (endpoint_of(named or f"scripted:{name}", connection) for name, named in others.items())
    return Seats(agent, user, judge, args.agent, _texts(args.param))


def _dry_run(args: argparse.Namespace, planned: PlannedRun) -> int:
    from evaluation.runner.estimate import estimate
    from evaluation.runner.results import read_results

    known = read_results(args.like) if args.like else None
    estimated, run = estimate(planned, known), planned.document
    if args.json:
        more = {"warnings": list(planned.warnings), "estimate": estimated.document}
        _print_json(run.model_dump(mode="json") | more)
        return OK
    names = {role: each.name for role, each in planned.seats.by_role.items()}
    personas = list(dict.fromkeys(session.persona for session in planned.sessions))
    _tell(f"{planned.pack.name} {planned.pack.version}".rstrip())
    _tell(f"{len(planned.sessions)} sessions: {len(planned.tasks)} tasks of {len(personas)} personas, {args.runs} runs")
    _tell(f"model {names['agent']}, agent {run.agent.kind}, user {names['user_model']}, judge {names['judge']}")
    _tell(f"{run.terms}, the user speaks {run.user_style}")
    _tell(estimated.sentence)
    return OK


def _show(args: argparse.Namespace) -> int:
    from evaluation.runner.packs import read_pack
    from evaluation.runner.show import pack_json, show_pack, show_task, task_json

    pack = read_pack(args.pack)
    if args.task:
        found = pack.task(args.task, args.persona or "")
        return _answer(args, lambda: task_json(*found), lambda: [show_task(pack, *found)])
    return _answer(args, lambda: pack_json(pack), lambda: [show_pack(pack)])


def _verify(args: argparse.Namespace) -> int:
    from evaluation.runner.packs import read_files, verified
    from evaluation.runner.validate import solutions_of
    from studio.domain.pack import MANIFEST, UNLISTED, signer_of
    from studio.domain.phrases import count_of

    if args.key and not FINGERPRINT.fullmatch(args.key.strip()):
        raise PibenchError(f"“{args.key}” is no fingerprint.", f"One is {HASH} and 43 letters, digits, + and /.")
    files, sha256 = read_files(args.pack)
    if MANIFEST not in files:
        raise PibenchError(f"{args.pack} is no release: it has no {MANIFEST}.")
    manifest = verified(args.pack, files)
    signer = signer_of(manifest, files)
    if args.key and not signer:
        raise PibenchError(f"{args.pack} is not signed.", "Fetch it again from where its makers publish it.")
    if args.key and signer.removeprefix(HASH) != args.key.strip().removeprefix(HASH):
        raise PibenchError(
            f"{args.pack} is signed by {signer}, not by {args.key}.",
            "Do not use it, unless its makers publish this fingerprint elsewhere too.",
        )
    held_out = manifest.get("splits", {}).get("held_out", {})
    if args.held_out:
        _check_held_out(args, held_out)
    solutions = sum(map(len, solutions_of(args.pack, files).turns.values()))
    name = f"{manifest['benchmark']['name']} {manifest['version']}"
    checked = len(files.keys() - UNLISTED)
    if args.json:
        facts = {"ok": True, "name": name, "sha256": sha256, "files": checked, "signed_by": signer or None}
        checks = {"checked": "signature" if args.key else "integrity", "held_out_checked": bool(args.held_out)}
        _print_json({**facts, **checks, "splits": manifest.get("splits", {}), "solutions": solutions})
        return OK
    whole = f"{name}: all {checked} files are as released"
    if args.key:
        _tell(f"{whole}, and signed by {signer}.")
    elif signer:
        _tell(f"{whole}. Integrity only: it is signed by {signer}, and whose key that is was not checked.")
        _tell("Give the fingerprint that its makers publish with --key.")
    else:
        _tell(f"{whole}. Integrity only: it is not signed, so anybody may have made it.")
    _tell(f"sha256 {sha256}")
    if solutions:
        _tell(f"It has {count_of(solutions, 'reference solution')}; `pibench validate` plays what they do.")
    if "file" in held_out:
        how = "checked too" if args.held_out else "give it with --held-out, if you have it, to check it too"
        _tell(f"{count_of(held_out['tasks'], 'task')} held out in {held_out['file']}: {how}.")
    return OK


def _check_held_out(args: argparse.Namespace, named: dict[str, Any]) -> None:
    """Raises PibenchError unless it is the pack that the published one names, and whole."""
    from evaluation.runner.packs import read_pack

    pack = read_pack(args.held_out)
    if "sha256" not in named:
        raise PibenchError(f"{args.pack} names no pack of held-out tasks.")
    if pack.sha256 != named["sha256"]:
        raise PibenchError(
            f"{args.held_out} is not the held-out pack of {args.pack}: its sha256 is {pack.sha256}, not "
            f"{named['sha256']}."
        )


def _validate(args: argparse.Namespace) -> int:
    from evaluation.runner.models import Connection, endpoint_of
    from evaluation.runner.validate import Chosen, replay, told
    from studio.domain.episode import Split

    judge = endpoint_of(args.judge, Connection(args.base_url, args.key_env)) if args.judge else None
    chosen = Chosen(args.persona, args.task, [Split(name) for name in args.split])
    replayed = replay(args.pack, chosen, _servers(args), judge, args.jobs)
    amiss = any(each.valid is False for each in replayed.tasks)
    return _answer(args, replayed.to_json, lambda: told(replayed), FOUND if amiss else OK)


def _score(args: argparse.Namespace) -> int:
    from evaluation.runner.results import read_results
    from evaluation.runner.scores import score, score_tables, scores_json
    from studio.domain.episode import Split

    results = read_results(args.results)
    scored = score(results.of_split(Split(args.split)) if args.split else results)
    return _answer(args, lambda: scores_json(scored), lambda: [_text_of(score_tables(scored), args.format)])


def _compare(args: argparse.Namespace) -> int:
    from evaluation.runner.results import read_results
    from evaluation.runner.scores import comparison_json, comparison_tables

    both = read_results(args.first), read_results(args.second)
    return _answer(args, lambda: comparison_json(*both), lambda: [_text_of(comparison_tables(*both), args.format)])


def _leaks(args: argparse.Namespace) -> int:
    from evaluation.runner.leaks import find_leaks, leaks_json, leaks_table
    from evaluation.runner.packs import read_pack

    leaks = find_leaks(read_pack(args.pack), args.paths)

    def told() -> Iterable[str]:
        of_answers = f", with {leaks.answers} answers of the model under test" if leaks.answers else ""
        yield f"{leaks.files} files searched{of_answers}."
        if not leaks.canaries:
            yield "This is no release, so it has no canary."
        elif leaks.canary_in:
            yield f"The canary stands in {', '.join(leaks.canary_in)}."
        else:
            yield "The canary was not found."
        yield _text_of([leaks_table(leaks)]) if leaks.found else f"No passage was found. {leaks.cannot_know}"

    return _answer(args, lambda: leaks_json(leaks), told, FOUND if leaks.found or leaks.canary_in else OK)


def _html(args: argparse.Namespace) -> int:
    from evaluation.runner.html import results_page
    from evaluation.runner.results import read_results

    _write(args.out, results_page(read_results(args.results)).encode("utf-8", "replace"))
    _tell(str(args.out))
    return OK


def _site(args: argparse.Namespace) -> int:
    from evaluation.runner.results import read_results
    from evaluation.runner.site import site_files, site_of

    files = site_files(site_of(args.pack, [read_results(folder) for folder in args.results]))
    for name, content in files.items():
        _write(args.out / name, content)
    _tell(str(args.out / "index.html"))
    return OK


def _publish(args: argparse.Namespace) -> int:
    from evaluation.runner.publish import publication, told

    found = publication(args.pack, args.huggingface, args.github)
    return _answer(args, found.to_json, lambda: told(found))


def _export(args: argparse.Namespace) -> int:
    from evaluation.runner.eee import Source, eee_files, evaluated
    from evaluation.runner.results import read_results

    source = Source(args.organization, args.relationship)
    for path, content in eee_files(evaluated(read_results(args.results), source)):
        with content:
            _write(args.out / path, content)
        _tell(str(args.out / path))
    return OK


def _bundle(args: argparse.Namespace) -> int:
    _write(args.out, _bundled(args.results))
    _tell(str(args.out))
    return OK


def _upload(args: argparse.Namespace) -> int:
    from evaluation.runner.bundle import upload

    token = args.token or os.environ.get("PIBENCH_TOKEN", "")
    if not token:
        raise PibenchError("There is no token.", "Make one in the studio’s settings; give it as --token.")
    try:
        bundle = args.results.read_bytes() if args.results.is_file() else _bundled(args.results)
    except OSError as error:
        raise PibenchError(f"{args.results} cannot be read: {error.strerror}.") from None
    answer = upload(bundle, args.studio, token)
    new = f"Submitted as pilot {answer['number']} of {answer['benchmark']}, not verified: {answer['page']}"
    known = f"These results are there already, as pilot {answer['number']}: {answer['page']}"
    return _answer(args, lambda: answer, lambda: [new if answer["is_new"] else known])


def _bundled(folder: Path) -> bytes:
    from evaluation.runner.bundle import bundle_of
    from evaluation.runner.results import read_results

    results = read_results(folder)
    if left := sum(session.state not in ("finished", "failed") for session in results.sessions):
        _say(f"warning: {left} of {len(results.sessions)} sessions are not finished; they count in no score.")
    return bundle_of(results)


def _write(path: Path, content: bytes | IO[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(io.BytesIO(content) if isinstance(content, bytes) else content, file)
    except OSError as error:
        raise PibenchError(f"{path} cannot be written: {error.strerror}.") from None


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from studio import __version__

        print(f"pibench {__version__}")
        parser.exit()


def _numbers(option: str, words: Sequence[str]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for word in words:
        kind, _, number = word.partition("=")
        try:
            numbers[kind] = float(number)
        except ValueError:
            raise PibenchError(f"{option} {word}: write KIND=NUMBER, such as tokens=200000.") from None
    return numbers


def _texts(words: Sequence[str]) -> dict[str, str]:
    texts = {name: text for name, _, text in (word.partition("=") for word in words)}
    try:
        return {name: Path(text[1:]).read_text() if text.startswith("@") else text for name, text in texts.items()}
    except (OSError, UnicodeDecodeError) as error:
        raise PibenchError(f"A file of --param cannot be read: {error}.") from None


def _answer(
    args: argparse.Namespace, document: Callable[[], Any], told: Callable[[], Iterable[str]], status: int = OK
) -> int:
    """For programs, or for people."""
    if args.json:
        _print_json(document())
    else:
        for text in told():
            _tell(text.removesuffix("\n"))
    return status


def _print_json(document: Any) -> None:
    print(json.dumps(document, ensure_ascii=False, indent=1, default=str))


def _text_of(tables: Sequence[Table], form: str = "text") -> str:
    from evaluation.runner.tables import FORMATS

    return "\n".join(FORMATS[form](table) for table in tables)


def _tell(text: str) -> None:
    """On standard output. What packs and models wrote cannot move a terminal's cursor."""
    print("\n".join(map(plain, text.split("\n"))))


def _say(text: str) -> None:
    """Likewise, on standard error."""
    print("\n".join(map(plain, text.split("\n"))), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

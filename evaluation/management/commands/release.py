"""`manage.py release`: cut a release, list what blocks it, or make an earlier one again."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import HeldOutPack, Release
from evaluation.models.releases import SignedArchive
from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from evaluation.releases.packing import Rebuilt, rebuild, write_files
from evaluation.releases.readiness import Blocker
from studio.management.base import EXIT_PROBLEMS, ReportCommand, add_options, read_options
from studio.models import Benchmark


class Command(ReportCommand):
    help = (
        "Cut a release of a benchmark: frozen, packed, and read back before it is stored. "
        "Exit status 0: done; 1: blocked; 2: usage error."
    )

    empty = {
        "release": None,
        "version": "",
        "sha256": None,
        "file": None,
        "tasks": 0,
        "splits": {},
        "blocked_by": [],
        "exceptions": [],
    }

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # the release's --version replaces the one that every Django command has
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_options(parser, ReleaseOptions)
        parser.add_argument("--by", default="", metavar="USERNAME", help="who is responsible; default: a superuser")
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help="make the pack of this release again from the revisions it froze, and compare it with what was "
            "released: exit status 1 if a file differs",
        )
        parser.add_argument("--out", type=Path, metavar="DIR", help="write the pack here")

    def handle(self, *args: Any, **options: Any) -> None:
        out: Path | None = options["out"]
        wanted = read_options(ReleaseOptions, options)
        self.empty = self.empty | {"version": wanted.version}
        benchmark = self.find_benchmark(options)
        by = self.find_user(options["by"])
        if out is not None:
            try:
                out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self.stop(f"{out}: {error.strerror}.", "Choose another folder.")
        if options["rebuild"]:
            self._rebuild(benchmark, wanted.version)
            return
        signature = "" if by else f"{getpass.getuser()}, on the command line"
        try:
            release = cut_release(benchmark, wanted, by=by, signature=signature)
        except ReleaseBlockedError as blocked:
            if self.as_json:
                self.print_json({**self.empty, "blocked_by": [blocker.to_json() for blocker in blocked.blockers]})
            else:
                self._print_blockers(blocked.blockers)
            sys.exit(EXIT_PROBLEMS)
        held_out = release.held_out_pack
        try:
            file = _write(release, out) if out else None
            if held_out and out:
                _write(held_out, out)
        except OSError as error:
            self.stderr.write(f"{release} was created, but {out} cannot be written: {error.strerror}.")
            self.stderr.write("Free some space, then download it from its page.")
            file = None
        if self.as_json:
            self.print_json(
                self.empty
                | {
                    "release": release.pk,
                    "sha256": release.sha256,
                    "file": str(file) if file else None,
                    "tasks": len(release.manifest["tasks"]),
                    "splits": release.manifest["splits"],
                    "exceptions": release.exceptions,
                }
            )
        else:
            self._print_release(release, held_out, file)

    def _rebuild(self, benchmark: Benchmark, version: str) -> None:
        release = benchmark.releases.filter(version=version).first()
        if release is None:
            self.stop(f"There is no release {version} of {benchmark}.", "Its page lists them.")
        packs = [pack for pack in (release, release.held_out_pack) if pack]
        made = [(pack, rebuild(pack)) for pack in packs]
        if self.as_json:
            rows = [
                {
                    "released": pack.sha256,
                    "rebuilt": again.sha256,
                    "same": again.sha256 == pack.sha256,
                    "changed": again.changed,
                }
                for pack, again in made
            ]
            facts = {"release": release.pk, "version": version, **rows[0]}
            self.print_json(facts | ({"held_out": rows[1]} if len(rows) > 1 else {}))
        else:
            for pack, again in made:
                self._print_rebuilt(pack, again)
        if any(again.sha256 != pack.sha256 for pack, again in made):
            sys.exit(EXIT_PROBLEMS)

    def _print_rebuilt(self, pack: SignedArchive, again: Rebuilt) -> None:
        if again.sha256 == pack.sha256:
            self.stdout.write(f"{pack} is made again byte for byte: sha256 {again.sha256}")
            return
        self.stdout.write(f"{pack} is not made again: released sha256 {pack.sha256}, now {again.sha256}.")
        for path in again.changed:
            self.stdout.write(f"  {path}")

    def _print_blockers(self, blockers: tuple[Blocker, ...]) -> None:
        self.stdout.write(f"Not released. {len(blockers)} blockers:")
        for blocker in blockers:
            location = " ".join(filter(None, (blocker.persona, blocker.task)))
            self.stdout.write(f"  {blocker.code}: {f'{location}: ' if location else ''}{blocker.message}")
        if all(blocker.acceptable for blocker in blockers):
            self.stdout.write('Fix them, or accept them as exceptions with --accept "REASON".')

    def _print_release(self, release: Release, held_out: HeldOutPack | None, file: Path | None) -> None:
        self.stdout.write(f"Released {release}: {len(release.manifest['tasks'])} tasks, sha256 {release.sha256}")
        if held_out:
            number = len(held_out.manifest["tasks"])
            self.stdout.write(f"Held out: {number} tasks in {held_out.file_name}, sha256 {held_out.sha256}")
        if release.key:
            self.stdout.write(f"Signed by {release.key.fingerprint}: publish this outside of the pack.")
        for exception in release.exceptions:
            self.stdout.write(f"  exception accepted by {exception['by']}: {exception['problem']['message']}")
        if file:
            self.stdout.write(f"The pack is {file}")
            if held_out:
                self.stdout.write(f"Beside it is {held_out.file_name}: do not publish it.")


def _write(pack: SignedArchive, out: Path) -> Path:
    file = out.resolve() / pack.file_name
    part = file.with_suffix(".part")
    with part.open("wb") as into:
        write_files(pack, into)
    part.replace(file)
    return file

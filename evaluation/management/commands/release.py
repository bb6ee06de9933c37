"""`manage.py release`: cut a release, or list what blocks it."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from evaluation.models import Release
from evaluation.releases.cut import ReleaseBlockedError, ReleaseError, cut_release
from evaluation.releases.readiness import Blocker
from studio.management.base import EXIT_PROBLEMS, ReportCommand, default_user
from studio.models import User


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
        "blocked_by": [],
        "exceptions": [],
    }

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # the release's --version replaces the one that every Django command has
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--version", required=True, dest="name", metavar="V", help="the release's name, e.g. 1.0")
        parser.add_argument(
            "--accept", default="", metavar="REASON", help=("release despite the blockers, with this reason")
        )
        parser.add_argument(
            "--by", default="", metavar="USERNAME", help=("the person responsible (default: a superuser)")
        )
        parser.add_argument("--out", type=Path, metavar="DIR", help="write the pack here")

    def handle(self, *args: Any, **options: Any) -> None:
        as_json: bool = options["json"]
        out: Path | None = options["out"]
        empty = _document(options["name"])
        benchmark = self.find_benchmark(options["benchmark"], as_json=as_json, document=empty)
        by = self._person(options["by"], as_json=as_json, document=empty)
        if out is not None:
            try:
                out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                fix = "Choose another folder."
                self.usage_error(f"{out}: {error.strerror}.", fix, as_json=as_json, document=empty)
        signature = "" if by else f"{getpass.getuser()}, on the command line"
        try:
            release = cut_release(benchmark, options["name"], by=by, accept=options["accept"], signature=signature)
        except ReleaseError as error:
            self.usage_error(str(error), "", as_json=as_json, document=empty)
        except ReleaseBlockedError as blocked:
            if as_json:
                self.print_json({**empty, "blocked_by": [blocker.to_json() for blocker in blocked.blockers]})
            else:
                self._print_blockers(blocked.blockers)
            sys.exit(EXIT_PROBLEMS)
        try:
            file = _write(release, out) if out else None
        except OSError as error:
            self.stderr.write(f"{release} was created, but {out} cannot be written: {error.strerror}.")
            self.stderr.write("Free some space, then download it from its page.")
            file = None
        if as_json:
            self.print_json(_document(release.version, release, file))
        else:
            self._print_release(release, file)

    def _person(self, username: str, *, as_json: bool, document: dict[str, Any]) -> User | None:
        if not username:
            return default_user()
        person = User.objects.filter(username=username).first()
        if person is None:
            fix = "Give a studio account."
            self.usage_error(f"There is no user “{username}”.", fix, as_json=as_json, document=document)
        return person

    def _print_blockers(self, blockers: tuple[Blocker, ...]) -> None:
        self.stdout.write(f"Not released. {len(blockers)} blockers:")
        for blocker in blockers:
            location = " ".join(filter(None, (blocker.persona, blocker.task)))
            self.stdout.write(f"  {blocker.code}: {f'{location}: ' if location else ''}{blocker.message}")
        if all(blocker.acceptable for blocker in blockers):
            self.stdout.write('Fix them, or accept them as exceptions with --accept "REASON".')

    def _print_release(self, release: Release, file: Path | None) -> None:
        self.stdout.write(f"Released {release}: {len(release.manifest['tasks'])} tasks, sha256 {release.sha256}")
        for exception in release.exceptions:
            self.stdout.write(f"  exception accepted by {exception['by']}: {exception['problem']['message']}")
        if file:
            self.stdout.write(f"The pack is {file}")


def _document(version: str, release: Release | None = None, file: Path | None = None) -> dict[str, Any]:
    return {
        "release": release.pk if release else None,
        "version": version,
        "sha256": release.sha256 if release else None,
        "file": str(file) if file else None,
        "tasks": len(release.manifest["tasks"]) if release else 0,
        "blocked_by": [],
        "exceptions": release.exceptions if release else [],
    }


def _write(release: Release, out: Path) -> Path:
    file = out.resolve() / f"{release.benchmark.slug}-{release.version}.zip"
    file.write_bytes(bytes(release.blob.content))
    return file

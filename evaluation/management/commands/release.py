"""Cut a release, or say what stands in its way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evaluation.models import Release
from evaluation.releases import ReleaseBlocked, ReleaseRefused, cut_release
from studio.models import Benchmark, User


class Command(BaseCommand):
    help = "Cut a release of a benchmark. Exit status 0: done; 1: something blocks it; 2: called wrongly."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--version", required=True, dest="release_version", metavar="V", help="its name, e.g. 1.0")
        parser.add_argument("--accept", default="", metavar="REASON", help="release in spite of what blocks it, and why")
        parser.add_argument("--by", default="", metavar="USER", help="who cuts it and answers for accepted exceptions")
        parser.add_argument("--out", type=Path, metavar="DIR", help="write the pack here")
        parser.add_argument("--json", action="store_true", help="one JSON document on standard output")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's own --version would shadow the release's.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = Benchmark.objects.filter(slug=options["benchmark"]).first()
        if benchmark is None:
            raise CommandError(f"There is no benchmark “{options['benchmark']}”.", returncode=2)
        by = _person(options["by"])
        out: Path | None = options["out"]
        if out is not None and out.exists() and not out.is_dir():
            raise CommandError(f"{out} is a file; --out names a folder.", returncode=2)
        try:
            release = cut_release(benchmark, options["release_version"], by=by, accept=options["accept"])
        except ReleaseRefused as error:
            raise CommandError(str(error), returncode=2) from error
        except ReleaseBlocked as error:
            self._tell_blocked(error, options)
            raise SystemExit(1) from error
        self._tell(release, _write(release, out), as_json=options["json"])

    def _tell_blocked(self, error: ReleaseBlocked, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(
                json.dumps(
                    {
                        "release": None,
                        "version": options["release_version"],
                        "sha256": None,
                        "file": None,
                        "tasks": 0,
                        "blocked_by": [blocker.to_json() for blocker in error.blockers],
                    },
                    ensure_ascii=False,
                )
            )
            return
        self.stderr.write(str(error))
        for blocker in error.blockers:
            self.stderr.write(f"  {blocker.code}: {' '.join(filter(None, (blocker.persona, blocker.message)))}")
        if all(blocker.acceptable for blocker in error.blockers):
            self.stderr.write('Mend them, or take them upon you with --accept "REASON".')

    def _tell(self, release: Release, file: Path | None, *, as_json: bool) -> None:
        tasks = len(release.manifest["tasks"])
        if as_json:
            self.stdout.write(
                json.dumps(
                    {
                        "release": release.pk,
                        "version": release.version,
                        "sha256": release.sha256,
                        "file": str(file) if file else None,
                        "tasks": tasks,
                        "blocked_by": [],
                        "exceptions": release.exceptions,
                    },
                    ensure_ascii=False,
                )
            )
            return
        self.stdout.write(f"Released {release}: {tasks} tasks, sha256 {release.sha256}")
        for exception in release.exceptions:
            self.stdout.write(f"  accepted: {exception['problem']['message']}")
        if file:
            self.stdout.write(f"The pack is {file}")


def _person(name: str) -> User | None:
    if not name:
        return User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    person = User.objects.filter(username=name).first()
    if person is None:
        raise CommandError(f"There is no user “{name}”.", returncode=2)
    return person


def _write(release: Release, out: Path | None) -> Path | None:
    if out is None:
        return None
    out.mkdir(parents=True, exist_ok=True)
    file = out.resolve() / f"{release.benchmark.slug}-{release.version}.zip"
    file.write_bytes(bytes(release.blob.content))
    return file

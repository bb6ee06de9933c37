"""`manage.py pibench_import`: π-Bench personas from a folder or a zip."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandParser
from django.db import transaction
from django.urls import reverse

from studio.domain.phrases import count_of
from studio.imports.importer import ImportReport, import_path
from studio.imports.taxonomy import ensure_taxonomy
from studio.management.base import EXIT_PROBLEMS, ReportCommand
from studio.models import Benchmark, Membership, Role, User


class Command(ReportCommand):
    help = (
        "Import personas in the format of π-Bench v2: one persona's folder, a data/ folder of several, or a zip of "
        "either. All or nothing; importing the same again changes nothing. Exit status 0: done; 1: the files have "
        "errors and nothing was stored; 2: usage error."
    )

    empty = ImportReport().to_json()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", metavar="PATH", type=Path, help="a folder or a zip")
        super().add_arguments(parser)
        parser.add_argument(
            "--published",
            action="store_true",
            help="ask another owner to confirm that the tasks were approved elsewhere; --by has to be an owner",
        )
        parser.add_argument(
            "--defer-checks",
            action="store_true",
            help="store the tasks at once and let a worker check them; until then each has an error that says so",
        )
        parser.add_argument("--dry-run", action="store_true", help="report what would happen; store nothing")
        parser.add_argument(
            "--by",
            default="",
            metavar="USERNAME",
            help="who imports (default: the first superuser, or else the first owner of a benchmark)",
        )

        parser.add_argument(
            "--owner",
            default="",
            metavar="USERNAME",
            help="who owns a new benchmark, or one without members (default: whoever imports)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        by = self.find_user(options["by"])
        owner = self.find_user(options["owner"]) if options["owner"] else by
        path: Path = options["path"]
        if not path.exists():
            self.stop(f"{path} does not exist.", "Give a folder or a zip.")
        slug = options["benchmark"]
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", slug):
            self.stop(f"“{slug}” is not a valid benchmark short name.", "Use letters, digits, - and _, at most 80.")
        with transaction.atomic():
            benchmark, created = self._benchmark(slug, by, owner)
            if not benchmark.memberships.exists():
                self.stop(
                    f"Nobody would see the benchmark “{slug}”: there is no account yet to own it.",
                    "Make one with manage.py createsuperuser, or name one with --owner.",
                )
            try:
                report = import_path(
                    benchmark,
                    path,
                    by=by,
                    published=options["published"],
                    dry_run=options["dry_run"],
                    defer_above=0 if options["defer_checks"] else None,
                )
            except PermissionDenied as error:
                self.stop(str(error), "Give an owner as --by.")
            if report.errors or options["dry_run"]:
                transaction.set_rollback(True)
        if self.as_json:
            self.print_json(report.to_json())
        else:
            self._print_report(report, slug, created=created, owner=owner, dry_run=options["dry_run"])
        if report.errors:
            sys.exit(EXIT_PROBLEMS)

    def _benchmark(self, slug: str, by: User | None, owner: User | None) -> tuple[Benchmark, bool]:
        benchmark, created = Benchmark.objects.get_or_create(
            slug=slug,
            defaults={"name": slug, "created_by": by or owner, "taxonomy": ensure_taxonomy()},
        )
        if owner is not None and not benchmark.memberships.exists():
            Membership.objects.create(benchmark=benchmark, user=owner, role=Role.OWNER)
        return benchmark, created

    def _print_report(
        self, report: ImportReport, slug: str, *, created: bool, owner: User | None, dry_run: bool
    ) -> None:
        write = self.stdout.write
        for warning in report.warnings:
            write(f"warning  {warning}")
        for problem in report.errors:
            write(self.style.ERROR(f"error    {problem}"))
        if report.errors:
            write(f"{len(report.errors)} error(s); nothing was stored.")
            return
        if created:
            owned = f", owned by {owner.username}" if owner else ""
            write(f"The benchmark “{slug}” {'would be' if dry_run else 'was'} created{owned}.")
        for entry in report.updated:
            write(f"updated  {entry['task'] or entry['persona']}: {', '.join(entry['changed'])}")
        write(
            ", ".join(
                count_of(count, name.replace("_", " ").removesuffix("s")) for name, count in report.totals.items()
            )
        )
        write(
            f"{len(report.created)} created, {len(report.updated)} updated, {len(report.unchanged)} unchanged"
            + ("; nothing was stored (dry run)." if dry_run else ".")
        )
        if report.unchecked:
            write(f"{count_of(report.unchecked, 'task')} wait for a worker to check them.")
        if report.publication:
            write(
                f"{len(report.publishable)} of them wait until another owner confirms that they were approved "
                f"elsewhere: {settings.PUBLIC_ADDRESS}{reverse('studio:import', args=[slug, report.publication])}"
            )

"""`manage.py pibench_export`: a benchmark as folders of π-Bench v2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from studio.domain.text_origins import ORIGINS_FILE
from studio.imports.export import origins_of, persona_folders
from studio.imports.folders import FolderNotEmptyError, require_free, write_folder
from studio.management.base import ReportCommand


class Command(ReportCommand):
    help = (
        "Write a benchmark's drafts in the format of π-Bench v2 to DIR/data/<persona>/. "
        "Exit status 0: done; 2: usage error."
    )

    empty = {"benchmark": "", "out": "", "personas": [], "files": 0}

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="created if missing")

    def handle(self, *args: Any, **options: Any) -> None:
        out: Path = options["out"]
        self.empty = self.empty | {"benchmark": options["benchmark"], "out": str(out)}
        benchmark = self.find_benchmark(options)
        written = 0
        names = sorted(benchmark.personas.values_list("user_id", flat=True))
        try:
            require_free([*(f"data/{name}" for name in names), ORIGINS_FILE], out)
            for _, files in persona_folders(benchmark):
                write_folder(files, out)
                written += len(files)
            origins = origins_of(benchmark.personas.order_by("position", "user_id"))
            write_folder(origins, out)
            written += len(origins)
        except FolderNotEmptyError as problem:
            fix = "Choose another folder or remove this one, so that old and new files do not mix."
            self.stop(f"{problem}.", fix)
        except OSError as problem:
            self.stop(f"{out} cannot be written: {problem.strerror}.", "Choose another folder.")
        if self.as_json:
            self.print_json({**self.empty, "personas": names, "files": written})
        else:
            self.stdout.write(f"{len(names)} persona(s), {written} files, in {out / 'data'}")

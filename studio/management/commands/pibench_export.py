"""`manage.py pibench_export`: a benchmark as folders of π-Bench v2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from studio.imports.export import persona_folders
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
        as_json = options["json"]
        out: Path = options["out"]
        empty: dict[str, Any] = {"benchmark": options["benchmark"], "out": str(out), "personas": [], "files": 0}
        benchmark = self.find_benchmark(options["benchmark"], as_json=as_json, document=empty)
        written = 0
        names = sorted(benchmark.personas.values_list("user_id", flat=True))
        try:
            require_free([f"data/{name}" for name in names], out)
            for _, files in persona_folders(benchmark):
                write_folder(files, out)
                written += len(files)
        except FolderNotEmptyError as problem:
            fix = "Choose another folder or remove this one, so that old and new files do not mix."
            self.usage_error(f"{problem}.", fix, as_json=as_json, document=empty)
        except OSError as problem:
            self.usage_error(
                f"{out} cannot be written: {problem.strerror}.",
                "Choose another folder.",
                as_json=as_json,
                document=empty,
            )
        if as_json:
            self.print_json({**empty, "personas": names, "files": written})
        else:
            self.stdout.write(f"{len(names)} persona(s), {written} files, in {out / 'data'}")

"""`manage.py pibench_export`: a benchmark as folders of π-Bench v2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from studio.imports.export import benchmark_files
from studio.imports.folders import FolderNotEmptyError, write_folder
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
        files = benchmark_files(benchmark)
        try:
            write_folder(files, out)
        except FolderNotEmptyError as problem:
            mend = "Choose another folder or remove this one, so that old and new files do not mix."
            self.usage_error(f"{problem}.", mend, as_json=as_json, document=empty)
        except OSError as problem:
            self.usage_error(
                f"{out} cannot be written: {problem.strerror}.",
                "Choose another folder.",
                as_json=as_json,
                document=empty,
            )
        personas = sorted({path.split("/")[1] for path in files})
        if as_json:
            self.print_json({**empty, "personas": personas, "files": len(files)})
        else:
            self.stdout.write(f"{len(personas)} persona(s), {len(files)} files, in {out / 'data'}")

"""A release, and results of it that a stub model gave."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from evaluation.models import Release
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.runner.command import main
from studio.domain.task import ExactCheck, TaskSpec
from studio.models import Role, User
from studio.models import Task as TaskRow
from tests.evaluation.builders import archive_of, benchmark_of, file, intents, rubric, rule, task
from tests.evaluation.runner.test_same_as_pilots import answer_by_content
from tests.evaluation.stub_model import StubModel
from tests.factories import mark_approved, member


def tasks() -> list[TaskSpec]:
    return [
        task("a", assets=(file("notes.md", "The fee is due."),), files_read=("out.md",)),
        task(
            "b",
            "a",
            intents=intents("Name the fee.", "Sign it.", "Say when.", provided=(2,)),
            files_read=("out.md",),
            checklist=(
                rubric("x", 2),
                rubric("y", 3),
                rule("z", ExactCheck(kind="file_contains", path="out.md", text="30 crowns")),
            ),
        ),
        task("c", checklist=(rubric("p"), rubric("q", 7), rubric("r"))),
        task("e", "a", checklist=(rubric("t"), rubric("u", 2))),
    ]


class Played:
    """A release, and results of it that the stub gave."""

    def __init__(self, stub: StubModel, folder: Path, protocol: str = "paper", runs: int = 2) -> None:
        answer_by_content(stub)
        self.benchmark = benchmark_of(*tasks())
        mark_approved(TaskRow.objects.filter(persona__benchmark=self.benchmark))
        self.person = member(self.benchmark, Role.RELEASE_MANAGER)
        User.objects.filter(pk=self.person.pk).update(display_name="rita")
        self.person.refresh_from_db()
        self.release = self.cut("1.0")
        self.folder, self.stub = folder, stub
        (folder / "pack.zip").write_bytes(archive_of(self.release))
        options = ("--base-url", stub.base_url, "--key-env", "STUB_API_KEY", "--protocol", protocol)
        models = [word for seat in ("model", "user", "judge") for word in (f"--{seat}", "openai:stub-model")]
        self.results = folder / "results"
        words = ["run", str(folder / "pack.zip"), *models, *options, "--runs", str(runs), "--out", str(self.results)]
        assert main(words) == 0

    def cut(self, version: str) -> Release:
        return cut_release(self.benchmark, ReleaseOptions(version=version, accept="For a test."), by=self.person)

    @cached_property
    def bundle(self) -> bytes:
        path = self.folder / "bundle.zip"
        assert main(["bundle", str(self.results), "--out", str(path)]) == 0
        return path.read_bytes()

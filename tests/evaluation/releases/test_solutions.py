"""Reference solutions in packs: of the tasks of each, made again from what the release pins, and left out if asked."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest

from evaluation.models import HeldOutPack, Release
from evaluation.models.releases import SignedArchive
from evaluation.probes.solutions import write_solution
from evaluation.protocol.given import GivenCall, GivenTurn
from evaluation.releases.cut import ReleaseOptions, cut_release
from evaluation.releases.packing import rebuild
from studio.domain.episode import Split
from studio.domain.options import OptionsError
from studio.drafts.load import load_task
from studio.episodes.moves import Move, make_move
from studio.models import Benchmark, Blob, Role, Task
from studio.tasks.save import save_task
from tests.evaluation.builders import archive_of, benchmark_of, rubric, task
from tests.factories import member

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
NOTE = b"The fee is 12 crowns.\n"


@pytest.fixture
def benchmark() -> Benchmark:
    benchmark = benchmark_of(
        task("a", checklist=(rubric("It names the fee."),)),
        task("b", checklist=(rubric("It names the quay."),)),
        task("h", checklist=(rubric("It names the ferry."),)),
    )
    owner = member(benchmark, Role.OWNER)
    make_move(benchmark.personas.get().pk, Move("split", ("h",), split=Split.HELD_OUT.value), by=owner)
    [note] = Blob.objects.store([NOTE])
    calls = (GivenCall("web_fetch", {"url": "https://port.example"}),)
    write_solution(Task.objects.get(task_id="a"), GivenTurn("Twelve.", calls, {"out/note.md": note}), by=None)
    write_solution(Task.objects.get(task_id="h"), GivenTurn("On Sundays."), by=None)
    return benchmark


def cut(benchmark: Benchmark, version: str = "1.0", **options: bool) -> Release:
    return cut_release(
        benchmark, ReleaseOptions(version=version, accept="A test.", told=9, **options), by=None, signature="Ada"
    )


def files_of(pack: SignedArchive) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive_of(pack))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_pack_has_the_solutions_of_its_tasks_and_the_held_out_pack_those_of_its_own(benchmark: Benchmark):
    release = cut(benchmark)
    files, held = files_of(release), files_of(HeldOutPack.objects.get(release=release))
    [persona] = {row["persona"] for row in release.manifest["tasks"]}
    place = f"solutions/{persona}/a"

    assert [name for name in files if name.startswith("solutions/")] == [
        f"{place}/files/out/note.md",
        f"{place}/solution.json",
    ]
    assert files[f"{place}/files/out/note.md"] == NOTE
    document = json.loads(files[f"{place}/solution.json"])
    assert (document["reply"], [call["name"] for call in document["calls"]]) == ("Twelve.", ["web_fetch"])
    assert document["canary"] == benchmark.canary_of(Split.PUBLIC)
    assert {row["task"]: row.get("solution") for row in json.loads(files["pack.json"])["tasks"]} == {
        "a": f"{place}/solution.json",
        "b": None,
    }
    assert "1 reference solution, meant to earn every item" in files["README.md"].decode()
    assert "has the reference solutions of 1 task," in " ".join(files["DATA_CARD.md"].decode().split())

    [own] = [name for name in held if name.startswith("solutions/")]
    assert own == f"solutions/{persona}/h/solution.json"
    assert json.loads(held[own])["canary"] == benchmark.canary_of(Split.HELD_OUT)
    assert not [name for name, content in files.items() if b"On Sundays." in content]


def test_pack_is_made_again_with_the_solutions_that_were_released(benchmark: Benchmark):
    release = cut(benchmark)
    write_solution(Task.objects.get(task_id="a"), GivenTurn("Another way."), by=None)
    write_solution(Task.objects.get(task_id="b"), GivenTurn("A first one."), by=None)

    assert rebuild(release).sha256 == release.sha256
    assert b"Another way." in b"".join(files_of(cut(benchmark, "1.1")).values())


def test_pack_is_made_again_after_a_task_with_a_solution_was_renamed(benchmark: Benchmark):
    release = cut(benchmark)
    row = Task.objects.get(task_id="a")
    save_task(row.pk, load_task(row).model_copy(update={"task_id": "renamed"}), by=None)

    assert rebuild(release).sha256 == release.sha256


@pytest.mark.parametrize("names", [["A.md", "a.md"], ["a\\b.md"], ["/".join("abcdefghijklmnopqrst")]])
def test_solution_whose_files_no_pack_could_have_is_refused(benchmark: Benchmark, names: list[str]):
    [note] = Blob.objects.store([NOTE])
    row = Task.objects.select_related("persona").get(task_id="b")

    with pytest.raises(OptionsError, match=f"^solutions/.*/b/files/{re.escape(names[-1])}: The"):
        write_solution(row, GivenTurn("Here.", files=dict.fromkeys(names, note)), by=None)


def test_who_releases_can_leave_solutions_out_and_the_pack_says_so(benchmark: Benchmark):
    release = cut(benchmark, without_solutions=True)
    files = files_of(release)

    assert not [name for name in files if name.startswith("solutions/")]
    assert "reference solutions are not in it" in files["README.md"].decode()
    assert "Reference solutions are not in this pack." in files["DATA_CARD.md"].decode()
    assert rebuild(release).sha256 == release.sha256

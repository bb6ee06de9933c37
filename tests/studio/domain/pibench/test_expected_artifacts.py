"""Expected artifacts and their references when folders are read and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.domain.archive import Limits, check_names
from studio.domain.pibench import read_personas, write_persona
from studio.domain.task import ExpectedArtifact, TaskSpec
from studio.imports.folders import read_folder
from tests.studio.domain.pibench.folders import PERSONA, documents, files, parsed, task_yaml

ROOT = f"data/{PERSONA}/"
LISTED = [
    "plan.md",
    {"path": "out/Bericht – März.md", "note": "One page.", "reference": True},
    {"path": "log.csv", "note": "One more line: with a colon"},
]


def folder(artifacts: Any = None, **more: bytes) -> dict[str, bytes]:
    listed = LISTED if artifacts is None else artifacts
    scored = {"checklist": [{"criterion": "In metres"}]}
    return files(documents(t2=task_yaml("t2", objectives=scored, studio={"expected_artifacts": listed})) | more)


def sound() -> dict[str, bytes]:
    return folder(**{"references/t2/out/Bericht – März.md": b"# Good\n"})


def task_in(files: dict[str, bytes]) -> TaskSpec:
    [episode] = read_personas(files).episodes
    return next(task for task in episode.tasks if task.task_id == "t2")


def written(files: dict[str, bytes]) -> dict[str, bytes]:
    reading = read_personas(files)
    [episode] = reading.episodes
    return write_persona(episode, reading.contents)


def test_notes_and_references_survive_the_round_trip():
    plain, report, log = task_in(sound()).expected_artifacts

    assert (plain, log) == (
        ExpectedArtifact(path="plan.md"),
        ExpectedArtifact(path="log.csv", note="One more line: with a colon"),
    )
    assert (report.note, report.reference and report.reference.size) == ("One page.", 7)
    assert parsed(written(sound())) == parsed(sound())


def test_reference_is_neither_asset_nor_file_of_the_persona():
    [episode] = read_personas(sound()).episodes

    assert episode.persona.files == ()
    assert [task.assets for task in episode.tasks] == [(), ()]


def test_artifacts_without_notes_are_stored_as_paths():
    old = folder(["plan.md", "log.csv"])

    assert task_in(old).to_json()["expected_artifacts"] == ["plan.md", "log.csv"]
    assert written(old)[f"{ROOT}tasks/t2/task.yaml"] == written(written(old))[f"{ROOT}tasks/t2/task.yaml"]
    assert parsed(written(old)) == parsed(old)


def test_moved_reference_is_written_to_its_new_path():
    reading = read_personas(sound())
    [episode] = reading.episodes
    first, second = episode.tasks
    plain, report, _ = second.expected_artifacts
    moved = (plain.model_copy(update={"reference": report.reference}), report.model_copy(update={"reference": None}))
    changed = episode.model_copy(
        update={"tasks": (first, second.model_copy(update={"expected_artifacts": moved}))},
    )

    again = write_persona(changed, reading.contents)

    assert f"{ROOT}references/t2/plan.md" in again
    assert f"{ROOT}references/t2/out/Bericht – März.md" not in again
    assert task_in(again).expected_artifacts == moved


@pytest.mark.parametrize(
    "path",
    [
        "../t1/task.yaml",
        "../../../etc/passwd",
        "/etc/passwd",
        "C:\\secrets.txt",
        "a\\b",
        "a//b",
        "./a",
        "x" * 300,
        "a\x07b",
    ],
)
def test_reference_with_invalid_path_is_an_error_with_its_line(path):
    [problem] = read_personas(folder([{"path": path, "reference": True}])).errors[:1]

    assert problem.file == f"{ROOT}tasks/t2/task.yaml"
    assert problem.line
    assert "expected_artifacts[1]" in problem.message


def test_missing_reference_is_an_error_with_its_path():
    [problem] = read_personas(folder()).errors

    assert problem.file == f"{ROOT}tasks/t2/task.yaml"
    assert problem.line
    assert "no file “references/t2/out/Bericht – März.md”" in problem.message


def test_unlisted_reference_is_preserved_with_a_warning():
    folder_files = folder(["plan.md"], **{"references/t2/plan.md": b"x", "references/other/y.md": b"y"})

    reading = read_personas(folder_files)

    assert [(warning.file, "does not list" in warning.message) for warning in reading.warnings] == [
        (f"{ROOT}references/t2/plan.md", True)
    ]
    assert parsed(written(folder_files)) == parsed(folder_files)


def test_duplicate_path_counts_once():
    folder_files = folder(["plan.md", {"path": "plan.md", "reference": True}, "plan.md"])

    reading = read_personas(folder_files)

    assert task_in(folder_files).expected_artifacts == (ExpectedArtifact(path="plan.md"),)
    assert reading.errors == [] and len([warning for warning in reading.warnings if "again" in warning.message]) == 2


@pytest.mark.parametrize("entry", [{"note": "what?"}, {"path": "a.md", "reference": "yes"}, {"path": ["a"]}])
def test_invalid_entry_is_an_error(entry):
    assert read_personas(folder([entry])).errors


def test_link_among_the_references_is_rejected(tmp_path: Path):
    for path, content in sound().items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    link = tmp_path / ROOT / "references/t2/out/Bericht – März.md"
    link.unlink()
    link.symlink_to("/etc/passwd")

    unpacked = read_folder(tmp_path / "data", Limits())

    assert unpacked.files == {}
    assert [error.message for error in unpacked.errors] == ["This is a link."]


def test_references_whose_names_collide_are_rejected():
    folder_files = folder(**{"references/t2/A.md": b"1", "references/t2/a.md": b"2"})

    assert check_names(folder_files, Limits())

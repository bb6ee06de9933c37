"""Expected artifacts and their references on the way through folders: beside the tasks, listed, and never trusted."""

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


def task_in(found: dict[str, bytes]) -> TaskSpec:
    [episode] = read_personas(found).episodes
    return next(task for task in episode.tasks if task.task_id == "t2")


def written(found: dict[str, bytes]) -> dict[str, bytes]:
    reading = read_personas(found)
    [episode] = reading.episodes
    return write_persona(episode, reading.contents)


def test_notes_and_references_come_back_document_by_document():
    plain, report, log = task_in(sound()).expected_artifacts

    assert (plain, log) == (
        ExpectedArtifact(path="plan.md"),
        ExpectedArtifact(path="log.csv", note="One more line: with a colon"),
    )
    assert (report.note, report.reference and report.reference.size) == ("One page.", 7)
    assert parsed(written(sound())) == parsed(sound())


def test_a_reference_is_no_file_of_the_task_nor_of_the_persona():
    [episode] = read_personas(sound()).episodes

    assert episode.persona.files == ()
    assert [task.assets for task in episode.tasks] == [(), ()]


def test_a_task_without_them_says_what_it_said_before_to_the_byte():
    old = folder(["plan.md", "log.csv"])

    assert task_in(old).to_json()["expected_artifacts"] == ["plan.md", "log.csv"]
    assert written(old)[f"{ROOT}tasks/t2/task.yaml"] == written(written(old))[f"{ROOT}tasks/t2/task.yaml"]
    assert parsed(written(old)) == parsed(old)


def test_a_reference_taken_away_or_put_elsewhere_is_written_so():
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
def test_a_reference_for_a_path_that_no_file_can_have_is_an_error_at_its_line(path):
    [problem] = read_personas(folder([{"path": path, "reference": True}])).errors[:1]

    assert problem.file == f"{ROOT}tasks/t2/task.yaml"
    assert problem.line
    assert "expected_artifacts[1]" in problem.message


def test_a_listed_reference_that_is_missing_is_an_error_that_names_its_place():
    [problem] = read_personas(folder()).errors

    assert problem.file == f"{ROOT}tasks/t2/task.yaml"
    assert problem.line
    assert "no file “references/t2/out/Bericht – März.md”" in problem.message


def test_a_file_among_the_references_that_no_task_lists_is_kept_and_told():
    found = folder(["plan.md"], **{"references/t2/plan.md": b"x", "references/other/y.md": b"y"})

    reading = read_personas(found)

    assert [(warning.file, "does not list" in warning.message) for warning in reading.warnings] == [
        (f"{ROOT}references/t2/plan.md", True)
    ]
    assert parsed(written(found)) == parsed(found)


def test_a_path_named_twice_counts_once():
    found = folder(["plan.md", {"path": "plan.md", "reference": True}, "plan.md"])

    reading = read_personas(found)

    assert task_in(found).expected_artifacts == (ExpectedArtifact(path="plan.md"),)
    assert reading.errors == [] and len([one for one in reading.warnings if "again" in one.message]) == 2


@pytest.mark.parametrize("entry", [{"note": "what?"}, {"path": "a.md", "reference": "yes"}, {"path": ["a"]}])
def test_an_entry_that_says_nothing_of_use_is_an_error(entry):
    assert read_personas(folder([entry])).errors


def test_a_link_among_the_references_is_refused(tmp_path: Path):
    for path, content in sound().items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    place = tmp_path / ROOT / "references/t2/out/Bericht – März.md"
    place.unlink()
    place.symlink_to("/etc/passwd")

    found = read_folder(tmp_path / "data", Limits())

    assert found.files == {}
    assert [error.message for error in found.errors] == ["This is a link."]


def test_two_references_that_one_folder_cannot_hold_are_refused_before_they_are_read():
    found = folder(**{"references/t2/A.md": b"1", "references/t2/a.md": b"2"})

    assert check_names(found, Limits())

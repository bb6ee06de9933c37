"""`pibench validate`: what a pack's reference solutions earn, and answers that take no work, without a studio."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocol.given import GivenTurn
from evaluation.runner.command import main
from studio.domain.task import ExactCheck, TaskSpec
from tests.evaluation.builders import rubric, rule, task
from tests.evaluation.runner.packs import write
from tests.evaluation.stub_model import StubModel, decisions, serving

SECRET = "Twelve crowns, payable at the quay."
NOTE = b"The fee is 12 crowns.\n"
NOTE_SHA256 = hashlib.sha256(NOTE).hexdigest()


def checked(name: str, *needs: str, text: str = "crowns", more: tuple[Any, ...] = ()) -> TaskSpec:
    says = rule("The reply says it.", ExactCheck(kind="reply_contains", text=text))
    return task(name, *needs, checklist=(says, *more))


def leaves_note() -> Any:
    return rule("The note is there.", ExactCheck(kind="file_contains", path="note.md", text="12 crowns"))


def packed(path: Path, *tasks: TaskSpec, idle: float = 0, **solutions: GivenTurn) -> Path:
    """``idle``: the share that answers without work may earn."""
    limits = {"validation": {"limits": {"probe_idle": idle}}}
    return write(path / "pack.zip", {"clerk": tasks}, {NOTE_SHA256: NOTE}, more=limits, solutions=solutions)


def validated(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = main(["validate", *argv, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_solutions_are_played_again_each_after_what_earlier_ones_left_within_the_limits_of_the_benchmark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    later = checked("b", "a", text="dues", more=(leaves_note(),))
    solutions = {"a": GivenTurn(SECRET, files={"note.md": NOTE_SHA256}), "b": GivenTurn("These are the dues.")}
    assert validated(capsys, str(packed(tmp_path, task("a"), later, **solutions)))[0] == 1
    pack = packed(tmp_path, task("a"), later, idle=0.5, **solutions)

    code, told = validated(capsys, str(pack))

    assert code == 0
    assert [(row["task"], row["solution"], row["valid"]) for row in told["tasks"]] == [("b", True, True)]


@pytest.mark.slow
def test_each_item_that_a_solution_does_not_earn_is_named_and_each_that_takes_no_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    easy = rule("It is done.", ExactCheck(kind="reply_contains", text="done"))
    pack = packed(
        tmp_path,
        checked("a", more=(leaves_note(),)),
        checked("b", more=(easy,)),
        checked("c", text="ferry"),
        a=GivenTurn(SECRET),
        b=GivenTurn("Done, for twelve crowns."),
    )

    assert main(["validate", str(pack)]) == 1
    said = capsys.readouterr().out
    assert "clerk · a: The reference solution earns 50%. Not earned:\n  2. The note is there." in said
    assert "clerk · b: An agent that only says “Done.” earns 50%. Without work, it earns:\n  2. It is done." in said
    assert "3 scored tasks, 2 with a reference solution, without a model." in said
    assert "Earning every item: 1 of 2 reference solutions." in said
    code, told = validated(capsys, str(pack), "--task", "c")
    assert (code, [(row["task"], row["solution"], row["valid"]) for row in told["tasks"]]) == (0, [("c", False, None)])


@pytest.mark.slow
def test_items_for_a_judge_stay_undecided_until_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    pack = packed(tmp_path, checked("a", more=(rubric("It is kind."),)), a=GivenTurn(SECRET))

    assert main(["validate", str(pack)]) == 0
    assert "are for a judge: name one with --judge MODEL." in capsys.readouterr().out
    _, told = validated(capsys, str(pack))
    assert told["tasks"][0]["valid"] is None
    with serving(StubModel()) as stub:
        stub.checklist = lambda body: decisions(body, lambda _: SECRET in json.dumps(body))
        monkeypatch.setenv("STUB_API_KEY", "sk-own")
        code, told = validated(
            capsys, str(pack), "--judge", "openai:m", "--base-url", stub.base_url, "--key-env", "STUB_API_KEY"
        )
        assert (code, told["tasks"][0]["valid"]) == (0, True)
        stub.checklist = lambda body: "I would rather not say."
        said = ("--judge", "openai:m", "--base-url", stub.base_url, "--key-env", "STUB_API_KEY")
        assert main(["validate", str(pack), *said]) in (0, 2)
    shown = capsys.readouterr()
    assert "name one with --judge" not in shown.out + shown.err


@pytest.mark.slow
def test_no_agent_and_no_user_is_given_a_solution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pack = packed(tmp_path, checked("a"), a=GivenTurn(SECRET, files={"note.md": NOTE_SHA256}))
    with serving(StubModel()) as stub:
        monkeypatch.setenv("STUB_API_KEY", "sk-own")
        model = f"openai:m@{stub.base_url}"
        seats = ("--model", model, "--user", model, "--judge", model, "--key-env", "STUB_API_KEY")
        assert main(["run", str(pack), *seats, "--out", str(tmp_path / "out")]) == 0
        asked = json.dumps(stub.bodies)
    assert "the note a" in asked
    kept = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    for text in (SECRET, NOTE.decode().strip(), "solutions/"):
        assert text not in asked
        assert not [file for file in kept if text.encode() in file.read_bytes()]


def test_pack_says_which_tasks_have_a_solution_and_refuses_one_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    pack = packed(tmp_path, checked("a"), a=GivenTurn(SECRET))
    assert main(["verify", str(pack)]) == 0
    assert "It has 1 reference solution; `pibench validate`" in capsys.readouterr().out
    with zipfile.ZipFile(pack) as archive:
        archive.extractall(tmp_path / "folder")
    document = tmp_path / "folder" / "solutions" / "clerk" / "a" / "solution.json"
    document.write_text("[]")
    (tmp_path / "folder" / "pack.json").unlink()

    assert main(["validate", str(tmp_path / "folder")]) == 2

    said = capsys.readouterr().err
    assert "solutions/clerk/a/solution.json is not as solutions are: it: " in said
    assert "Traceback" not in said


def test_task_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = packed(tmp_path, checked("a"))

    assert main(["validate", str(pack), "--task", "q"]) == 2

    assert "There is no such task that scores." in capsys.readouterr().err


def test_solution_may_leave_files_that_are_called_like_those_of_a_persona(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    files = {"profile.yaml": NOTE_SHA256, "origins.json": NOTE_SHA256, "note.md": NOTE_SHA256}
    pack = packed(tmp_path, checked("a", more=(leaves_note(),)), idle=1, a=GivenTurn(SECRET, files=files))

    code, told = validated(capsys, str(pack))

    assert (code, [row["valid"] for row in told["tasks"]]) == (0, [True])


@pytest.mark.parametrize("told", [None, [], {"limits": "x"}, {"limits": {"probe_idle": "x"}}])
def test_limits_that_are_none_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], told: object):
    pack = write(tmp_path / "pack.zip", {"clerk": (checked("a"),)}, more={"validation": told})

    assert main(["validate", str(pack)]) == 2
    assert "pack.json has another validation" in capsys.readouterr().err

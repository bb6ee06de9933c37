"""`pibench` and splits: run, scored and shown by themselves, and results name them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from evaluation.runner.command import main
from studio.domain.episode import Split
from tests.evaluation.builders import rubric, task
from tests.evaluation.runner.packs import CANARY, write

HELD_CANARY = "1e6f7a3e-0000-4000-8000-000000000001"
VALIDATION_CANARY = "2e6f7a3e-0000-4000-8000-000000000002"


@pytest.fixture
def held_out(tmp_path: Path) -> Path:
    tasks = [task("h", title="The seal", checklist=(rubric("It is sealed."),))]
    splits = {"held_out": {"tasks": 1, "canary": HELD_CANARY}}
    more = {"canary": HELD_CANARY, "splits": splits}
    return write(tmp_path / "bench-1.0-held-out.zip", {"clerk": tasks}, splits={"h": Split.HELD_OUT}, more=more)


@pytest.fixture
def pack(tmp_path: Path, held_out: Path) -> Path:
    tasks = [
        task("a", title="The fee"),
        task("b", "a", title="The letter", checklist=(rubric("It names the fee."),)),
        task("v", title="The sign", checklist=(rubric("It is short."),)),
    ]
    sha256 = hashlib.sha256(held_out.read_bytes()).hexdigest()
    splits = {
        "public": {"tasks": 2, "canary": CANARY},
        "validation": {"tasks": 1, "canary": VALIDATION_CANARY},
        "held_out": {"tasks": 1, "file": held_out.name, "sha256": sha256},
    }
    named = {"v": Split.VALIDATION}
    return write(tmp_path / "bench-1.0.zip", {"clerk": tasks}, splits=named, more={"splits": splits})


def run(pack: Path, out: Path, *more: str) -> Path:
    assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(out), *more]) == 0
    return out


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    return capsys.readouterr().err


def ran(out: Path) -> list[str]:
    return [session["task"] for session in json.loads((out / "run.json").read_text())["sessions"]]


def test_only_tasks_of_the_split_run_and_results_name_it(
    pack: Path, held_out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = run(pack, tmp_path / "validation", "--split", "validation")
    assert ran(out) == ["v"]
    assert json.loads((out / "run.json").read_text())["splits"] == {"validation": 1}
    assert "split validation" in capsys.readouterr().out
    assert ran(run(pack, tmp_path / "public", "--split", "public")) == ["a", "b"]
    out = run(held_out, tmp_path / "held")
    assert json.loads((out / "run.json").read_text())["splits"] == {"held_out": 1}
    assert "split held-out" in capsys.readouterr().out


def test_split_that_the_pack_lacks_is_refused_with_where_it_stands(pack: Path, capsys: pytest.CaptureFixture[str]):
    said = refused(capsys, "run", str(pack), "--model", "scripted:helpful", "--split", "held_out", "--dry-run")
    assert "no task of the split held-out" in said
    assert "bench-1.0-held-out.zip" in said


def test_scores_are_told_by_split_and_of_one_alone(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = run(pack, tmp_path / "out")
    assert ran(out) == ["a", "b", "v"]
    said = capsys.readouterr().out
    assert "public tasks" in said and "validation tasks" in said

    assert main(["score", str(out), "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert main(["score", str(out), "--split", "validation", "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert [session["task"] for session in alone["sessions"]] == ["v"]
    assert alone["splits"] == {"validation": 1}
    strict = both["split_scores"]["validation"]["strict"]
    assert strict == {key: alone["scores"]["strict"][key] for key in strict}
    assert "has no held-out tasks" in refused(capsys, "score", str(out), "--split", "held_out")


def test_tree_marks_splits_and_tells_what_is_held_out(pack: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["show", str(pack)]) == 0
    said = capsys.readouterr().out
    assert "v  The sign  (validation, " in said
    assert "1 task held out, sha256 " in said


def test_held_out_pack_is_checked_against_the_published_one(
    pack: Path, held_out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["verify", str(pack)]) == 0
    assert "1 task held out in bench-1.0-held-out.zip: give it with --held-out" in capsys.readouterr().out
    assert main(["verify", str(pack), "--held-out", str(held_out)]) == 0
    assert "checked too" in capsys.readouterr().out
    assert "is not the held-out pack" in refused(capsys, "verify", str(pack), "--held-out", str(pack))
    assert "names no pack" in refused(capsys, "verify", str(held_out), "--held-out", str(held_out))


@pytest.mark.parametrize("canary", [CANARY, VALIDATION_CANARY])
def test_canary_of_each_split_is_looked_for(pack: Path, tmp_path: Path, canary: str):
    (tmp_path / "corpus.txt").write_text(f"… {canary.upper()} …")
    assert main(["leaks", str(pack), str(tmp_path / "corpus.txt")]) == 1
    (tmp_path / "corpus.txt").write_text(f"… {HELD_CANARY} …")
    assert main(["leaks", str(pack), str(tmp_path / "corpus.txt")]) == 0

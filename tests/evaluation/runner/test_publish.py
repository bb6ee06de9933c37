"""`pibench publish`: what publishing a pack would send, without sending it."""

from __future__ import annotations

import hashlib
import json
import shlex
import zipfile
from pathlib import Path

import pytest

from evaluation.runner.command import main
from tests.evaluation.builders import task
from tests.evaluation.runner.packs import CANARY, write

WHERE = ("--huggingface", "lab/bench", "--github", "lab/bench")


def test_commands_are_printed_with_every_file_that_they_would_send(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "bench-1.0.zip", {"clerk": [task("a")]})

    assert main(["publish", str(pack), *WHERE]) == 0
    said = capsys.readouterr().out
    assert main(["publish", str(pack), *WHERE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert "nothing was sent" in said
    unpacked, upload, tag, release = (shlex.split(command) for command in found["commands"])
    assert all(command in said for command in found["commands"])
    assert unpacked[:2] == ["unzip", "-q"]
    assert upload[:5] == ["hf", "upload", "lab/bench", "bench-1.0", "."]
    assert (tag[:6], release[:5]) == (
        ["hf", "repos", "tag", "create", "lab/bench", "1.0"],
        ["gh", "release", "create", "1.0", str(pack)],
    )
    with zipfile.ZipFile(pack) as archive:
        files = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert {row["path"]: row["sha256"] for row in found["huggingface"]} == files
    assert all(f"{sha256}  " in said and f"  {path}\n" in said for path, sha256 in files.items())
    assert found["github"] == [{"path": pack.name, "sha256": hashlib.sha256(pack.read_bytes()).hexdigest()}]


def test_what_a_pack_calls_itself_is_one_word_of_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    name = "Bench'; rm -rf ~ #"
    more = {"benchmark": {"slug": "bench", "name": name, "description": ""}}
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]}, more=more)

    assert main(["publish", str(pack), *WHERE, "--json"]) == 0

    for command in json.loads(capsys.readouterr().out)["commands"][1::2]:
        assert f"{name} 1.0" in shlex.split(command)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ((), "Say where it would go."),
        (("--github", "bench"), "--github “bench” names no repository."),
        (("--huggingface=-x/y",), "--huggingface “-x/y” names no repository."),
    ],
)
def test_nowhere_to_publish_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], error: str
):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]})

    assert main(["publish", str(pack), *words]) == 2
    assert error in capsys.readouterr().err


def test_version_that_would_be_an_option_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a")]}, more={"version": "--delete"})

    assert main(["publish", str(pack), *WHERE]) == 2
    assert "“--delete” is no version." in capsys.readouterr().err


def test_held_out_pack_is_not_for_publishing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    splits = {"splits": {"held_out": {"tasks": 1, "canary": CANARY}}}
    pack = write(tmp_path / "held.zip", {"clerk": [task("a")]}, more=splits)

    assert main(["publish", str(pack), *WHERE]) == 2
    assert "has held-out tasks: do not publish it." in capsys.readouterr().err

"""What packs and results that strangers made want of whoever reads them with `pibench`: a file that is nobody's
business, or an error that nobody can read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evaluation.runner.command import main
from evaluation.runner.results import read_results
from studio.domain.pack import MANIFEST, SUMS
from tests.evaluation.builders import rubric, task
from tests.evaluation.runner.packs import write
from tests.packs import write_pack


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return write(tmp_path / "pack.zip", {"clerk": [task("a")]}, said={"a": (1,)})


@pytest.fixture
def results(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    return capsys.readouterr().err


def change_run(results: Path, **fields: Any) -> None:
    run = json.loads((results / "run.json").read_text())
    (results / "run.json").write_text(json.dumps(run | fields))


@pytest.mark.parametrize("folder", ["../secret", "/etc", "sessions/../../secret"])
def test_to_have_a_session_read_from_elsewhere(
    results: Path, folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = json.loads((results / "run.json").read_text())
    (results / run["sessions"][0]["folder"]).rename(tmp_path / "secret")
    change_run(results, sessions=[run["sessions"][0] | {"folder": folder}])

    assert "another form" in refused(capsys, "html", str(results), "--out", str(tmp_path / "page.html"))


def test_to_have_a_file_read_from_elsewhere(results: Path, tmp_path: Path):
    (tmp_path / "secret").write_text("key")

    assert read_results(results).read("../../secret") is None
    assert read_results(results).read(str(tmp_path / "secret")) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"sessions": []}, {"sessions": None}, {"pack": {}}, {"agent": None}, {"models": {}}, {"protocol": []},
        {"agent_loop": []}, {"scripted": None}, {"agent_judges_itself": None},
        {"sessions": [{"persona": "b", "task": "a", "run": 1, "chain": 1, "position": 1}]},
    ],
)  # fmt: skip
def test_an_error_from_results_of_another_form(
    results: Path, fields: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    change_run(results, **fields)

    assert "another form" in refused(capsys, "score", str(results))


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        *((("started",), value) for value in (5, "\0", "yesterday")),
        *((("prompts",), value) for value in (None, 5, [], "x", {"checklist": 5}, {"checklist": {"version": []}})),
        *((("mode",), value) for value in (None, 5)),
        *((("models", "agent", "base_url"), value) for value in (None, 5, "http://[")),
        (("models", "agent", "model"), None),
    ],
)
def test_an_error_from_what_exports_say_of_results(
    results: Path, changed: tuple[str, ...], value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    run = json.loads((results / "run.json").read_text())
    at = run
    for key in changed[:-1]:
        at = at[key]
    at[changed[-1]] = value
    change_run(results, **run)

    assert "another form" in refused(capsys, "export", str(results), "--format", "eee", "--out", str(tmp_path / "eee"))


@pytest.mark.parametrize("name", ["../../x", "..", "\0", "\x1b[2J\n", "x" * 5000])
def test_to_have_an_export_written_elsewhere(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]):
    pack = write(tmp_path / "pack.zip", {"clerk": [task("a", checklist=(rubric("The fee is named."),))]})
    results, out = tmp_path / "results", tmp_path / "eee"
    assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(results)]) == 0
    run = json.loads((results / "run.json").read_text())
    run["models"]["agent"]["model"] = f"somebody/{name}"
    change_run(results, pack=run["pack"] | {"name": name}, models=run["models"])

    assert main(["export", str(results), "--format", "eee", "--out", str(out)]) == 0

    written = {path for path in tmp_path.rglob("*.json*") if results not in path.parents and path != pack}
    assert written and all(path.is_relative_to(out / "data") for path in written)
    assert "\x1b" not in "".join(map(str, written)) + capsys.readouterr().out


@pytest.mark.parametrize("line", ["null", "5", '{"turn": null}', '{"turn": {"taken": {}}}', "[" * 100_000])
def test_an_error_from_a_session_of_another_form(results: Path, line: str, capsys: pytest.CaptureFixture[str]):
    next(results.rglob("session.jsonl")).write_text(f"{line}\n")

    assert "Something else wrote into the results" in refused(capsys, "score", str(results))


@pytest.mark.parametrize("content", ["null", "[" * 100_000, "7"])
@pytest.mark.parametrize("name", ["run.json", "tasks.jsonl"])
def test_an_error_from_a_document_of_another_form(
    results: Path, name: str, content: str, capsys: pytest.CaptureFixture[str]
):
    (results / name).write_text(content)

    assert "Traceback" not in refused(capsys, "score", str(results))


@pytest.mark.parametrize(
    "fields",
    [
        {"benchmark": None}, {"benchmark": {"name": 5}}, {"version": None}, {"tasks": "x"}, {"tasks": [{}]},
        {"tasks": [{"persona": "clerk", "task": "a", "said_in_request": None}]},
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", [["show"], ["verify"], ["run", "--model", "scripted:helpful", "--dry-run"]])
def test_an_error_from_a_pack_of_another_form(
    pack: Path, fields: dict[str, Any], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with zipfile.ZipFile(pack) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files.pop(MANIFEST)) | fields
    del files[SUMS], manifest["pack_version"]
    (tmp_path / "hostile.zip").write_bytes(write_pack(manifest, files))

    assert f"{MANIFEST} has another" in refused(capsys, words[0], str(tmp_path / "hostile.zip"), *words[1:])

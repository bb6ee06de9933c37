"""What `pibench` says: help, errors, packs and scores."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.runner.command import main
from evaluation.runner.packs import LIMITS
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.runner.packs import write

HEAVY = ("django", "numpy", "openai", "pydantic", "rich", "yaml")


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    tasks = [
        task("a", title="The fee"),
        task("b", "a", title="The letter", checklist=(rubric("It names the fee.", 3), rubric("It is signed."))),
    ]
    return write(tmp_path / "pack.zip", {"clerk": tasks}, said={"a": (1,)})


@pytest.fixture
def results(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["run", str(pack), "--model", "scripted:helpful", "--runs", "2", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    return tmp_path / "out"


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(words: list[str]):
    code = (
        "import sys; from evaluation.runner.command import main\n"
        f"try: main({words})\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stderr.strip() == "[]"
    assert "pibench" in done.stdout


def test_whole_pack_is_verified_and_says_what_that_means(pack: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["verify", str(pack)]) == 0

    said = capsys.readouterr().out
    assert "Bench 1.0: all 5 files are as released." in said
    assert "Integrity only" in said


@pytest.mark.parametrize("command", ["verify", "show", "run"])
def test_flipped_byte_is_refused_and_its_file_named(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
):
    with zipfile.ZipFile(pack) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    [name] = [name for name in files if name.endswith("b/task.yaml")]
    files[name] = files[name].replace(b"signed", b"signee")
    with zipfile.ZipFile(pack, "w") as archive:
        for each, content in files.items():
            archive.writestr(each, content)

    more = ["--model", "scripted:helpful", "--out", str(tmp_path / "out")] if command == "run" else []
    assert f"{name} was changed since the pack was made" in refused(capsys, command, str(pack), *more)
    assert not (tmp_path / "out").exists()


def test_unpacked_pack_is_a_pack(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with zipfile.ZipFile(pack) as archive:
        archive.extractall(tmp_path / "unpacked")

    assert main(["verify", str(tmp_path / "unpacked")]) == 0
    capsys.readouterr()
    (tmp_path / "unpacked" / "more.txt").write_text("More")
    assert "more.txt was added" in refused(capsys, "verify", str(tmp_path / "unpacked"))


def test_pack_is_shown_as_a_tree_and_a_task_with_all_that_it_asks(pack: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["show", str(pack)]) == 0
    tree = capsys.readouterr().out
    assert "├─ a  The fee  (setup, 2 intents, 0 criteria)" in tree
    assert "└─ b  The letter  (2 intents, 2 criteria, builds on a)" in tree

    assert main(["show", str(pack), "b"]) == 0
    assert "1. It names the fee. (rubric, weight 3)" in capsys.readouterr().out
    assert main(["show", str(pack), "a"]) == 0
    assert "harbour fee. (said in the request)" in capsys.readouterr().out


def test_what_a_pack_says_cannot_move_the_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    evil = task("a", title="\x1b[2JGone\u202eeno", intents=intents("\x1b]0;title\x07 Sign it."))
    pack = write(tmp_path / "pack.zip", {"clerk": [evil]})

    for words in ([], ["a"]):
        assert main(["show", str(pack), *words]) == 0
        said = capsys.readouterr().out
        assert not [character for character in said if ord(character) < 32 and character != "\n"]
        assert "\x1b" not in said and "\u202e" not in said


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["--model", "gpt-5"], "“gpt-5” names no model", "Write SERVICE:NAME"),
        (["--model", "openai:m"], "Say which model plays the user", "--user openai:m and --judge openai:m"),
        (["--model", "scripted:loud"], "no scripted model", "scripted-helpful"),
        (["--model", "scripted:helpful"], "nowhere to put the results", "--out FOLDER"),
        (["--model", "scripted:helpful", "--task", "q"], "no task “q”", "pibench show"),
        (["--model", "scripted:helpful", "--persona", "q"], "no persona “q”", "The pack has clerk"),
        (["--model", "scripted:helpful", "--agent", "q"], "no agent “q”", "There are react"),
        (["--model", "scripted:helpful", "--budget", "much"], "write KIND=NUMBER", ""),
        (["--model", "scripted:helpful", "--budget", "time=3"], "no budget of “time”", ""),
        (["--model", "scripted:helpful", "--limit", "turns=99"], "between 1 and 30 turns", ""),
        (["--model", "scripted:helpful", "--runs", "0"], "1 to 20 runs", ""),
    ],
)
def test_error_says_what_is_wrong_and_what_to_do(
    pack: Path, capsys: pytest.CaptureFixture[str], words: list[str], error: str, hint: str
):
    said = refused(capsys, "run", str(pack), *words)

    assert said.startswith("error: ") and "Traceback" not in said
    assert error in said and hint in said


def test_what_is_no_pack_and_what_are_no_results_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "letter.txt").write_text("Dear Ada")

    assert "cannot be used.\n  This zip file is damaged" in refused(capsys, "show", str(tmp_path / "letter.txt"))
    assert "cannot be read: No such file" in refused(capsys, "show", str(tmp_path / "nothing.zip"))
    assert "is no release" in refused(capsys, "verify", str(tmp_path))
    assert "holds no results" in refused(capsys, "score", str(tmp_path))


def test_dry_run_asks_no_model_and_makes_nothing(
    pack: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = ["run", str(pack), "--model", "openai:m", "--user", "openai:m", "--judge", "openai:m", "--dry-run"]

    assert main([*words, "--runs", "3"]) == 0
    said = capsys.readouterr()
    assert "6 sessions: 2 tasks of 1 personas, 3 runs" in said.out
    assert "What it costs is not known" in said.out
    assert "judges itself" in said.err

    assert main([*words, "--like", str(results), "--price", "openai:m=2/8", "--json"]) == 0
    estimate = json.loads(capsys.readouterr().out)["estimate"]
    assert main(["score", str(results), "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)["scores"]["strict"]
    assert (estimate["sessions"], estimate["known"], estimate["tasks"]) == (2, 2, 2)
    roundings = 2 * 2 * 3 * 2  # of runs, tasks, seats, and what is sent and answered
    assert estimate["tokens"] == pytest.approx(scored["tokens"] / 2, abs=roundings / 2)
    assert float(estimate["cost"]) > 0


def test_scores_are_text_csv_and_latex(results: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["score", str(results)]) == 0
    text = capsys.readouterr().out
    assert "Achieved in all of k runs" in text and "scripted models, not evidence" in text

    assert main(["score", str(results), "--format", "csv"]) == 0
    [header, own, persona, *_] = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header == ["", "Proc", "95 %", "SD", "Comp", "95 %", "SD", "n"]
    assert [own[0], persona[0]] == ["scripted-helpful", "  clerk"]

    assert main(["score", str(results), "--format", "latex"]) == 0
    latex = capsys.readouterr().out
    assert r"& 95 \%" in latex and latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 3


def test_unfinished_results_are_scored_and_say_so(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = str(tmp_path / "out")
    main(["run", str(pack), "--model", "scripted:helpful", "--budget", "calls=4", "--out", out])
    capsys.readouterr()

    assert main(["score", out]) == 0
    assert "not finished: scores are of the others" in capsys.readouterr().out


def test_two_results_are_compared_on_the_tasks_that_both_ran_unchanged(
    pack: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    changed = task("b", "a", title="The letter", checklist=(rubric("It names the fee."),))
    other_pack = write(tmp_path / "other.zip", {"clerk": [task("a"), changed]})
    for name, of, model in (("passive", pack, "passive"), ("changed", other_pack, "helpful")):
        assert main(["run", str(of), "--model", f"scripted:{model}", "--out", str(tmp_path / name)]) == 0
    capsys.readouterr()

    assert main(["compare", str(results), str(tmp_path / "passive")]) == 0
    assert "scripted-passive less scripted-helpful" in capsys.readouterr().out
    assert main(["compare", str(results), str(tmp_path / "changed"), "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert any("tasks changed between the two packs" in note for note in compared["notes"])
    assert not any(word in str(compared["notes"]) for word in ("Only", "models as", "versions of prompts"))
    assert compared["modes"]["strict"]["proc"]["tasks"] == []


def test_results_of_different_protocols_are_not_compared(
    pack: Path, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    other = str(tmp_path / "release")
    assert main(["run", str(pack), "--model", "scripted:helpful", "--protocol", "release", "--out", other]) == 0
    capsys.readouterr()

    assert "cannot be compared" in refused(capsys, "compare", str(results), other)


def test_results_that_cannot_be_read_are_not_uploaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / ("long" * 100)

    assert main(["upload", str(path), "--studio", "http://127.0.0.1:9", "--token", "secret"]) == 2

    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why", "hint"),
    [
        (
            ["shwo", "pack.zip"],
            "There is no command “shwo”; there are run, show,",
            "Did you mean show? `pibench --help`",
        ),
        (["run", "--modle", "x"], "There is no option --modle.", "--model? `pibench run --help` tells"),
        (["--verison"], "There is no option --verison.", "Did you mean --version?"),
        (
            ["run", "p", "--model", "x", "--jobs", "many"],
            "Argument --jobs: “many” is not a whole number.",
            "run --help",
        ),
        (["validate", "p", "--jobs", "0"], "Argument --jobs: it is a number from 1 up, not 0.", "validate --help"),
        (
            ["run", "p", "--model", "x", "--split", "publc"],
            "--split cannot be “publc”; there are public,",
            "mean public?",
        ),
        (["site"], "The following arguments are required: PACK, --out.", "`pibench site --help`"),
        (["verify", "p", "--key", "theirs"], "“theirs” is no fingerprint.", "SHA256: and 43"),
    ],
)
def test_wrong_words_are_told_in_a_sentence_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], words: list[str], why: str, hint: str
) -> None:
    if "theirs" in words:
        assert main(words) == 2
    else:
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {why}") and hint in told and told.count("\n") == 3


def test_folder_that_is_no_pack_is_refused_before_its_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("evaluation.runner.packs.LIMITS", replace(LIMITS, files=2))
    for name in "abc":
        (tmp_path / name).touch()
    monkeypatch.setattr(Path, "read_bytes", None)
    assert main(["show", str(tmp_path)]) == 2
    assert "is too large for a pack." in capsys.readouterr().err

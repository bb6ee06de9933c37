"""What `pibench leaks` finds of a pack in texts and in answers of models, and what it says it cannot know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.runner import leaks
from evaluation.runner.command import main
from tests.evaluation.builders import intents, rubric, task
from tests.evaluation.runner.packs import CANARY, write

REQUEST = "Please write the letter to the harbour office about the fee for the second berth by Friday, and sign it."
INTENT = "The letter must name the berth by its old number, since the office never entered the new ones into its books."
CRITERION = "It says who pays the fee of twelve crowns, when it is due, and what happens to the berth if nobody does."


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    whole = task("a", initial_request=REQUEST, intents=intents(INTENT), checklist=(rubric(CRITERION), rubric("Short.")))
    return write(tmp_path / "pack.zip", {"clerk": [whole]})


def found(capsys: pytest.CaptureFixture[str], *argv: object) -> dict[str, Any]:
    status = main(["leaks", *map(str, argv), "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == bool(document["found"] or document["canary_in"])
    return document


def test_canary_and_passages_are_found_whatever_their_case_and_punctuation(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "page.html").write_text(f"<p>{CRITERION.upper().replace(',', ' – ')}</p>")
    (corpus / "card.json").write_text(json.dumps({"canary": CANARY.upper()}))
    (corpus / "other.txt").write_text("Nothing of it.")

    said = found(capsys, pack, corpus)

    assert said["canary_in"] == [str(corpus / "card.json")] and said["files"] == 3
    [row] = said["found"]
    assert (row["task"], row["text"], row["longest"]) == ("a", "criterion 1", len(CRITERION.split()))
    assert row["found"] == row["passages"] and row["in"] == [str(corpus / "page.html")]


def test_passage_is_found_across_the_edge_of_what_is_read_together(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(leaks, "CHUNK", 300)
    monkeypatch.setattr(leaks, "OVERLAP", 200)
    text = tmp_path / "text"
    for before in (150, 250, 299):
        text.write_text("x" * before + f" {INTENT} {CANARY}")
        said = found(capsys, pack, text)
        assert said["found"][0]["longest"] == len(INTENT.split()), before
        assert said["canary_in"] == [str(text)], before


def test_fewer_words_in_a_row_are_not_found(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    words = INTENT.split()
    text = tmp_path / "text"
    text.write_text(" ".join(words[: leaks.WORDS - 1]))
    assert found(capsys, pack, text)["found"] == []
    text.write_text(" ".join(words[: leaks.WORDS]))
    assert found(capsys, pack, text)["found"][0]["longest"] == leaks.WORDS


def test_answer_leaks_only_what_the_model_was_not_asked_with(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["run", str(pack), "--model", "scripted:helpful", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    clean = found(capsys, pack, tmp_path / "out")
    assert clean["answers"] > 0 and clean["found"] == [] == clean["canary_in"]
    [file] = (tmp_path / "out").rglob("calls.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    own = next(line for line in lines if line["purpose"] == "agent")
    told = {**own, "request": {"messages": [{"content": INTENT}]}, "response": {"content": INTENT}}
    leaked = {**own, "response": {"choices": [{"message": {"content": f"As I recall: {CRITERION} {CANARY}"}}]}}
    judged = {**own, "purpose": "judge", "response": {"content": REQUEST}}
    file.write_text("".join(json.dumps(line) + "\n" for line in (told, judged, leaked)) + '{"purpose": "agent", "resp')

    said = found(capsys, pack, tmp_path / "out")

    assert [row["text"] for row in said["found"]] == ["criterion 1"]
    assert said["answers"] == 2 and len(said["canary_in"]) == 1


def test_says_what_it_cannot_know(pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "text").write_text("Nothing of it.")

    assert main(["leaks", str(pack), str(tmp_path / "text")]) == 0
    said = capsys.readouterr().out
    assert "The canary was not found." in said and "No passage was found." in said
    assert "does not show that a model has not seen the pack" in said and "1 of 4 texts have fewer than 13" in said
    (tmp_path / "text").write_text(REQUEST)
    assert main(["leaks", str(pack), str(tmp_path / "text")]) == 1
    said = capsys.readouterr().out
    assert "clerk · a · request" in said and "both may quote the same source" in said
    assert main(["leaks", str(pack), str(tmp_path / "nowhere")]) == 2

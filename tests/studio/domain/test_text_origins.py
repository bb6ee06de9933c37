"""What files tell of the origins of texts."""

from __future__ import annotations

import pytest

from studio.domain.pibench import read_personas
from studio.domain.storable import read_json
from studio.domain.task import HiddenIntent, TaskSpec
from studio.domain.text_origins import TextOrigin, origins_file, read_origins

NAME = ("baker", "bread")


def one(**said: object) -> object:
    return {
        "tasks": [{"persona": "baker", "task": "bread", "proposed_texts": [{"field": "title", "model": "m"} | said]}]
    }


def test_what_is_written_is_read_again():
    told = (TextOrigin(field="title", model="m"), TextOrigin(field="intents", row=2, model="m", edited=True))
    [content] = origins_file({NAME: told, ("baker", "rolls"): ()}).values()
    assert read_origins(read_json(content)) == {NAME: told}
    assert origins_file({NAME: ()}) == {}


@pytest.mark.parametrize(
    "document",
    [None, [], {"tasks": 7}, {"tasks": [None, {"persona": 1}]}, one(row=-1), one(model=""), one(model="m" * 400),
     one(by="x"), one(edited="perhaps")],
)  # fmt: skip
def test_what_has_another_form_is_left_out(document):
    assert read_origins(document) == {}


def test_a_text_that_postgresql_cannot_store_is_mended():
    [[origin]] = read_origins(one(model="a\0b\ud800")).values()
    assert origin.model == "a\ufffdb?"


def test_a_place_that_the_task_does_not_have_tells_nothing():
    task = TaskSpec(task_id="bread", title="Bread", intents=(HiddenIntent(uid="u", content="Rye first."),))

    def place(field: str, row: int = 0) -> tuple[str, str] | None:
        return TextOrigin(field=field, row=row, model="m").place_in(task)

    assert place("title") == ("", "Bread") and place("intents", 1) == ("u", "Rye first.")
    assert [place("intents"), place("intents", 2), place("checklist", 1), place("title", 1)] == [None] * 4
    assert [place("__class__"), place("trigger"), place("to_json")] == [None] * 3


@pytest.mark.parametrize("field", ["__doc__", "__module__", "task_id", "category", "grader_script"])
def test_a_field_that_no_proposal_can_write_has_no_origin(field):
    task = TaskSpec(task_id="bread", category="Rye", grader_script="check.py")
    assert TextOrigin(field=field, model="m").place_in(task) is None


def test_a_place_told_more_than_once_counts_once_as_told_last():
    told = (TextOrigin(field="title", model="m"), TextOrigin(field="intents", row=1, model="m"))
    again = TextOrigin(field="title", model="n")
    [content] = origins_file({NAME: (*told * 3, again)}).values()
    assert read_origins(read_json(content)) == {NAME: (again, told[1])}


def test_a_damaged_file_of_origins_is_told():
    files = {"data/baker/profile.yaml": b"user_id: baker\n", "origins.json": b"{", "notes.txt": b"x"}
    warned = {problem.file: problem.message for problem in read_personas(files).warnings}
    assert warned["origins.json"].startswith("This is not JSON")
    assert "1 file(s) belong to no persona" in warned["notes.txt"]

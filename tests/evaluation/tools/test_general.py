"""The general tools beside those for plain files."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocol.clock import MOVING, Clock
from evaluation.tools import Outbox, Surroundings, Toolbox, Workspace, World, reachable_names, toolbox_for
from evaluation.tools.general import GENERAL
from evaluation.tools.schedule import is_calendar
from evaluation.tools.subagents import Helpers
from studio.domain.tool_catalog import tool_cards
from tests.studio.files.previews.samples import a_docx, a_pdf, a_png, a_pptx, an_xlsx

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Sales\n", "by region"]},
        {
            "cell_type": "code",
            "id": "sum",
            "metadata": {},
            "source": "sum(sales)",
            "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["21"]}},
                {"ename": "E", "evalue": "x"},
            ],
        },
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
NOTEBOOK_TEXT = """\
[cell 0: markdown, id 0]
# Sales
by region
[cell 1: code, id sum]
sum(sales)
[output]
21
[output]
E: x"""


@pytest.fixture
def outbox() -> Outbox:
    return Outbox()


@pytest.fixture
def toolbox(tmp_path: Path, outbox: Outbox) -> Toolbox:
    around = Surroundings(Workspace(tmp_path), outbox, spawn=Helpers(lambda task: f"did {task}").spawn)
    return toolbox_for(around, [], World(clock=Clock(datetime(2026, 4, 13, 9, 0))))


def use(toolbox: Toolbox, name: str, **arguments: Any) -> str:
    return toolbox.call(name, json.dumps(arguments)).result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.docx", a_docx("Fees & terms"), "Fees & terms"),
        ("a.xlsx", an_xlsx([["region", "sales"], ["Asia", "12"]]), "[sheet Prices: 2 rows]\nregion\tsales\nAsia\t12"),
        ("a.pdf", a_pdf("Ruling 7"), "[page 1 of 1]\nRuling 7"),
        ("a.pptx", a_pptx(["Plan", "Step <1>"], ["End"]), "[slide 1 of 2]\nPlan\nStep <1>\n[slide 2 of 2]\nEnd"),
        ("a.eml", b"From: a@b.c\nSubject: Fee\n\nIt is 5.", "From: a@b.c\nSubject: Fee\n\nIt is 5."),
        (
            "a.ipynb",
            json.dumps(NOTEBOOK).encode(),
            NOTEBOOK_TEXT,
        ),
    ],
)
def test_document_is_read_as_text(toolbox: Toolbox, tmp_path: Path, name: str, content: bytes, expected: str):
    (tmp_path / name).write_bytes(content)

    assert use(toolbox, "read_file", path=name) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF-1.4 broken", "Error: a.pdf cannot be read. It is corrupt, or unpacks to more than allowed."),
        ("a.ipynb", b"[1]", "Error: a.ipynb is not a Jupyter notebook: it must be JSON with a list of cells."),
        ("a.zip", b"PK\x03\x04\0\0", "Error: a.zip is not a text file (6 bytes)."),
    ],
)
def test_unreadable_document_is_reported(toolbox: Toolbox, tmp_path: Path, name: str, content: bytes, message: str):
    (tmp_path / name).write_bytes(content)

    assert use(toolbox, "read_file", path=name) == message


@pytest.mark.slow
def test_presentation_that_unpacks_to_too_much_is_refused(toolbox: Toolbox, tmp_path: Path):
    (tmp_path / "bomb.pptx").write_bytes(a_pptx(["x" * 21_000_000]))

    assert "unpacks to more than allowed" in use(toolbox, "read_file", path="bomb.pptx")


def test_picture_is_put_before_the_model(toolbox: Toolbox, tmp_path: Path, outbox: Outbox):
    (tmp_path / "chart.png").write_bytes(a_png(width=3, height=2))
    (tmp_path / "huge.png").write_bytes(a_png(width=9_000, height=1))

    assert use(toolbox, "read_file", path="chart.png").startswith("chart.png is a picture (PNG, 3 × 2 pixels, ")
    assert "too large to look at" in use(toolbox, "read_file", path="huge.png")
    assert [(picture.path, picture.media_type) for picture in outbox.take_pictures()] == [("chart.png", "image/png")]


def test_notebook_cells_are_replaced_inserted_and_deleted(toolbox: Toolbox, tmp_path: Path):
    (tmp_path / "a.ipynb").write_text(json.dumps(NOTEBOOK))

    use(toolbox, "notebook_edit", path="a.ipynb", cell_index=1, new_source="max(sales)")
    use(
        toolbox,
        "notebook_edit",
        path="a.ipynb",
        cell_index=1,
        new_source="Done.",
        cell_type="markdown",
        edit_mode="insert",
    )
    said = use(toolbox, "notebook_edit", path="a.ipynb", cell_index=0, edit_mode="delete")

    notebook = json.loads((tmp_path / "a.ipynb").read_text())
    assert said == "Deleted cell 0 of a.ipynb; it has 2 cells now."
    assert [(cell["id"], cell["source"], cell.get("outputs")) for cell in notebook["cells"]] == [
        ("sum", "max(sales)", []),
        ("cell-1", "Done.", None),
    ]
    assert notebook["metadata"] == NOTEBOOK["metadata"]
    assert "there is no cell 9" in use(toolbox, "notebook_edit", path="a.ipynb", cell_index=9)


def test_new_notebook_is_made_by_its_first_cell(toolbox: Toolbox, tmp_path: Path):
    record = toolbox.call(
        "notebook_edit", '{"path": "n.ipynb", "cell_index": 0, "new_source": "1", "edit_mode": "insert"}'
    )

    assert (record.result, record.changes) == (
        "Inserted cell 0 of n.ipynb; it has 1 cells now.",
        ("n.ipynb: new file",),
    )
    assert json.loads((tmp_path / "n.ipynb").read_text())["cells"][0]["source"] == "1"


def test_question_and_messages_go_to_the_user(toolbox: Toolbox, tmp_path: Path, outbox: Outbox):
    (tmp_path / "plan.md").write_text("Go.")

    assert use(toolbox, "message", content="A draft.", media=["plan.md"]).startswith("Sent with 1 attached.")
    assert use(toolbox, "message", content="A draft.", media=["no.md"]) == "Error: no.md does not exist."
    assert use(toolbox, "ask_user", question="Which?", options=["A", "B"]).startswith("The user reads your question")
    assert "asked already" in use(toolbox, "ask_user", question="And?")

    assert outbox.take_question() == "Which?\n- A\n- B"
    assert outbox.deliver("Done.") == "A draft.\n[attached: plan.md, 3 bytes]\n\nDone."
    assert outbox.deliver("Next.") == "Next."


def test_schedule_is_told_the_time_of_each_call(tmp_path: Path):
    clock = Clock(datetime(2026, 4, 13, 9, 0), MOVING)
    toolbox = toolbox_for(Workspace(tmp_path), [], World(clock=clock))

    clock.begin(3)  # 09:30

    said = use(toolbox, "cron", action="add", message="Call Ada", at="2026-04-13T09:10")
    assert "09:30" in said


def test_schedule_lasts_in_the_workspace(toolbox: Toolbox, tmp_path: Path):
    use(toolbox, "cron", action="add", message="Call Ada", at="2026-04-13T10:00")
    use(toolbox, "cron", action="add", message="Report", cron_expr="0 9 * * 1-5")
    use(toolbox, "cron", action="remove", job_id="job-1")
    use(toolbox, "cron", action="add", message="Stretch", every_seconds=3600)

    later = toolbox_for(Workspace(tmp_path), [])

    assert use(later, "cron", action="list") == "job-2 (cron 0 9 * * 1-5): Report\njob-3 (every 3600 seconds): Stretch"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"action": "add", "message": "x"}, "Give one of at, every_seconds and cron_expr."),
        ({"action": "add", "message": "x", "at": "2026-04-13T08:59"}, "is past: it is 2026-04-13T09:00."),
        ({"action": "add", "message": "x", "at": "tomorrow"}, "'tomorrow' is not a time"),
        ({"action": "add", "message": "x", "cron_expr": "99 9 * * *"}, "cron_expr has five parts"),
        ({"action": "add", "message": " ", "every_seconds": 5}, "Say in message"),
        ({"action": "remove", "job_id": "job-7"}, "There is no scheduled task 'job-7'. There are: none."),
    ],
)
def test_senseless_schedule_is_refused(toolbox: Toolbox, arguments: dict[str, Any], message: str):
    assert message in use(toolbox, "cron", **arguments)


def test_calendar_expressions_have_five_parts_in_range():
    assert all(map(is_calendar, ("* * * * *", "*/5 0-6 1,15 * 7", "0 9 * * 1-5")))
    assert not any(map(is_calendar, ("* * * *", "60 * * * *", "5-1 * * * *", "a * * * *", "*/0 * * * *")))


def test_helper_gets_its_task(toolbox: Toolbox):
    assert use(toolbox, "spawn", task="count") == "did count"
    assert use(toolbox, "spawn", task="add", background=True).startswith("Started helper-1.")
    assert use(toolbox, "spawn", task="sort", background=True).startswith("Started helper-2.")
    assert use(toolbox, "spawn", wait_for="helper-2") == "[helper-2]\ndid sort"
    assert use(toolbox, "spawn", wait_for="all") == "[helper-1]\ndid add"
    assert use(toolbox, "spawn", wait_for="all") == "No helper is in the background."
    assert "There is no helper 'x' in the background." in use(toolbox, "spawn", wait_for="x")
    assert "Say in task what the helper is to do." in use(toolbox, "spawn")
    assert "not both" in use(toolbox, "spawn", task="a", wait_for="all")


def test_tool_without_its_part_is_not_offered(tmp_path: Path):
    names = [schema["function"]["name"] for schema in toolbox_for(Workspace(tmp_path), []).schemas]

    assert not {"ask_user", "message", "spawn"} & set(names)


@pytest.mark.parametrize(
    ("bound", "chosen", "expected"),
    [
        ((), (), tuple(GENERAL)),
        (("gmail__login", "phone__login"), (), (*GENERAL, "gmail__login", "phone__login")),
        (("gmail__login", "phone__login"), ("phone__login",), (*GENERAL, "phone__login")),
        (("grep", "gmail__login"), ("gmail__login",), ("grep", "gmail__login")),
        (("grep", "glob", "gmail__login"), ("glob",), ("glob",)),
    ],
)
def test_persona_and_task_narrow_the_tools(bound: tuple[str, ...], chosen: tuple[str, ...], expected: tuple[str, ...]):
    assert reachable_names(bound, chosen) == expected


def test_every_general_tool_says_in_plain_words_what_it_does():
    always, _ = tool_cards([])

    assert [card.name for card in always] == list(GENERAL)
    assert all(card.plain and card.description for card in always)

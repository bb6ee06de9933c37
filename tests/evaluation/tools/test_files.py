from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from evaluation.tools import Toolbox, Workspace, WorkspaceLimits, toolbox_for
from evaluation.tools.general import GENERAL
from evaluation.tools.tool import MAX_RESULT

FILES = {
    "MEMORY.md": "- Always answer in English.\n",
    "reports/2025.csv": "region,sales\nAsia,12\nEurope,9\n",
    "reports/2026/draft.md": "# Draft\nAsia leads.\nThe rest follows.\n",
    "photo.bin": b"\x89PNG\0\xff",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


@pytest.fixture
def toolbox(root: Path) -> Toolbox:
    return toolbox_for(Workspace(root), [])


def use(toolbox: Toolbox, name: str, **arguments: Any) -> str:
    return toolbox.call(name, json.dumps(arguments)).result


def test_tools_have_the_benchmarks_names(toolbox: Toolbox):
    assert [schema["function"]["name"] for schema in toolbox.schemas] == [
        "read_file",
        "write_file",
        "edit_file",
        "list_dir",
        "glob",
        "grep",
        "notebook_edit",
        "cron",
    ]


def test_long_text_is_read_on_where_its_characters_ended(toolbox: Toolbox, tmp_path: Path):
    (tmp_path / "long.txt").write_text("".join(f"{number:04} {'x' * 90}\n" for number in range(1, 1_001)))

    first = use(toolbox, "read_file", path="long.txt")

    *lines, note = first.splitlines()
    assert len(first) <= MAX_RESULT
    assert note == f"[{1_000 - len(lines)} more lines; go on with offset {len(lines) + 1}]"
    assert use(toolbox, "read_file", path="long.txt", offset=len(lines) + 1).startswith(f"{len(lines) + 1:04} ")


def test_schemas_hold_only_the_parameters(toolbox: Toolbox):
    assert toolbox.schemas[0] == {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": GENERAL["read_file"].description,
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {
                        "type": "string",
                        "description": "Path within the workspace, e.g. notes/plan.md",
                    },
                    "offset": {
                        "type": "integer",
                        "default": 1,
                        "description": "Line to begin with, from 1 as grep counts",
                    },
                    "limit": {
                        "type": "integer",
                        "default": 2000,
                        "description": "How many lines, at most 2000",
                    },
                },
                "required": ["path"],
            },
        },
    }


def test_file_is_read_whole_or_by_lines(toolbox: Toolbox):
    assert use(toolbox, "read_file", path="reports/2025.csv") == FILES["reports/2025.csv"]
    assert use(toolbox, "read_file", path="reports/2025.csv", offset=2, limit=1) == (
        "Asia,12\n[1 more lines; go on with offset 3]"
    )
    assert use(toolbox, "read_file", path="reports/2025.csv", offset=9) == (
        "Error: reports/2025.csv has 3 lines; there is no line 9."
    )


def test_binary_files_are_not_read(toolbox: Toolbox):
    assert use(toolbox, "read_file", path="photo.bin") == "Error: photo.bin is not a text file (6 bytes)."


def test_long_result_is_cut_with_a_note(toolbox: Toolbox, root: Path):
    (root / "long.txt").write_text("x" * (MAX_RESULT + 5))

    result = use(toolbox, "read_file", path="long.txt")

    assert result == "x" * MAX_RESULT + "\n[cut here: 5 more characters; ask for less at a time]"


def test_writing_creates_folders_and_replaces_files(toolbox: Toolbox, root: Path):
    assert use(toolbox, "write_file", path="new/note.md", content="Grüße\n") == "Wrote 8 bytes to new/note.md."

    assert (root / "new/note.md").read_text(encoding="utf-8") == "Grüße\n"


def test_edit_replaces_a_unique_occurrence(toolbox: Toolbox, root: Path):
    draft = {"path": "reports/2026/draft.md"}

    assert use(toolbox, "edit_file", **draft, old_text="Asia leads.", new_text="Asia leads by far.") == (
        "Replaced 1 piece of text in reports/2026/draft.md."
    )
    assert "does not occur" in use(toolbox, "edit_file", **draft, old_text="Africa", new_text="")
    assert (root / "reports/2026/draft.md").read_text() == "# Draft\nAsia leads by far.\nThe rest follows.\n"


def test_ambiguous_edit_needs_replace_all(toolbox: Toolbox, root: Path):
    (root / "twice").write_text("a b a")
    arguments = {"path": "twice", "old_text": "a", "new_text": "c"}

    assert "occurs 2 times in twice" in use(toolbox, "edit_file", **arguments)
    assert use(toolbox, "edit_file", **arguments, replace_all=True) == "Replaced 2 pieces of text in twice."
    assert (root / "twice").read_text() == "c b c"


def test_edit_cannot_exceed_the_file_limit(root: Path):
    (root / "small").write_text("a" * 50)
    toolbox = toolbox_for(Workspace(root, WorkspaceLimits(file_bytes=1_000)), [])

    result = use(toolbox, "edit_file", path="small", old_text="a", new_text="b" * 100_000, replace_all=True)

    assert result.startswith("Error: A file may hold at most")
    assert (root / "small").read_text() == "a" * 50


def test_folders_are_listed_deep_or_flat(toolbox: Toolbox):
    assert use(toolbox, "list_dir").splitlines() == [
        "MEMORY.md",
        "photo.bin",
        "reports/",
        "reports/2025.csv",
        "reports/2026/",
        "reports/2026/draft.md",
    ]
    assert use(toolbox, "list_dir", path="reports", recursive=False).splitlines() == [
        "reports/2025.csv",
        "reports/2026/",
    ]
    assert use(toolbox, "list_dir", path="nowhere") == "Error: nowhere does not exist."


def test_long_lists_are_cut(toolbox: Toolbox, root: Path):
    for number in range(250):
        (root / f"f{number:03}").touch()

    lines = use(toolbox, "list_dir").splitlines()

    assert len(lines) == 201
    assert lines[-1] == "[200 are shown; go on with offset 200, or ask more narrowly]"
    assert use(toolbox, "list_dir", offset=254).splitlines() == ["reports/2026/", "reports/2026/draft.md"]
    assert use(toolbox, "list_dir", offset=999) == "[there are no more than 999]"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.md", ["MEMORY.md", "reports/2026/draft.md"]),
        ("**/*.md", ["MEMORY.md", "reports/2026/draft.md"]),
        ("./reports/*.csv", ["reports/2025.csv"]),
        ("reports/*", ["reports/2025.csv"]),
        ("reports/**", ["reports/2025.csv", "reports/2026/draft.md"]),
        ("reports/**/draft.md", ["reports/2026/draft.md"]),
        ("reports/20??.csv", ["reports/2025.csv"]),
        ("**/2026/**", ["reports/2026/draft.md"]),
        ("../*", ["[no file matches ../*]"]),
        ("[", ["[no file matches []"]),
    ],
)
def test_glob_finds_files_by_name(toolbox: Toolbox, pattern: str, expected: list[str]):
    assert use(toolbox, "glob", pattern=pattern).splitlines() == expected


def test_grep_finds_lines(toolbox: Toolbox):
    assert use(toolbox, "grep", pattern="asia.*").splitlines() == [
        "reports/2025.csv:2: Asia,12",
        "reports/2026/draft.md:2: Asia leads.",
    ]
    assert use(toolbox, "grep", pattern="asia", ignore_case=False) == "[no line matches]"
    assert use(toolbox, "grep", pattern="^Europe", path="reports/2025.csv") == "reports/2025.csv:3: Europe,9"
    assert use(toolbox, "grep", pattern="x", path="photo.bin") == "Error: photo.bin is not a text file (6 bytes)."
    assert use(toolbox, "grep", pattern="(").startswith("Error: The pattern is not a regular expression: missing )")


def test_grep_is_linear_for_any_expression(toolbox: Toolbox, root: Path):
    (root / "evil.txt").write_text(("a" * 50_000 + "b\n") * 10)
    began = time.process_time()

    for pattern in ("(a+)+$", "(a|a)*c", "(.*)*(.*)*x", "a{1,100}" * 8 + "c", "([a-z]+)*[A-Z]"):
        use(toolbox, "grep", pattern=pattern, ignore_case=False)
    for pattern in ("*a" * 200, "**/" * 100 + "x"):
        use(toolbox, "glob", pattern=pattern)

    assert time.process_time() - began < 5

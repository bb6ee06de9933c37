from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.agents.briefing import MAX_MEMORY, build_briefing, list_skills
from evaluation.tools import Workspace


def make(root: Path, files: dict[str, str]) -> Workspace:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return Workspace(root)


def test_briefing_holds_memory_of_previous_session(tmp_path: Path):
    workspace = make(tmp_path, {"MEMORY.md": "- Prefers tables.\n"})

    assert "<memory>\n- Prefers tables.\n</memory>" in build_briefing(workspace)


def test_long_memory_is_cut_with_a_note(tmp_path: Path):
    workspace = make(tmp_path, {"MEMORY.md": "x" * (MAX_MEMORY + 1)})

    assert "x\n[cut here; read MEMORY.md for the rest]\n</memory>" in build_briefing(workspace)


def test_briefing_without_memory_and_skills(tmp_path: Path):
    text = build_briefing(Workspace(tmp_path))

    assert "<memory>\n(nothing yet)\n</memory>" in text
    assert "Skills" not in text


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("# Case law\nMore.", "Case law"),
        ("---\nname: x\ndescription: 'Finds case law.'\n---\n# Title", "Finds case law."),
        ("---\nname: x\n---\n\nReads files.\n", "Reads files."),
        ("---\ndescription: >\n  folded\n---\n# Title", "Title"),
        ("\n\n", "no description"),
        ("x" * 1_000, "x" * 300),
    ],
)
def test_skill_is_listed_by_name_and_first_line(tmp_path: Path, text: str, description: str):
    workspace = make(
        tmp_path, {"skills/case-law/SKILL.md": text, "skills/case-law/more.md": "x", "skills/README.md": "y"}
    )

    assert list_skills(workspace) == [("case-law", description)]
    assert f"- case-law: {description} (skills/case-law/SKILL.md)" in build_briefing(workspace)
    assert f"- skills/case-law/SKILL.md: {description}" in build_briefing(workspace, loop=1)


def test_links_are_neither_skills_nor_memory(tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "SKILL.md").write_text("secret")
    workspace = make(tmp_path / "ws", {"skills/real/SKILL.md": "Real."})
    (tmp_path / "ws" / "skills" / "linked").symlink_to(tmp_path / "outside")
    (tmp_path / "ws" / "MEMORY.md").symlink_to(tmp_path / "outside" / "SKILL.md")

    assert list_skills(workspace) == [("real", "Real.")]
    assert "secret" not in build_briefing(workspace)

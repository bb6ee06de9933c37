from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluation.protocol.participants import AgentError
from evaluation.tools.workspace import WorkspaceLimits
from evaluation.workspaces import manifests
from evaluation.workspaces.manifests import (
    MissingContentError,
    folder_reader,
    manifest_reader,
    rebuild_workspace,
    safe_path,
    stage_files,
    store_files,
)
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec, Skill
from tests.evaluation.builders import task
from tests.evaluation.contents import MemoryContents

CONTENTS = MemoryContents()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return workspace


def ref(path: str, sha256: str) -> FileRef:
    return FileRef(path=path, sha256=sha256, size=1)


def test_staging_replaces_skills_and_adds_task_files():
    before = {"notes.md": "n", "own.md": "o", "skills/old/SKILL.md": "s", "MEMORY.md": "m"}
    persona = PersonaSpec(user_id="p", skills=(Skill(name="new", files=(ref("SKILL.md", "k"),)),))
    spec = task("a", assets=(ref("notes.md", "N"), ref("data/x.csv", "x")))

    assert stage_files(before, persona, spec) == {
        "notes.md": "N",
        "own.md": "o",
        "MEMORY.md": "m",
        "skills/new/SKILL.md": "k",
        "data/x.csv": "x",
    }


def test_only_the_tasks_skills_are_staged():
    skills = tuple(Skill(name=name, files=(ref("SKILL.md", name),)) for name in ("one", "two"))

    files = stage_files({}, PersonaSpec(user_id="p", skills=skills), task("a", skills=("two",)))

    assert files == {"skills/two/SKILL.md": "two"}


def test_staged_files_and_folders_replace_each_other():
    spec = task("a", assets=(ref("a", "file"), ref("b/c", "deep")))

    assert stage_files({"a/x": "1", "a/y/z": "2", "b": "3"}, PersonaSpec(user_id="p"), spec) == {
        "a": "file",
        "b/c": "deep",
    }


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a\0b", "."])
def test_path_out_of_the_workspace_is_invalid(path: str):
    with pytest.raises(ValueError, match="workspace"):
        safe_path(path)


def test_rebuilt_workspace_equals_the_stored_one(folder: Path, tmp_path: Path):
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "ü.bin").write_bytes(b"\0\xff")
    (folder / "empty").write_bytes(b"")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "left" / "over").mkdir(parents=True)
    (elsewhere / "empty").mkdir()

    manifest = store_files(folder, {}, CONTENTS.keep)
    rebuild_workspace(manifest, elsewhere, CONTENTS.read)

    assert {str(path.relative_to(elsewhere)) for path in elsewhere.rglob("*") if path.is_file()} == set(manifest)
    assert (elsewhere / "deep/er/ü.bin").read_bytes() == b"\0\xff"
    assert manifest_reader(manifest, CONTENTS.read)("./deep/er/ü.bin") == b"\0\xff"
    assert manifest_reader(manifest, CONTENTS.read)("deep") is None


def test_links_pipes_and_invalid_names_are_left_out(folder: Path, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    (folder / "link").symlink_to(secret)
    (folder / "folder").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"bad\xff")).write_text("x")
    (folder / "good").write_text("x")

    assert list(store_files(folder, {}, CONTENTS.keep)) == ["good"]
    read = folder_reader(folder)
    assert [read(path) for path in ("link", "folder/secret", "../secret", str(secret), "pipe", "good")] == [
        *[None] * 5,
        b"x",
    ]


def test_too_many_files_are_the_agents_failure(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evaluation.workspaces.manifests.MAX_FILES", 2)
    for n in range(3):
        (folder / str(n)).touch()

    with pytest.raises(AgentError, match="more than 2 files"):
        store_files(folder, {}, CONTENTS.keep)


def test_missing_content_names_the_file(folder: Path):
    [stored] = CONTENTS.keep([b"a"])

    with pytest.raises(MissingContentError, match=r"lost\.md"):
        rebuild_workspace({"a": stored, "lost.md": "0" * 64}, folder, CONTENTS.read)


def test_whatever_a_workspace_may_hold_fits_into_a_snapshot():
    limits = WorkspaceLimits()

    assert limits.files < manifests.MAX_FILES
    assert limits.total_bytes < manifests.MAX_BYTES

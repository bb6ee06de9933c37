"""Folders of agents, and what becomes of those whose process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evaluation.workspaces.folders import sweep_folders, temporary_folder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


KILLED = """
import os, signal
from evaluation.workspaces.folders import temporary_folder
with temporary_folder() as folder:
    (folder / "notes.md").write_text("half a report")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_in_its_folder(temporary: Path) -> None:
    """A process that is killed while an agent works in its folder."""
    ended = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(temporary)}, check=False)
    assert ended.returncode == -signal.SIGKILL


def test_folder_of_a_killed_process_is_swept(temporary: Path):
    killed_in_its_folder(temporary)
    assert [path.name for path in temporary.glob("*/*")] == ["notes.md"]

    assert sweep_folders() == 1
    assert list(temporary.iterdir()) == []


def test_folder_in_use_is_not_swept(temporary: Path):
    with temporary_folder() as folder:
        (folder / "notes.md").write_text("under way")

        assert sweep_folders() == 0
        assert (folder / "notes.md").read_text() == "under way"
    assert list(temporary.iterdir()) == []


def test_link_in_place_of_a_folder_is_not_followed(temporary: Path, tmp_path_factory: pytest.TempPathFactory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept.md").write_text("precious")
    (temporary / "pi-bench-workspace-x").symlink_to(elsewhere)

    sweep_folders()

    assert (elsewhere / "kept.md").exists()

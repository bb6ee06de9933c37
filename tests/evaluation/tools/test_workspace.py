from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.tools import toolbox_for
from evaluation.tools.workspace import Workspace, WorkspaceEntry, WorkspaceError, WorkspaceLimits

SECRET = "outside-4242"
PIECES = [
    "..",
    ".",
    "",
    "a",
    "b",
    "link",
    "loop",
    "up",
    "file.md",
    "secret",
    "etc",
    "passwd",
    "~",
    "\\",
    "\0",
    "\n",
    "ü",
    "x" * 300,
]
paths = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("/".join),
    st.text(max_size=30),
    st.lists(st.sampled_from(PIECES), max_size=5).map(lambda parts: "/" + "/".join(parts)),
)


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace beside a secret, with links that lead to it: ``outside/secret`` and ``outside/ws``."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text(SECRET)
    root = outside / "ws"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "file.md").write_text("inside")
    (root / "link").symlink_to(outside / "secret")
    (root / "up").symlink_to(outside)
    (root / "a" / "loop").symlink_to(root / "a")
    os.mkfifo(root / "a" / "pipe")
    return root


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(path=paths, other=paths)
def test_no_path_leads_out_of_the_workspace(trap: Path, path: str, other: str):
    outside = trap.parent
    before = sorted(entry.name for entry in outside.iterdir())
    toolbox = toolbox_for(Workspace(trap, WorkspaceLimits(files=2_000)), [])

    results = [
        toolbox.call(name, json.dumps(arguments)).result
        for name, arguments in (
            ("read_file", {"path": path}),
            ("write_file", {"path": path, "content": "x"}),
            ("edit_file", {"path": path, "old_text": "outside", "new_text": "y"}),
            ("list_dir", {"path": path}),
            ("glob", {"pattern": path or "*"}),
            ("grep", {"pattern": "outside-", "path": other}),
        )
    ]

    assert SECRET not in "\n".join(results)
    assert (outside / "secret").read_text() == SECRET
    assert sorted(entry.name for entry in outside.iterdir()) == before
    assert (trap / "link").is_symlink()
    assert (trap / "up").is_symlink()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path, WorkspaceLimits(file_bytes=100, total_bytes=150, files=3))


def test_files_are_written_with_their_folders_and_read_back(workspace: Workspace):
    workspace.write("notes/2026/plan.md", b"one")
    workspace.write("notes/2026/plan.md", b"two\n")

    assert workspace.read("./notes//2026/plan.md") == b"two\n"
    assert list(workspace.entries(deep=True)) == [
        WorkspaceEntry("notes", folder=True),
        WorkspaceEntry("notes/2026", folder=True),
        WorkspaceEntry("notes/2026/plan.md", folder=False, size=4),
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/etc/passwd", "relative to the workspace"),
        ("~/x", "relative to the workspace"),
        ("a/../../x", "leads out of the workspace"),
        ("a\0b", "characters that no file name may have"),
        ("x" * 256, "at most 255 bytes"),
        ("/".join("abcdefghijklmnopqrstuvwxyzabcdefgh"), "at most 32 deep"),
        (".", "not the workspace itself"),
        ("\ud800", "characters that no file name may have"),
        ("notes/CON", "stands for a device"),
        ("notes./a", "ends in a dot or a space"),
        ("a\u202efdp.exe", "can disguise it"),
    ],
)
def test_invalid_path_is_rejected_with_the_reason(workspace: Workspace, path: str, message: str):
    with pytest.raises(WorkspaceError, match=message):
        workspace.write(path, b"x")


def test_file_size_is_limited(workspace: Workspace):
    with pytest.raises(WorkspaceError, match="A file may hold at most"):
        workspace.write("a", b"x" * 101)


def test_total_size_is_limited_and_shrinking_makes_room(workspace: Workspace):
    workspace.write("a", b"x" * 100)
    with pytest.raises(WorkspaceError, match="The workspace may hold at most"):
        workspace.write("b", b"x" * 60)

    workspace.write("a", b"x")
    workspace.write("b", b"x" * 60)

    assert workspace.read("b") == b"x" * 60


def test_number_of_files_is_limited(workspace: Workspace):
    for name in "abc":
        workspace.write(name, b"")

    workspace.write("a", b"again")
    with pytest.raises(WorkspaceError, match="at most 3 files"):
        workspace.write("d", b"")
    with pytest.raises(WorkspaceError, match="does not exist"):
        workspace.read("d")


def test_existing_files_count_against_the_limits(tmp_path: Path):
    (tmp_path / "old").write_bytes(b"x" * 80)
    workspace = Workspace(tmp_path, WorkspaceLimits(file_bytes=100, total_bytes=100))

    with pytest.raises(WorkspaceError, match="The workspace may hold"):
        workspace.write("new", b"x" * 30)


def test_links_pipes_and_folders_are_not_read_as_files(trap: Path):
    workspace = Workspace(trap)

    for path, message in (
        ("link", "not a plain file"),
        ("up/secret", "not a folder"),
        ("a/pipe", "not a plain file"),
        ("a", "is a folder"),
        ("a/file.md/x", "not a folder"),
        ("nowhere/x", "does not exist"),
    ):
        with pytest.raises(WorkspaceError, match=message):
            workspace.read(path)
    assert "link" not in [entry.path for entry in workspace.entries(deep=True)]

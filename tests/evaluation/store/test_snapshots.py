from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from evaluation.models import Run, Snapshot
from evaluation.store.snapshots import take_snapshot
from evaluation.workspaces.manifests import Manifest, store_files
from studio.models import Blob
from tests.evaluation.builders import benchmark_of, pilot_of, task

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return pilot_of(benchmark_of(task("a"))).runs.get()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def files(folder: Path, known: Mapping[str, str] | None = None) -> Manifest:
    return store_files(folder, known or {}, Blob.objects.store)


def test_unchanged_workspace_is_stored_once(run: Run, folder: Path):
    (folder / "a").write_text("a")
    first = take_snapshot(run, files(folder))
    blobs = Blob.objects.count()

    second = take_snapshot(run, files(folder, first.manifest))

    assert (second, Snapshot.objects.count(), Blob.objects.count()) == (first, 1, blobs)

"""What tests of every app share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio.local.browser import find_chromium


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if find_chromium() is None:
        skip = pytest.mark.skip(reason="chromium is missing: as root, `apt-get install chromium` brings it")
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def pibench_data() -> Path:
    """The folder of real personas: beside the checkout, or named by PIBENCH_DATA."""
    named = os.environ.get("PIBENCH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "pibench"
    if not folder.is_dir():
        pytest.skip(f"real personas are not at {folder}; name their folder in PIBENCH_DATA")
    return folder

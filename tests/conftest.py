"""What tests of every app share."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from studio.dev.browser import missing_packages


def pytest_collection_finish() -> None:
    """What is imported by now stays to the end: without this, each collection of garbage walks through all of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    in_a_browser = [item for item in items if item.get_closest_marker("browser")]
    if in_a_browser and (missing := " ".join(missing_packages())):
        for item in in_a_browser:
            item.add_marker(pytest.mark.skip(reason=f"as root, `apt-get install {missing}` brings what is missing"))


@pytest.fixture(scope="session")
def pibench_data() -> Path:
    """The folder of real personas: beside the checkout, or named by PIBENCH_DATA."""
    named = os.environ.get("PIBENCH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "pibench"
    if not folder.is_dir():
        pytest.skip(f"real personas are not at {folder}; name their folder in PIBENCH_DATA")
    return folder

"""What tests of every app share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def pibench_data() -> Path:
    """The folder of real personas: beside the checkout, or named by PIBENCH_DATA."""
    named = os.environ.get("PIBENCH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "pibench"
    if not folder.is_dir():
        pytest.skip(f"real personas are not at {folder}; name their folder in PIBENCH_DATA")
    return folder

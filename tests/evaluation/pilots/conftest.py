"""Fixtures of tests that run pilots on a stub model."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def quick_retries(settings: Any) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    settings.SESSION_ATTEMPTS = 2


@pytest.fixture
def stub_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", "none")

"""Clients of these tests wait by a clock of their own, so the endpoint's limits must not wait by the real one."""

from __future__ import annotations

import pytest

from evaluation.llm.rates import Rates


@pytest.fixture(autouse=True)
def no_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.llm.admission.read_rates", lambda status, headers: Rates())

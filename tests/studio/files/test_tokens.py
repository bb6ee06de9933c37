from __future__ import annotations

import pytest

from studio.files import tokens
from studio.files.tokens import PERIOD_SECONDS, FileTokens

SHA256 = "a" * 64


def test_token_gives_back_the_file_in_its_benchmark():
    token = FileTokens(1).seal(SHA256, 7)

    assert FileTokens(1).unseal(token) == (SHA256, 7)
    assert FileTokens(1).seal(SHA256, 7) == token


@pytest.mark.parametrize("token", ["", "x", "x:y"])
def test_text_that_the_studio_did_not_make_is_no_token(token: str):
    assert FileTokens(1).unseal(token) is None


def test_token_is_not_valid_in_another_benchmark():
    assert FileTokens(2).unseal(FileTokens(1).seal(SHA256, 7)) is None


@pytest.mark.parametrize(("days", "valid"), [(0, True), (29, True), (61, False), (-61, False)])
def test_token_expires_after_one_to_two_months(days: int, valid: bool, monkeypatch: pytest.MonkeyPatch):
    now = 600 * PERIOD_SECONDS + 5
    monkeypatch.setattr(tokens.time, "time", lambda: now)
    token = FileTokens(1).seal(SHA256, 7)

    monkeypatch.setattr(tokens.time, "time", lambda: now + days * 24 * 3600)

    assert (FileTokens(1).unseal(token) is not None) == valid

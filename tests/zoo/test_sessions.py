"""Whole pilots of two sessions on every service, in every seat, through the studio's own path."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Sum

from evaluation.audits.rounds import choose_rounds
from evaluation.audits.sessions import auditable_sessions, freeze_session
from evaluation.models import ModelCall, ModelEndpoint, Pilot, Session, Turn
from evaluation.results.pilot_report import pilot_report
from evaluation.sandbox import why_unavailable
from evaluation.tools.programs import nanobot_packages
from studio.local.paths import data_folder
from tests.zoo.server import Zoo, playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES
from tests.zoo.sessions import (
    KEY_VARIABLE,
    KINDS,
    MARK,
    answered,
    bill,
    leaks,
    play,
    refusals,
    stored_marks,
    total,
)
from tests.zoo.table import RECORD, keep, known

QUICK = ("openai-responses", "openai-chat", "deepseek", "gemini", "openrouter", "vllm-bare")
COLUMNS = {"cached": "cached_tokens", "written": "cache_written_tokens", "reasoning": "reasoning_tokens"}
MILLIONTH = Decimal("0.000001")
"""Of a dollar: to which the cost of a call is rounded."""
PRIVATE = {"Turn.thoughts"}
"""Where thoughts may stand readable: for who reads the transcript."""

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def settings_of_tests(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    settings.SESSION_ATTEMPTS = 2
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_two_sessions_end_thoughts_stay_private_and_every_token_is_paid_once(name: str):
    with playing(SERVICES[name]()) as zoo:
        examine(zoo, play(zoo))


@pytest.mark.minutes
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SERVICES)
def test_every_kind_of_agent_works_on_every_service(name: str, kind: str, monkeypatch: pytest.MonkeyPatch):
    if kind in ("command", "nanobot") and (words := why_unavailable()):
        pytest.skip(words)
    if kind == "nanobot":
        monkeypatch.setenv("STUDIO_DATA_DIR", str(data_folder().parent))  # installed for the studio, not for its tests
        if nanobot_packages() is None:
            pytest.skip("nanobot is not installed: make nanobot-agent")
    with playing(SERVICES[name]()) as zoo:
        facts = examine(zoo, play(zoo, kind))
    if os.environ.get(RECORD):
        keep(name, kind, facts)
    assert facts == known(name, kind)


@pytest.mark.minutes
@pytest.mark.parametrize("name", SERVICES)
def test_a_service_at_an_address_that_says_nothing_of_it_is_recognised_by_what_it_sends(name: str):
    with playing(SERVICES[name]()) as zoo:
        examine(zoo, play(zoo, dialect=""), settled=False)


def examine(zoo: Zoo, pilot: Pilot, *, settled: bool = True) -> dict[str, Any]:
    """Asserts what holds on every service; what differs comes back. ``settled``: its dialect is known."""
    service = zoo.service
    sessions = list(Session.objects.values_list("state", "reason", "turn_count"))
    assert (pilot.state, sessions) == ("finished", [("finished", "", 2)] * 2), refusals(service)
    assert (service.lost, service.foreign) == ([], [])
    _nobody_reads_thoughts(zoo, pilot)
    _every_token_is_counted(zoo, settled=settled)
    assert all(count == 1 for count in refusals(service).values()), "what was refused once is not sent again"
    return {"refused": sorted({words for *_, words in refusals(service)}), "learned": _learned()}


def _nobody_reads_thoughts(zoo: Zoo, pilot: Pilot) -> None:
    assert leaks(zoo.service.log) == []
    replies = list(Turn.objects.values_list("reply", flat=True))
    assert all(replies) and not any("<think>" in reply for reply in replies)
    rows = list(auditable_sessions([pilot], choose_rounds([pilot], None)))
    assert len(rows) == 2
    packets = [freeze_session(row, "judge", [])[0] for row in rows]
    assert not MARK.search(repr(packets))
    assert not MARK.search(json.dumps(pilot_report(pilot), default=str))
    assert stored_marks() <= PRIVATE


def _every_token_is_counted(zoo: Zoo, *, settled: bool) -> None:
    service = zoo.service
    calls = ModelCall.objects.filter(answered=True)
    assert calls.count() == len(answered(service))
    used = calls.aggregate(
        prompt=Sum("prompt_tokens"),
        completion=Sum("completion_tokens"),
        **{name: Sum(column) for name, column in COLUMNS.items()},
        paid=Sum("cost"),
    )
    counted = {name: total(service, name) for name in ("prompt", "completion")}
    counted |= {name: total(service, name) if name in service.tells else None for name in COLUMNS}
    assert {name: used[name] for name in counted} == counted
    assert abs(used["paid"] - bill(service)) < MILLIONTH * len(answered(service))
    assert sum(Session.objects.values_list("cost", flat=True), Decimal(0)) == used["paid"]
    for seat in ("agent", "user", "judge"):
        own = [entry.counted for entry in answered(service) if entry.seat == seat]
        told = sum(Session.objects.values_list(f"{seat}_tokens", flat=True))
        assert told == sum(each.prompt + each.completion for each in own)


def _learned() -> Mapping[str, Any]:
    """What is left out or sent otherwise since it was refused, of all seats together."""
    found: dict[str, Any] = {}
    for facts in ModelEndpoint.objects.values_list("learned", flat=True):
        for name, value in facts.items():
            if name == "of":  # the address, which differs each time
                continue
            found[name] = sorted({*found.get(name, ()), *value}) if isinstance(value, list) else value
    return found

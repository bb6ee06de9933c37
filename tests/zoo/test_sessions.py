"""Whole pilots on every service, through the studio's own path."""

from __future__ import annotations

import pytest

from evaluation.models import Session
from tests.zoo.server import playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES
from tests.zoo.sessions import KEY_VARIABLE, bill, leaks, play, refusals, stored_marks, total

pytestmark = [pytest.mark.django_db]


@pytest.fixture(autouse=True)
def settings_of_tests(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    settings.SESSION_ATTEMPTS = 2
    monkeypatch.setenv(KEY_VARIABLE, KEY)


@pytest.mark.parametrize("name", [name for name in SERVICES])
def test_probe(name: str):
    with playing(SERVICES[name]()) as zoo:
        pilot = play(zoo)
        print(name, pilot.state, list(Session.objects.values_list("state", "reason", "turn_count")))
        print("refusals", refusals(zoo.service))
        print("leaks", leaks(zoo.service.log)[:3])
        print("lost", zoo.service.lost[:2], zoo.service.foreign[:3])
        print("stored", stored_marks())
        print("tokens", total(zoo.service, "prompt"), bill(zoo.service))
    assert pilot.state == "finished"

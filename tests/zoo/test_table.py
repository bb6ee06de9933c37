from __future__ import annotations

from tests.zoo import test_sessions
from tests.zoo.services import SERVICES
from tests.zoo.table import KINDS, MARK, PAGE, read_results, render


def test_the_page_of_tested_services_is_current():
    assert PAGE.read_text() == render(), "run `python -m tests.zoo.table`"


def test_every_service_was_played_by_every_kind():
    assert {name: set(kinds) for name, kinds in read_results().items()} == {name: set(KINDS) for name in SERVICES}


def test_playing_everything_again_finds_the_tests_that_do():
    played = test_sessions.test_every_kind_of_agent_works_on_every_service
    assert MARK in {mark.name for mark in vars(played)["pytestmark"]}

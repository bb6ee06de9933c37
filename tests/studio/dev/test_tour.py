"""The tour that precedes the screenshots, in a studio of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.local.processes import start

# In its own process: two browser drivers cannot share one.
GO = """
import json
from studio.dev.pictures import chromium, own_studio
from studio.dev.tour import Tour

with own_studio() as address, chromium() as browser:
    tour = Tour(browser, address)
    answers = {}
    for shot in tour.take():
        page = tour.pages["owner" if shot.who == "nobody" else shot.who]
        answers[shot.name] = page.context.request.get(address + shot.url).status
    print(json.dumps(answers))
"""


@pytest.mark.minutes  # `tests/e2e/test_every_page.py` opens the same pages; this one also takes the way to them
@pytest.mark.timeout(420)  # a studio starts, and a pilot of seven sessions runs in it
def test_every_page_of_the_tour_answers(tmp_path: Path):
    output, _ = start(["-c", GO], tmp_path).communicate(timeout=400)

    answers = json.loads(output.strip().splitlines()[-1])
    assert {name: status for name, status in answers.items() if status != 200} == {"not-found": 404}
    assert len(answers) > 60

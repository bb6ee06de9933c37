"""A scripted model is called scripted wherever it is named, whatever its name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from studio.models import Role
from tests.everywhere.test_roles import requests
from tests.everywhere.world import World, build_world

pytestmark = pytest.mark.django_db

NAME = "marvin"
ROWS = ("tr", "li", "option")
WAITING = {"evaluation:api_proposals", "evaluation:api_proposal"}
"""A proposal is marked by the answer, which has not come."""


@pytest.fixture
def world() -> World:
    return build_world(NAME)


def pages(world: World) -> Iterator[tuple[str, str]]:
    """The name of its address and the text of each that names the models."""
    client = Client()
    client.force_login(world.people[Role.OWNER])
    for route, method, _, address in requests(world):
        answer = client.get(address) if method == "GET" else None
        if answer is not None and not answer.streaming and NAME in (text := answer.content.decode(errors="replace")):
            yield route.name, text


def is_silent(text: str) -> bool:
    """Whether it names a scripted model and does not call it that; the name of its script does not count."""
    return NAME in text and not re.search(r"scripted(?!-)(?!\"?: ?false)", text, re.IGNORECASE)


def silent_rows(page: LexborHTMLParser) -> list[str]:
    return [row.text(deep=True) for row in page.css(",".join(ROWS)) if is_silent(row.text(deep=True))]


@pytest.mark.slow
def test_every_page_and_answer_that_names_a_scripted_model_says_so(world: World):
    silent, seen = [], set()
    for name, text in pages(world):
        seen.add(name)
        page = LexborHTMLParser(text)
        if is_silent(page.body.text() if name.startswith("studio:") or text.startswith("<!") else text):
            silent.append(name)
        silent += [f"{name}: {' '.join(row.split())}" for row in silent_rows(page)]

    assert set(silent) == WAITING
    assert len(seen) > 25


@pytest.mark.parametrize("style", ["markdown", "latex"])
def test_every_table_for_a_paper_that_names_a_scripted_agent_says_so(world: World, style: str):
    client = Client()
    client.force_login(world.people[Role.OWNER])

    answer = client.get(f"/benchmarks/{world.benchmark.slug}/results/?format={style}").content.decode()

    tables = [table for table in re.split(r"\\end\{table\}|\n\n(?=[A-Z])", answer) if NAME in table]
    assert len(tables) == 5 and not any(map(is_silent, tables))

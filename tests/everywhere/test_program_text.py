"""No page shows what is meant for programs, or sentences of the framework instead of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from studio.models import Role
from tests.everywhere.test_roles import requests, send
from tests.everywhere.world import World, build_world

pytestmark = pytest.mark.django_db

PROGRAM_TEXT = re.compile(
    r"object at 0x|<class |(?<=[a-z:·=(] )None\b|\b(?:True|False)\b|\[\(|\(\[|\{'|\['|'\]|\('|',\)|', '|\bDecimal\("
    r"|datetime\.|QuerySet|__proxy__|\bnan\b|\{\{|\{%|\b[a-z]+Error\b|Traceback"
)
FRAMEWORK = re.compile(
    r"This field cannot be|Select a valid choice|Enter a valid (?!email)|Ensure (?:this|that there)"
    r"|already exists\.$|with this .* already exists|Please (?:submit|correct|enter)"
    r"|Input should be|not one of the available"
    r"|Enter a list|This value|is not a valid|ManagementForm"
)
NOT_READ = "pre, code, textarea, script, style, template, option, svg"
"""Where people's own words, JSON and code stand."""


@pytest.fixture
def world() -> World:
    return build_world()


def texts(answer: HttpResponseBase) -> Iterator[str]:
    if not answer.get("Content-Type", "").startswith("text/html"):
        return
    page = LexborHTMLParser(answer.content)  # type: ignore[attr-defined]
    for node in page.css(NOT_READ):
        node.decompose()
    for node in page.css("body *"):
        for name in ("title", "aria-label", "placeholder", "alt"):
            yield node.attributes.get(name) or ""
    yield from (page.body.text(separator="\n") if page.body else "").splitlines()


def problems(answer: HttpResponseBase) -> set[tuple[str, str]]:
    return {
        (match[0], text.strip()[:160])
        for text in texts(answer)
        for pattern in (PROGRAM_TEXT, FRAMEWORK)
        if (match := pattern.search(text.strip()))
    }


def forms_in(answer: HttpResponseBase, address: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Where each form of the page is sent, with something that fits none of its fields."""
    if answer.get("Content-Type", "").startswith("text/html"):
        for form in LexborHTMLParser(answer.content).css("form[method=post i]"):  # type: ignore[attr-defined]
            controls = form.css("input[name], select[name], textarea[name]")
            names = {control.attributes["name"] or "" for control in controls} - {"csrfmiddlewaretoken"}
            yield form.attributes.get("action") or address, dict.fromkeys(sorted(names), "☃")


@pytest.mark.slow
def test_no_page_shows_program_text_or_the_frameworks_own_sentences(world: World):
    client = Client()
    client.force_login(world.people[Role.OWNER])
    found, seen, sent = set(), 0, 0
    for route, method, _, address in requests(world):
        answer = send(client, method, address, route.name, world)
        found |= {(method, route.name, *problem) for problem in problems(answer)}
        seen += 1
        for action, fields in forms_in(answer, address) if method == "GET" else ():
            if not action.startswith("/") or "logout" in action:
                continue
            sent += 1
            with transaction.atomic():
                refused = client.post(action, fields)
                transaction.set_rollback(True)
            found |= {("☃", action, *problem) for problem in problems(refused)}

    assert found == set()
    assert seen > 150 and sent > 100

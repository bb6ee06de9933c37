"""The frame around every page: which room one is in, and what the browser was told to remember."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory
from django.urls import resolve

from studio.models import User
from studio.web.context import frame


def around(path: str, *, user: Any = None, **cookies: str) -> dict[str, Any]:
    request = RequestFactory().get(path)
    request.resolver_match = resolve(path)
    request.user = user or AnonymousUser()
    request.COOKIES.update(cookies)
    framed: dict[str, Any] = frame(request)["frame"]
    return framed


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("/", "home"),
        ("/happened/", "home"),
        ("/introduction/", "home"),
        ("/benchmarks/", "benchmarks"),
        ("/b/sample/tasks/", "benchmarks"),
        ("/b/sample/p/baker/tasks/1/", "benchmarks"),
        ("/benchmarks/sample/models/", "benchmarks"),
        ("/benchmarks/sample/results/", "benchmarks"),
        ("/pilots/", "pilots"),
        ("/sessions/1/", "pilots"),
        ("/audits/", "audits"),
        ("/audits/mine/", "audits"),
        ("/releases/", "releases"),
        ("/settings/", "settings"),
        ("/settings/models/", "settings"),
        ("/search/", ""),
        ("/styleguide/", ""),
    ],
)
def test_a_page_is_in_its_room(path: str, room: str):
    assert [one["icon"] for one in around(path)["rooms"] if one["here"]] == [room] * bool(room)


@pytest.mark.parametrize(
    ("cookies", "theme", "rail"),
    [
        ({}, "", ""),
        ({"theme": "dark", "rail": "open"}, "dark", "open"),
        ({"theme": "light", "rail": "closed"}, "light", "closed"),
        ({"theme": '"><script>', "rail": "ajar"}, "", ""),
    ],
)
def test_theme_and_sidebar_are_as_chosen_and_nothing_else(cookies: dict[str, str], theme: str, rail: str):
    found = around("/", **cookies)

    assert (found["theme"], found["rail"]) == (theme, rail)


@pytest.mark.parametrize(("works", "keys"), [(True, ""), (False, "off")])
def test_single_keys_are_off_for_whoever_switched_them_off(works: bool, keys: str):
    assert around("/", user=User(letter_keys=works))["keys"] == keys

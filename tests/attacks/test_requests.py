"""An error of the studio from what is asked for: every address with hostile values in its query, every form with
hostile values in its fields."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from studio.models import Role
from tests.everywhere.test_roles import query_for, requests
from tests.everywhere.world import World, build_world
from tests.studio.page_forms import forms_of

pytestmark = pytest.mark.django_db

HOSTILE = [
    *("\0", "²", "1" * 5000, "9" * 19, "-1", "١٢", "1e999", "nan", "0x1f", "'", "[" * 5000, "{}", "a/../../b", "%00"),
    *("<b>", "2026-02-30", "9999-12-31", "0000-00-00", "\ud800", "é" * 3000, "a\r\nb: c", "\u202e", "null", "[1]", ""),
]
ALWAYS = 3
"""So many of the first are sent everywhere; the others take turns."""
TURNS = 1


@pytest.fixture(scope="module")
def world(module_db: None) -> World:
    return build_world()


@contextmanager
def names_asked_for(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Which names views look for in what they were sent."""
    asked: set[str] = set()
    with monkeypatch.context() as patched:
        for method in ("get", "getlist", "__getitem__", "__contains__"):
            usual = getattr(QueryDict, method)

            def noted(self: Any, name: Any, *rest: Any, usual: Any = usual, **more: Any) -> Any:
                if isinstance(name, str):
                    asked.add(name)
                return usual(self, name, *rest, **more)

            patched.setattr(QueryDict, method, noted)
        yield asked


def client_of(world: World, role: str) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(world.people[role])
    return client


def sent(client: Client, method: str, address: str, data: Any = None) -> int:
    """The status of an answer of which nothing stays."""
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    with transaction.atomic():
        answer = client.get(address) if method == "GET" else client.post(address, data)
        if answer.streaming:
            b"".join(answer)  # type: ignore[arg-type]
        transaction.set_rollback(True)
    client.cookies.load(cookies)
    return answer.status_code


def encoded(value: str) -> str:
    return quote(value.encode("utf-8", "surrogatepass"))


def values() -> Iterator[list[str]]:
    turns = cycle(HOSTILE[ALWAYS:])
    while True:
        yield [*HOSTILE[:ALWAYS], *(next(turns) for _ in range(TURNS))]


@pytest.mark.minutes
@pytest.mark.timeout(1800)
def test_an_error_from_a_query(world: World, monkeypatch: pytest.MonkeyPatch):
    client, chosen = client_of(world, Role.OWNER), values()
    failed, tried = [], 0
    for route, method, _, address in list(requests(world)):
        if method != "GET":
            continue
        with names_asked_for(monkeypatch) as names:
            sent(client, "GET", address)
        usual = query_for(route.name, world)
        mark = "&" if usual else "?"
        for name in sorted(names):
            for value in next(chosen):
                tried += 1
                status = sent(client, "GET", f"{address}{mark}{quote(name)}={encoded(value)}")
                failed += [f"{route.name}?{name}={value[:20]!r}: {status}"] if status >= 500 else []

    assert tried > 1000
    assert not failed, "\n".join(failed)


def posted_forms(client: Client, world: World) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Each form that a page shows, once for each address it is sent to, with what it holds."""
    seen: set[tuple[str, ...]] = set()
    for _, method, _, address in list(requests(world)):
        if method != "GET" or address.startswith("/api/"):
            continue
        answer = client.get(address)
        if answer.streaming or "html" not in answer.headers.get("Content-Type", ""):
            continue
        for form in forms_of(answer.content.decode()):
            to = form.action or address
            data = form.data()
            name = where(to)
            if name and (key := (name, *sorted(data))) not in seen:
                seen.add(key)
                yield to, data


def where(address: str) -> str:
    """The name of a route; empty for an address elsewhere."""
    try:
        return resolve(urlsplit(address).path).view_name
    except Resolver404:
        return ""


@pytest.mark.minutes
@pytest.mark.timeout(1800)
def test_an_error_from_a_form(world: World, monkeypatch: pytest.MonkeyPatch):
    """As pages show it, with one field after the other hostile, as text and as a file; and with nothing but
    that."""
    client, chosen = client_of(world, Role.OWNER), values()
    forms = list(posted_forms(client, world))
    for _, method, _, address in list(requests(world)):
        if method == "POST" and not address.startswith("/api/"):
            with names_asked_for(monkeypatch) as names:
                sent(client, "POST", address, {})
            forms.append((address, {name: [""] for name in names}))
    failed, tried = [], 0
    for address, data in forms:
        for name in sorted(data):
            wrong: list[Any] = [value for value in next(chosen) if value != "\ud800"]
            for value in [*wrong, SimpleUploadedFile("a", b"\xff\0")]:
                tried += 1
                status = sent(client, "POST", address, data | {name: value})
                if status >= 500:
                    failed.append(f"{where(address)} {name}={str(value)[:20]!r}: {status}")

    assert tried > 1000
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize(
    "query",
    [
        "/benchmarks/world/pilots/new/?agent=%00",
        f"/benchmarks/world/pilots/estimate/?tokens={'1' * 5000}",
        *(f"/api/{rows}/?benchmark=%00" for rows in ("pilots", "releases", "audits")),
        "/audits/?benchmark=%00",
    ],
)
def test_an_error_from_queries_that_once_had_one(world: World, query: str):
    assert sent(client_of(world, Role.OWNER), "GET", query) in (200, 400)


def test_an_error_from_forms_that_once_had_one(world: World):
    client, place = client_of(world, Role.OWNER), ["world", world.persona.user_id, world.task.pk]
    deep = '[{"name": "a", "arguments": ' + "[" * 100_000

    assert {
        sent(client, "POST", reverse("studio:waive", args=place), {"fingerprint": "\0", "reason": "So."}),
        sent(client, "POST", reverse("studio:workflow_step", args=[*place, "submit"]), {"reviewer": "\0x"}),
        sent(client, "POST", "/benchmarks/world/pilots/new/", {"tokens": "1" * 5000}),
        sent(client, "POST", reverse("evaluation:task_validation", args=place), {"calls": deep}),
    } <= {200, 302, 409, 422}

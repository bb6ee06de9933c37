"""What somebody's own address gives of another benchmark when an id of that one is put into it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client

from studio.models import Role
from tests.everywhere.test_roles import more_for, query_for, requests, send
from tests.everywhere.world import World, build_world

pytestmark = pytest.mark.django_db
SECRET = "The zebrafish sleeps at noon."
ELSEWHERE = ("evaluation:endpoint", "mfa_")
"""Rows that belong to no benchmark."""


@pytest.fixture(scope="module")
def worlds(module_db: None) -> tuple[World, World]:
    return build_world(), build_world(slug="theirs", said=SECRET)


def ids_of(world: World, route: str) -> dict[str, object]:
    """By the names of arguments in addresses, and of what is asked for there."""
    return {
        "pk": world.key(route),
        "comment": world.suggestion.pk if route.startswith("studio:suggestion") else world.comment.pk,
        "suggestion": world.proposal.pk,
    }


def asked_of(world: World) -> dict[str, object]:
    return {
        **dict.fromkeys(("pilot", "pilots", "like", "with", "base", "first", "second"), world.pilot.pk),
        **dict.fromkeys(("session", "beside"), world.session.pk),
        **dict.fromkeys(("task", "tasks", "from"), world.task.pk),
        **dict.fromkeys(("release", "since"), world.release.pk),
        "history": f"session:{world.session.pk}",
        "within": f"pilot:{world.pilot.pk}",
        "file": world.token,
        "comment": world.comment.pk,
        "script": world.script.pk,
        "audit": world.campaign.pk,
        "example": world.session.pk,
        "persona": world.persona.pk,
        "benchmark": world.benchmark.slug,
    }


def swapped(mine: World, theirs: World) -> Iterator[tuple[str, str, str]]:
    """Name, method and address of everything of mine, with one id of theirs."""
    for route, method, _, _ in requests(mine):
        if route.name.startswith(ELSEWHERE):
            continue
        own = ids_of(mine, route.name) if "pk" in route.arguments else {}
        usual = more_for(route.name, mine)
        for name in sorted(route.arguments & {"pk", "comment", "suggestion"}):
            foreign = ids_of(theirs, route.name if "pk" in route.arguments else "studio:")[name]
            kept = {key: value for key, value in (own | usual).items() if key in route.arguments}
            yield route.name, method, route.reverse(mine, **kept | {name: foreign}) + query_for(route.name, mine)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_to_reach_a_row_of_another_benchmark_below_ones_own(worlds: tuple[World, World]) -> None:
    mine, theirs = worlds
    client = Client(raise_request_exception=False)
    client.force_login(mine.people[Role.OWNER])
    given, tried = [], 0
    for name, method, address in swapped(mine, theirs):
        tried += 1
        answer = send(client, method, address, name, mine)
        body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[arg-type, attr-defined]
        if answer.status_code not in (403, 404) or b"zebrafish" in body:
            given.append(f"{method} {name} {address}: {answer.status_code}")

    client.force_login(theirs.people[Role.OWNER])
    assert b"zebrafish" in client.get(theirs.task.get_absolute_url()).content  # where it stands
    assert tried > 150
    assert not given, "\n".join(given)


@pytest.mark.minutes
@pytest.mark.timeout(1200)
def test_to_be_shown_a_row_of_another_benchmark_by_asking_for_it(worlds: tuple[World, World]) -> None:
    mine, theirs = worlds
    client = Client(raise_request_exception=False)
    client.force_login(mine.people[Role.OWNER])
    shown = []
    for route, method, _, address in requests(mine):
        if method != "GET":
            continue
        for name, value in asked_of(theirs).items():
            mark = "&" if "?" in address else "?"
            answer = send(client, method, f"{address}{mark}{name}={value}", route.name, mine)
            body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[arg-type, attr-defined]
            if answer.status_code >= 500 or b"zebrafish" in body:
                shown.append(f"{route.name}?{name}={value}: {answer.status_code}")

    assert not shown, "\n".join(shown)

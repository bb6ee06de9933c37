"""Benchmarks in the states that pages tell apart, each with its people and the addresses to look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.test import Client
from django.urls import reverse

from studio.models import Role, User
from tests.everywhere.test_roles import requests, rules
from tests.everywhere.world import World, build_world, routes
from tests.factories import BenchmarkFactory, UserFactory, member


@dataclass
class Scene:
    people: dict[str, User]
    """By role, the one who is shown most first."""
    addresses: dict[str, str]
    """By the page's name."""


def looked_at(client: Client, address: str) -> Any:
    """The answer; that somebody looked changes nothing for the next one, nor that the address was the way out."""
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    with transaction.atomic():
        answer = client.get(address)
        transaction.set_rollback(True)
    client.cookies.load(cookies)
    return answer


def one_of_everything() -> Scene:
    world = build_world()
    pages = {
        route.name: address
        for route, method, _, address in requests(world)
        if method == "GET" and not address.startswith("/api/")
    }
    return Scene(world.people, pages | dict(narrowed(world)))


def narrowed(world: World) -> Iterator[tuple[str, str]]:
    """Pages that show something else when they are asked for it."""
    of_benchmark = reverse("studio:tasks", args=[world.benchmark.slug])
    yield "board-of-a-task", f"{world.persona.get_absolute_url()}?task={world.task.pk}"
    yield "tasks-without-any", f"{of_benchmark}?q=nothing-is-called-so"
    yield "tasks-by-state", f"{of_benchmark}?state=draft&findings=warning&writer=none"
    yield "search", f"{reverse('studio:search')}?q=rye"
    yield "search-of-what-was-said", f"{reverse('studio:search')}?q=rye&within={world.pilot.pk}"
    yield "search-without-any", f"{reverse('studio:search')}?q=nothing-is-called-so"
    yield (
        "new-task-from-one",
        f"{reverse('studio:task_new', args=[world.benchmark.slug, 'baker'])}?from=task:{world.task.pk}",
    )


def nothing_yet() -> Scene:
    """A benchmark that was just begun."""
    benchmark = BenchmarkFactory(slug="empty")
    people = {str(role): member(benchmark, role) for role in Role.values} | {"outsider": UserFactory()}
    known = rules()
    return Scene(
        people,
        {
            route.name: reverse(route.name, args=[benchmark.slug] if route.arguments else [])
            for route in routes()
            if route.arguments <= {"slug"}
            and known.get((route.name, "GET"), "public") != "public"
            and not route.address.startswith("api/")
        },
    )

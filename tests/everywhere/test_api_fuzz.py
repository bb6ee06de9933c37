"""Every operation of the API with generated requests, on rows that exist and rows that do not: never a 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance

from studio.models import Role
from tests.everywhere.world import World, build_world, routes
from tests.factories import api_token

pytestmark = pytest.mark.django_db

EXAMPLES = 3  # of each operation
CHECKS = [not_a_server_error, response_schema_conformance]


@pytest.fixture
def world() -> World:
    return build_world()


@pytest.fixture(autouse=True)
def open_connection() -> Iterator[None]:
    """A request to the application itself closes the connection of its thread, which here is the test's."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def key(world: World) -> dict[str, str]:
    token = api_token(world.people[Role.OWNER])
    return {"Authorization": f"Token {token}", "Accept-Encoding": "identity"}


def existing(world: World) -> dict[str, dict[str, Any]]:
    """By an operation's path: arguments that name rows."""
    known = {}
    for route in routes():
        if route.methods:
            path = "/" + route.address.replace("^", "").replace("$", "")
            values = world.arguments | {"pk": world.key(route.name)}
            known[_template(path)] = {name: values[name] for name in route.arguments}
    return known


def _template(path: str) -> str:
    """``api/<slug:slug>/`` and ``api/(?P<pk>…)/`` as OpenAPI writes them: ``/api/{slug}/``."""
    parts = []
    for part in path.split("/"):
        if part.startswith("<"):
            part = "{" + part.strip("<>").rpartition(":")[2] + "}"
        elif part.startswith("(?P<"):
            part = "{" + part[4:].partition(">")[0] + "}"
        parts.append(part)
    return "/".join(part for part in parts if part != ".]+)")


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.minutes)])
def test_no_operation_fails_whatever_it_is_sent(world: World, key: dict[str, str], every: int):
    app = get_wsgi_application()
    schema = schemathesis.openapi.from_wsgi("/api/schema/", app, headers=key)
    rows = existing(world)
    tried = 0

    for result in list(schema.get_all_operations())[::every]:
        operation = result.ok()
        named = _as_in(operation.path, rows[_bare(operation.path)]) if "{" in operation.path else {}

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(), there=st.sampled_from([True, True, True, False]))
        def fuzz(case: Any, there: bool) -> None:
            if there:
                case.path_parameters.update(named)  # noqa: B023  # called in this round of the loop
            with transaction.atomic():
                response = case.call(headers=key)
                transaction.set_rollback(True)
            case.validate_response(response, checks=CHECKS)

        fuzz()
        tried += 1
    assert tried * every > 30


def _as_in(path: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id" if name == "pk" and "{id}" in path else name: value for name, value in arguments.items()}


def _bare(path: str) -> str:
    """Without formats: ``{id}`` where the schema renames a key."""
    return path.replace("{id}", "{pk}")

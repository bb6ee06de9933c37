import ast
from argparse import ArgumentParser

import pytest

from studio.dev.private_names import foreign_names, overrides


@pytest.mark.parametrize(
    "code",
    [
        "from django.db.models.query import _annotations",
        "from mcp.client._transport import Transport",
        "import celery._state",
        "connection._pool.putconn(connection)",
        "getattr(connection, '_pool')",
        "class Store(SessionStore):\n    def forget(self):\n        self._session_key = self._session_cache",
    ],
)
def test_private_name_of_another_package_is_found(code: str) -> None:
    assert list(foreign_names(ast.parse(code), own=set()))


@pytest.mark.parametrize(
    "code",
    [
        "from studio.models import _ours",
        "_hidden = 1\nmodule._hidden",
        "class A:\n    def __init__(self, other):\n        self._own = other._own",
        "Task._meta.get_field('title')",
    ],
)
def test_own_and_documented_names_are_not(code: str) -> None:
    assert not list(foreign_names(ast.parse(code), own=set()))


def test_method_that_replaces_a_private_one_of_another_package_is_found() -> None:
    class Parser(ArgumentParser):
        def _get_formatter(self) -> None: ...

        def _ours(self) -> None: ...

    assert list(overrides(Parser)) == ["_get_formatter"]

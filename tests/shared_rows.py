"""Rows created once for all tests of a module.

A fixture of the scope “module” that asks for ``module_db`` creates them. A fixture of each test hands out a copy::

    @pytest.fixture(scope="module")
    def shared_board(module_db):
        return a_persona(BenchmarkFactory())

    @pytest.fixture
    def board(shared_board):
        return fresh(shared_board)

What a test changes is rolled back to these rows. Tests of the module that do not ask for them run before they are
there (see ``tests/conftest.py``). Not for tests marked ``django_db(transaction=True)``, and not for fixtures that patch
something.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

T = TypeVar("T")


def fresh(shared: T) -> T:
    """A copy, so that no test sees what another did to the objects; clients keep their cookies."""
    return copy.deepcopy(shared)


def _copy_client(client: Client, memo: dict[int, Any]) -> Client:
    made: Client = type(client)(headers=None, **client.defaults)
    made.cookies = copy.deepcopy(client.cookies, memo)
    if hasattr(client, "_credentials"):  # of the REST framework
        made._credentials = dict(client._credentials)  # type: ignore[attr-defined]
    return made


Client.__deepcopy__ = _copy_client  # type: ignore[attr-defined]  # middleware cannot be copied, and needs no copy


@pytest.fixture(scope="module")
def module_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A transaction around all tests of a module, each of which is a savepoint in it."""
    with django_db_blocker.unblock(), rolled_back():
        yield


@contextmanager
def rolled_back() -> Iterator[None]:
    """For fixtures with parameters, whose rows must not outlive them: ``with rolled_back(): yield ...``"""
    block = transaction.atomic()
    block._from_testcase = True  # type: ignore[attr-defined]  # durable blocks may begin in it, as in a test's own
    with block:
        yield
        transaction.set_rollback(True)

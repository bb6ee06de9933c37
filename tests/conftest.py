"""What tests of every app share."""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import hypothesis
import pytest
from django.db import connection
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

from studio.dev.browser import missing_packages
from tests.cpu_times import CpuTimes
from tests.emptying import empty_tables
from tests.shared_rows import module_db  # noqa: F401
from tests.template_database import migrated_database

# The same examples in every run; `--hypothesis-profile=default` looks for others. A busy machine breaks no deadline.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", action="store_true", help="list the tests that take most processor time")
    parser.addoption(
        "--accept-pages", action="store_true", help="pages are as they are: tests/everywhere/test_pages.py"
    )


def pytest_xdist_auto_num_workers() -> int:
    """One more than processors: tests in a browser or of processes wait much of their time."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_configure(config: pytest.Config) -> None:
    TransactionTestCase._fixture_teardown = lambda self: empty_tables()  # type: ignore[method-assign]
    if config.getoption("cpu_times"):
        config.pluginmanager.register(CpuTimes())


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each worker imports another part of the test modules first, so that in a new checkout each compiles that part
    for all: rewriting assertions takes longer than all else in collecting."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if not worker or session.config.args != session.config.getini("testpaths"):
        return
    paths = sorted((session.config.rootpath / "tests").rglob("test_*.py"))
    first = int(worker) * len(paths) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in paths[first:] + paths[:first]:
        with suppress(Exception):  # collection reports it
            import_module(".".join(path.relative_to(session.config.rootpath).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """What is imported by now stays to the end: without this, each collection of garbage walks through all of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(trylast=True)  # after the order has been shuffled
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last, so that one browser serves them all: others may need an event loop of their own. Before
    them, and among them, the longest come first, so that no worker waits for another at the end."""
    in_a_browser = {item for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item in in_a_browser, -_allowed_seconds(item)))
    _users_of_shared_rows_last(items)
    if in_a_browser and (missing := " ".join(missing_packages())):
        for item in in_a_browser:
            item.add_marker(pytest.mark.skip(reason=f"as root, `apt-get install {missing}` brings what is missing"))


def _users_of_shared_rows_last(items: list[pytest.Item]) -> None:
    """In each module, since the rows of `tests.shared_rows` are there from the first test that asks for them on."""
    places: dict[object, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        if marker := item.get_closest_marker("django_db"):
            places[item.path, str(marker.kwargs)].append(place)
    for own in places.values():
        ordered = sorted((items[place] for place in own), key=lambda item: "module_db" in _fixture_names(item))
        for place, item in zip(own, ordered, strict=True):
            items[place] = item


def _fixture_names(item: pytest.Item) -> list[str]:
    return list(getattr(item, "fixturenames", ()))


def _allowed_seconds(item: pytest.Item) -> float:
    timeout = item.get_closest_marker("timeout")
    if timeout is None or (item.get_closest_marker("django_db") and not item.get_closest_marker("browser")):
        return 0.0  # tests that empty the database stay where pytest-django put them, behind all others
    return float(timeout.args[0])


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated_database()


@pytest.fixture(scope="session")
def pibench_data() -> Path:
    """The folder of real personas: beside the checkout, or named by PIBENCH_DATA."""
    named = os.environ.get("PIBENCH_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "pibench"
    if not folder.is_dir():
        pytest.skip(f"real personas are not at {folder}; name their folder in PIBENCH_DATA")
    return folder

"""What each page says and offers, and to whom: as it was, or as `pages/` is told that it is now.

A file for each page: its outline for the first role that is shown it, then what others are shown instead of a line or
beside it. `make test ARGS="tests/everywhere/test_pages.py -m slow -n 0 --accept-pages"` writes them anew; in the commit
their difference tells what a change of pages changed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test import Client

from studio.models import Taxonomy
from tests.everywhere.outline import keys_from_here, outline
from tests.everywhere.scenes import Scene, looked_at, nothing_yet, one_of_everything
from tests.factories import BenchmarkFactory, UserFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(900)]

FOLDER = Path(__file__).with_name("pages")
HEAD = "== "
NOT_SHOWN = "the page is not shown"


@pytest.fixture(autouse=True)
def known_names(db: None) -> None:
    """People and benchmarks are called alike in every run, and there are no taxonomies but those of the scene."""
    for factory in (UserFactory, BenchmarkFactory):
        factory.reset_sequence(0)
    Taxonomy.objects.all().delete()


def shown(scene: Scene, role: str) -> Iterator[tuple[str, list[str]]]:
    """Each page that this role is shown, by its name."""
    client = Client(raise_request_exception=False)
    if role != "anonymous":
        client.force_login(scene.people[role])
    for name, address in scene.addresses.items():
        answer = looked_at(client, address)
        if answer.status_code == 200 and answer.get("Content-Type", "").startswith("text/html"):
            yield name, outline(answer.content)


def pages_of(scene: Scene) -> dict[str, dict[str, list[str]]]:
    """By the name of their file, and role: the outline for the first, and what is unlike it for the others."""
    pages: dict[str, dict[str, list[str]]] = {}
    whole: dict[str, list[str]] = {}
    for role in (*scene.people, "anonymous"):
        for name, lines in shown(scene, role):
            file = f"{name.replace(':', '.')}.txt"
            pages.setdefault(file, {})[role] = unlike(whole[file], lines) if file in whole else lines
            whole.setdefault(file, lines)
    return pages


def unlike(whole: list[str], own: list[str]) -> list[str]:
    """Lines taken away and put in."""
    found = difflib.unified_diff(whole, own, n=0, lineterm="")
    return [line for line in list(found)[2:] if not line.startswith("@@")]


def written(page: dict[str, list[str]]) -> list[str]:
    return [line for role, own in page.items() for line in (HEAD + role, *own)]


def compare(scene: Scene, folder: Path, *, accept: bool) -> None:
    found = {file: written(page) for file, page in pages_of(scene).items()}
    if accept:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.glob("*.txt"):
            path.unlink()
        for file, lines in found.items():
            (folder / file).write_text("\n".join(lines) + "\n", "utf-8")
    known = {path.name: path.read_text("utf-8").splitlines() for path in folder.glob("*.txt")}
    changes = [
        f"{folder.name}/{file}, {change}"
        for file in sorted(known | found)
        for change in unlike(known.get(file, [NOT_SHOWN]), found.get(file, [NOT_SHOWN]))
    ]
    assert not changes, "\n".join(changes)
    assert found


@pytest.mark.parametrize("begin", [one_of_everything, nothing_yet], ids=lambda begin: begin.__name__)
def test_pages_say_and_offer_what_they_did(begin: Callable[[], Scene], request: pytest.FixtureRequest):
    keys_from_here()
    compare(begin(), FOLDER / begin.__name__, accept=request.config.getoption("accept_pages"))

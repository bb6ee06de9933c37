"""The board's API makes and rejects the same moves as the page."""

from __future__ import annotations

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from studio.domain.task import Dependency
from studio.drafts.load import load_episode
from studio.models import BoardMove, Role, TaskState
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, api_token, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared_board(module_db):
    benchmark = BenchmarkFactory(plan_sessions=3, plan_groups=1, plan_standalone=1, plan_signals=0)
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author)
    a_task(persona, "setup", by=author, checklist=(), title="Setup")
    a_task(persona, "bread", by=author, depends_on=(Dependency(task_id="setup", carries_over="the hours"),))
    a_task(persona, "rolls", by=author, title="Rolls")
    return author, persona, reverse("studio:api_board", args=[benchmark.slug, "baker"])


@pytest.fixture
def board(shared_board):
    return fresh(shared_board)


def client_of(user):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {api_token(user)}")
    return client


def ids(persona):
    return [task.task_id for task in load_episode(persona).tasks]


def test_client_reads_the_board_and_makes_and_undoes_moves(board):
    author, persona, url = board
    client = client_of(author)

    shown = client.get(url).json()
    assert (shown["order"], shown["unplaced"]) == (["setup", "bread", "rolls"], [])
    assert shown["needs"] == {"bread": [{"task_id": "setup", "carries_over": "the hours"}]}
    step = {"action": "move", "tasks": ["rolls"], "target": "setup", "seen": shown["seen"]}
    made = client.post(url, step, format="json").json()
    assert made["sentence"] == "Moved “Rolls” before “Setup”."
    assert made["board"]["order"] == ids(persona) == ["rolls", "setup", "bread"]
    grouped = client.post(url, {"action": "group", "tasks": ["setup", "bread"], "group": "Rye"}, format="json").json()
    assert grouped["board"]["groups"] == {"setup": "Rye", "bread": "Rye", "rolls": ""}
    client.post(url, {"action": "undo"}, format="json")
    assert BoardMove.objects.count() == 3


@pytest.mark.slow
def test_rejected_move_returns_the_reason_and_the_current_board(board):
    author, persona, url = board
    client = client_of(author)
    old = client.get(url).json()["seen"]

    broken = client.post(url, {"action": "move", "tasks": ["bread"], "target": "setup"}, format="json")
    assert (broken.status_code, broken.json()["reason"]) == (409, "refused")
    assert "builds on “Setup”" in broken.json()["detail"]
    client.post(url, {"action": "later", "tasks": ["bread"]}, format="json")
    stale = client.post(url, {"action": "later", "tasks": ["setup"], "seen": old}, format="json").json()
    assert (stale["reason"], stale["board"]["order"]) == ("changed", ["setup", "rolls", "bread"])
    rolls = persona.tasks.get(task_id="rolls")
    submit(rolls.pk, by=author)
    asked = {"action": "group", "tasks": ["rolls"], "group": "Rye"}
    assert client.post(url, asked, format="json").json()["reason"] == "unsure"
    assert client.post(url, asked | {"sure": True}, format="json").status_code == 200
    rolls.refresh_from_db()
    assert rolls.state == TaskState.DRAFT


@pytest.mark.parametrize(
    ("step", "status"),
    [
        ({}, 400),
        ({"action": "fly"}, 400),
        ({"action": "move", "tasks": ["\0"], "target": "end"}, 400),
        ({"action": "move", "tasks": "bread"}, 400),
        ({"action": "group", "tasks": ["bread"], "group": "x" * 300}, 400),
        ({"action": "move", "tasks": ["x"] * 600, "target": "end"}, 400),
        ({"action": "move", "tasks": [], "target": "end"}, 409),
        ({"action": "move", "tasks": ["nowhere"], "target": "end"}, 409),
        ({"action": "depend", "tasks": [], "target": "bread"}, 409),
        ({"action": "redo"}, 409),
    ],
)
def test_malformed_move_is_rejected_and_changes_nothing(board, step, status):
    author, persona, url = board
    assert client_of(author).post(url, step, format="json").status_code == status
    assert ids(persona) == ["setup", "bread", "rolls"]


def test_board_is_visible_to_members_and_editable_by_authors(board):
    _, persona, url = board
    step = {"action": "earlier", "tasks": ["bread"]}
    assert client_of(UserFactory()).get(url).status_code == 404
    assert client_of(UserFactory()).post(url, step, format="json").status_code == 404
    viewer = client_of(member(persona.benchmark, Role.VIEWER))
    assert (viewer.get(url).status_code, viewer.post(url, step, format="json").status_code) == (200, 403)


def test_page_compares_the_episode_with_the_plan(board, client):
    author, persona, _ = board
    client.force_login(author)

    assert "✓ as planned" in client.get(persona.get_absolute_url()).content.decode()
    a_task(persona, "buns", by=author, title="Buns")
    shown = " ".join(client.get(persona.get_absolute_url()).content.decode().split())
    assert "▲ Not as planned: 4 tasks, but the plan has 3; 1 other gap </a>" in shown
    assert reverse("studio:gaps", args=[persona.benchmark.slug]) in shown

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from django.test import Client

from evaluation.models import Pilot, Session
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, rubric, task
from tests.evaluation.factories import finish, person, pilot_row, resolve_intent, turn, verdict

pytestmark = pytest.mark.django_db


def post(client: Client, path: str, data: dict[str, Any]) -> Any:
    return client.post(path, data, content_type="application/json")


def wanted(benchmark: Benchmark, **changes: object) -> dict[str, object]:
    return {
        "benchmark": benchmark.slug,
        "agent": "scripted-helpful",
        "user_model": "scripted-user",
        "judge": "scripted-judge",
    } | changes


@pytest.mark.parametrize("path", ["/api/pilots/", "/api/sessions/", "/api/releases/", "/api/endpoints/"])
def test_anonymous_user_reads_nothing(client: Client, path: str):
    assert client.get(path).status_code in (401, 403)


def test_pilot_is_started_and_read_like_by_the_command(client: Client):
    benchmark = benchmark_of(task("a", checklist=(rubric("x"),)), task("b"))
    client.force_login(person(benchmark, "author"))

    created = post(client, "/api/pilots/", wanted(benchmark, tasks=["a"], runs=2, limits={"turns": 3}))
    report = client.get(f"/api/pilots/{created.json()['id']}/report/").json()

    assert created.status_code == 201
    assert (created.json()["sessions"], created.json()["limits"]["turns"], created.json()["scripted"]) == (2, 3.0, True)
    assert [(row["task"], row["run"], row["state"]) for row in report["sessions"]] == [
        ("a", 1, "waiting"),
        ("a", 2, "waiting"),
    ]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"agent": "nobody"}, "agent"),
        ({"runs": 0}, "runs"),
        ({"persona": "nobody"}, "persona"),
        ({"tasks": ["nothing"]}, "tasks"),
        ({"limits": {"moons": 1}}, "limits"),
        ({"judge": "nobody"}, "judge"),
    ],
)
def test_invalid_choice_names_its_field(client: Client, changes: dict[str, object], field: str):
    benchmark = benchmark_of(task("a"))
    client.force_login(person(benchmark, "author"))

    answer = post(client, "/api/pilots/", wanted(benchmark, **changes))

    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert not Pilot.objects.exists()


@pytest.mark.slow
def test_api_enforces_roles(client: Client):
    pilot = pilot_row()
    session = finish(pilot)

    client.force_login(person(pilot.benchmark, "viewer"))
    assert client.get(f"/api/pilots/{pilot.pk}/").status_code == 200
    assert post(client, "/api/pilots/", wanted(pilot.benchmark)).status_code == 403
    assert post(client, "/api/releases/", {"benchmark": pilot.benchmark.slug, "version": "1"}).status_code == 403
    client.force_login(person())
    for path in (f"pilots/{pilot.pk}/", f"pilots/{pilot.pk}/report/", f"sessions/{session.pk}/"):
        assert client.get(f"/api/{path}").status_code == 404
    assert client.get("/api/pilots/").json()["count"] == 0
    assert client.get(f"/api/sessions/?pilot={pilot.pk}").json()["count"] == 0
    assert post(client, "/api/pilots/", wanted(pilot.benchmark)).status_code == 404


def test_session_is_returned_in_full(client: Client):
    session = finish(pilot_row())
    turn(
        session,
        1,
        message="Go.",
        reply="Done.",
        files={"note.md": b"x"},
        calls=[{"name": "write_file", "arguments": {"path": "note.md"}, "result": "ok"}],
    )
    resolve_intent(session, 1, "completed", 1)
    verdict(session, quote="Done.", reason="So.")
    client.force_login(person(session.run.pilot.benchmark, "viewer"))

    session_data = client.get(f"/api/sessions/{session.pk}/").json()

    assert (session_data["task"], session_data["state"], session_data["turn_count"]) == ("a", "finished", 1)
    [stored_turn] = session_data["turns"]
    assert (stored_turn["user_message"], stored_turn["reply"]) == ("Go.", "Done.")
    assert stored_turn["files"] == {"note.md": hashlib.sha256(b"x").hexdigest()}
    assert stored_turn["tool_calls"][0]["arguments"] == {"path": "note.md"}
    assert session_data["intents"] == [{"index": 1, "status": "completed", "turn": 1}]
    assert (session_data["verdicts"][0]["quote"], session_data["verdicts"][0]["met"]) == ("Done.", True)


def test_sessions_of_a_pilot_are_downloaded_together_as_each_is_alone(client: Client):
    pilot = pilot_row(runs=2)
    sessions = list(Session.objects.filter(run__pilot=pilot).order_by("run", "position"))
    for session in sessions:
        turn(session, 1, message="Go.", reply="Done.")
    client.force_login(person(pilot.benchmark, "viewer"))

    answer = client.get(f"/api/pilots/{pilot.pk}/sessions/")

    assert answer.streaming and answer["Content-Type"] == "application/jsonl"
    lines = [json.loads(line) for line in answer.getvalue().decode().splitlines()]
    assert len(lines) == 2
    assert lines == [client.get(f"/api/sessions/{session.pk}/").json() for session in sessions]
    assert f"/api/pilots/{pilot.pk}/sessions/" in client.get(pilot.get_absolute_url()).content.decode()


def test_sessions_are_listed_by_pilot(client: Client):
    pilot = pilot_row(runs=2)
    other = pilot_row()
    user = person(pilot.benchmark, "viewer")
    user.memberships.create(benchmark=other.benchmark, role="viewer")
    client.force_login(user)

    assert client.get("/api/sessions/").json()["count"] == 3
    assert client.get(f"/api/sessions/?pilot={pilot.pk}").json()["count"] == 2
    assert client.get("/api/sessions/?pilot=x").json()["count"] == 0
    assert Session.objects.count() == 3


@pytest.mark.slow
def test_blocked_release_is_cut_with_a_reason_and_downloaded(client: Client):
    benchmark = benchmark_of(task("a", checklist=(rubric("x"),)))
    client.force_login(person(benchmark, "release_manager"))
    entry = {"benchmark": benchmark.slug, "version": "1.0"}

    blocked = post(client, "/api/releases/", entry)
    created = post(client, "/api/releases/", entry | {"accept": "To try it."})
    again = post(client, "/api/releases/", entry | {"accept": "To try it."})
    archive = client.get(f"/api/releases/{created.json()['id']}/download/")

    assert blocked.status_code == 409
    assert "task-not-approved" in {blocker["code"] for blocker in blocked.json()["blocked_by"]}
    assert (created.status_code, created.json()["tasks"]) == (201, 1)
    assert (again.status_code, list(again.json()["errors"])) == (400, ["version"])
    assert hashlib.sha256(archive.getvalue()).hexdigest() == created.json()["sha256"]
    assert client.get("/api/releases/").json()["count"] == 1


def test_models_are_listed_without_address_or_key(client: Client):
    client.force_login(person())

    first = client.get("/api/endpoints/").json()["results"][0]

    assert first == {"name": "scripted-asks", "model": "scripted-asks", "effort": "", "scripted": True}

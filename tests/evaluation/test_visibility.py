from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.models import Pilot, Session
from studio.models import Benchmark
from tests.evaluation.builders import benchmark_of, endpoint, rubric, task
from tests.evaluation.factories import finish, person, pilot_row, resolve_intent, turn, verdict

pytestmark = pytest.mark.django_db


def queries(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert client.get(path).status_code == 200
    return len(seen)


def many_pilots(benchmark: Benchmark, first: int, count: int) -> None:
    model = endpoint("scripted-helpful")
    Pilot.objects.bulk_create(
        Pilot(benchmark=benchmark, number=first + n, agent=model, user_model=model, judge=model) for n in range(count)
    )


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/pilots/", "/benchmarks/{slug}/pilots/", "/api/pilots/"])
def test_queries_of_the_pilot_list_do_not_grow(client: Client, path: str):
    pilot = pilot_row()
    client.force_login(person(pilot.benchmark, "viewer"))
    path = path.format(slug=pilot.benchmark.slug)
    baseline = queries(client, path)

    many_pilots(pilot.benchmark, 2, 299)

    assert queries(client, path) == baseline


@pytest.mark.slow
def test_queries_of_a_pilot_page_do_not_grow(client: Client):
    small = pilot_row()
    big = pilot_row(benchmark_of(*(task(f"t{n}") for n in range(30)), into=None), runs=3)
    user = person(small.benchmark, "viewer")
    user.memberships.create(benchmark=big.benchmark, role="viewer")
    client.force_login(user)

    assert queries(client, f"/pilots/{big.pk}/") == queries(client, f"/pilots/{small.pk}/")


@pytest.mark.slow
def test_queries_of_a_session_page_do_not_grow(client: Client):
    def make_session(turns: int) -> Session:
        spec = task("a", checklist=(rubric("x"), rubric("y")), files_read=("note.md",))
        session = finish(pilot_row(benchmark_of(spec)))
        for number in range(1, turns + 1):
            turn(
                session,
                number,
                reply=f"Reply {number}",
                files={"note.md": b"text %d" % number},
                calls=[{"name": "write_file", "arguments": {"path": "note.md"}, "result": "ok"}] * min(number, 3),
            )
            verdict(session, turn=number, quote=f"Reply {number}")
        resolve_intent(session, 1, "provided", 1)
        return session

    short, long = make_session(1), make_session(20)
    user = person(short.run.pilot.benchmark, "viewer")
    user.memberships.create(benchmark=long.run.pilot.benchmark, role="viewer")
    client.force_login(user)

    assert queries(client, f"/sessions/{long.pk}/") == queries(client, f"/sessions/{short.pk}/")
    assert queries(client, f"/api/sessions/{long.pk}/") == queries(client, f"/api/sessions/{short.pk}/")

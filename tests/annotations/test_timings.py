"""Pages take no time by which an auditor could tell what is sealed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotations.packets import Sealed
from tests.annotations.builders import make_benchmark, make_decision, make_person, open_campaign

pytestmark = pytest.mark.django_db

JUDGED_NO = {"sealed": Sealed(answers={"decision": "no"})}
LONG_REASON = {
    "sealed": Sealed(
        answers={"decision": "yes"}, quotes={"decision": "q" * 4_000}, reasons={"decision": "r" * 4_000}, judge="j"
    )
}
GOLD = {"control": "gold", "known": {"decision": "no"}, "origin": "verdict:77"}
PLANTED = {"control": "planted", "known": {"decision": "no"}, "labels": {"persona": "x"}}


def trail(changes: dict[str, object]) -> list[tuple[int, str, str]]:
    """Of each request of an auditor: the queries it takes, status and content, without keys and tokens."""
    benchmark = make_benchmark()
    ana = make_person(benchmark, "auditor", name=f"ana-{benchmark.pk}")
    decisions = [replace(make_decision(number), **changes) for number in (1, 2, 3)]
    campaign = open_campaign(
        benchmark, decisions, name="a", source="pilot:1", seed=1, overlap=1, scripted=False, by=None
    )
    client = Client()
    client.force_login(ana)
    client.get("/audits/")  # what a first visit stores
    page = f"/audits/{campaign.pk}/"
    first = client.get(f"{page}judge/").headers["Location"]
    found = []
    for method, address, data in (
        ("get", "/audits/", {}),
        ("get", page, {}),
        ("get", first, {}),
        ("get", f"{page}judge/?after={first.split('/')[-2]}", {}),
        ("post", f"{first}session/", {}),
        ("post", first, {"answer": "yes", "number": "1"}),
        ("get", f"/api{page}packets/", {}),
        ("post", f"/api{page}next/", {}),
        ("post", f"{page}undo/", {}),
    ):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answer = getattr(client, method)(address, data)
        text = re.sub(r"\d+", "0", re.sub(r"[A-Za-z0-9]{64}", "", answer.content.decode()))
        asked = [row["sql"] for row in queries if "SAVEPOINT" not in row["sql"]]
        found.append((len(asked), str(answer.status_code), text))
    return found


@pytest.mark.slow
def test_what_is_sealed_changes_neither_an_answer_nor_the_work_for_it():
    trail({})  # what a process looks up once
    plain = trail({})

    for changes in (JUDGED_NO, LONG_REASON, GOLD, PLANTED):
        for before, now in zip(plain, trail(changes), strict=True):
            assert now[:2] == before[:2]
            assert re.sub(r"paper number 0|ana-0", "", now[2]) == re.sub(r"paper number 0|ana-0", "", before[2])

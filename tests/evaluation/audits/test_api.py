"""The API of audits: as the pages, and as blind."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotations.campaigns import PopulationRow
from annotations.models import AuditCampaign, Consensus
from annotations.packets import CREDITED, STATUSES
from tests.annotations.builders import make_benchmark, make_person, make_session, open_campaign
from tests.evaluation.audits.test_sessions import RIGHT, client_of, judged_pilot

pytestmark = pytest.mark.django_db


def post(client: Client, path: str, data: dict[str, Any] | None = None) -> Any:
    return client.post(path, data or {}, content_type="application/json")


class Desk:
    """An audit of one session, opened by the API, with two auditors."""

    def __init__(self) -> None:
        self.pilot = judged_pilot()
        benchmark = self.pilot.benchmark
        self.ana, self.ben = (client_of(make_person(benchmark, "auditor", name=name)) for name in ("ana", "ben"))
        self.owner = client_of(make_person(benchmark, "owner"))
        wanted = {"benchmark": benchmark.slug, "pilots": [self.pilot.pk], "unit": "session", "people": 2, "seed": 3}
        self.opened = post(self.owner, "/api/audits/", wanted)
        self.url = f"/api/audits/{self.opened.json()['id']}/"

    def answer(self, client: Client, **changes: str) -> Any:
        assert post(client, f"{self.url}next/").json()["packet"]["position"] == 1
        answers = RIGHT | {name.replace("_", "-"): value for name, value in changes.items()}
        return post(client, f"{self.url}packets/1/judgment/", {"answer": "answered", "answers": answers})


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.slow
def test_audit_is_opened_judged_adjudicated_and_read(desk: Desk):
    assert desk.opened.status_code == 201
    assert {key: desk.opened.json()[key] for key in ("unit", "people", "seed", "state")} == {
        "unit": "session", "people": 2, "seed": 3, "state": "open",
    }  # fmt: skip
    taken = post(desk.ana, f"{desk.url}next/").json()["packet"]
    assert [(row["key"], row["choices"][-1]) for row in taken["questions"]] == [(key, "unsure") for key in RIGHT]

    assert desk.answer(desk.ana).status_code == 201
    assert desk.answer(desk.ben, intent_1="provided").status_code == 201
    decided = {"answers": {"intent-1": "provided"}, "reason": "The user had to say it."}
    assert post(desk.owner, f"{desk.url}packets/1/adjudication/", decided).status_code == 201

    assert post(desk.ana, f"{desk.url}results/").json()["resolved"] == 1
    report = desk.owner.get(f"{desk.url}results/").json()
    assert (report["unit"], report["statuses"][0]["provided"]) == ("session", 1)
    (packet,) = desk.owner.get(f"{desk.url}packets/").json()
    assert packet["consensus"]["answers"] == RIGHT | {"intent-1": "provided"}
    people = desk.owner.get(f"{desk.url}packets/1/").json()["judgments"]
    assert [row["auditor"] for row in people] == ["ana", "ben"]
    assert post(desk.owner, f"{desk.url}close/").json()["state"] == "closed"


def test_nothing_sealed_is_told_before_the_judgment(desk: Desk):
    desk.answer(desk.ben, item_1="no")
    taken = post(desk.ana, f"{desk.url}next/")
    paths = [desk.url, f"{desk.url}packets/", f"{desk.url}packets/1/", f"{desk.url}results/", "/api/audits/"]
    answers = [taken, *(desk.ana.get(path) for path in paths)]

    text = "".join(answer.content.decode() for answer in answers)
    assert not [secret for secret in ("walrus", "scripted-", '"ben"', "consensus", "stratum") if secret in text]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 409, 200]


def test_rejected_answers_say_which_question_is_open(desk: Desk):
    post(desk.ana, f"{desk.url}next/")
    url = f"{desk.url}packets/1/judgment/"

    open_answer = post(desk.ana, url, {"answer": "answered", "answers": {"intent-1": "completed"}})
    not_held = post(desk.ben, url, {"answer": "answered", "answers": RIGHT})
    skipped = post(desk.ana, url, {"answer": "skipped"})

    assert (open_answer.status_code, list(open_answer.json()["errors"])) == (400, ["answers.intent-2"])
    assert not_held.status_code == 409
    assert (skipped.status_code, list(skipped.json()["errors"])) == (400, ["comment"])


def test_answer_is_taken_back(desk: Desk):
    desk.answer(desk.ana)

    assert post(desk.ana, f"{desk.url}undo/").json()["packet"]["number"] == 3
    assert post(desk.ana, f"{desk.url}packets/1/judgment/", {"answer": "answered", "answers": RIGHT}).status_code == 201


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"pilots": [0]}, "pilots"), ({"people": 4}, "people"), ({"auditors": ["nobody"]}, "auditors")],
)
def test_audit_that_cannot_be_opened_names_the_field(desk: Desk, changes: dict[str, object], field: str):
    wanted = {"benchmark": desk.pilot.benchmark.slug, "pilots": [desk.pilot.pk]} | changes

    answer = post(desk.owner, "/api/audits/", wanted)

    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])
    assert AuditCampaign.objects.count() == 1


INTENTS, ITEMS = 3, 5
JUDGE_ERROR, PERSON_ERROR = 0.09, 0.03


class SimulatedAudit:
    """Sessions of two agents whose truth is known; a judge that errs, and three people who err less."""

    def __init__(self, sessions: int, audited: int) -> None:
        self.sessions, self.audited = sessions, audited
        self.rng = np.random.default_rng(26)
        self.keys = [f"intent-{n}" for n in range(1, INTENTS + 1)] + [f"item-{n}" for n in range(1, ITEMS + 1)]
        self.shares = {key: 1 / (INTENTS if key.startswith("intent") else ITEMS) for key in self.keys}
        skill = {"agent-a": 0.8, "agent-b": 0.55}
        self.agents = [agent for agent in skill for _ in range(sessions // 2)]
        self.truth = [{key: self.draw(key, skill[agent]) for key in self.keys} for agent in self.agents]
        self.judge = [self.with_errors(answers, JUDGE_ERROR) for answers in self.truth]
        self.people = [[self.with_errors(answers, PERSON_ERROR) for answers in self.truth] for _ in range(3)]

    def draw(self, key: str, skill: float) -> str:
        met = self.rng.random() < skill
        if key.startswith("item"):
            return "yes" if met else "no"
        return str(self.rng.choice(STATUSES[:2])) if met else "provided"

    def with_errors(self, answers: dict[str, str], rate: float) -> dict[str, str]:
        return {key: self.other(answer) if self.rng.random() < rate else answer for key, answer in answers.items()}

    def other(self, answer: str) -> str:
        choices = STATUSES if answer in STATUSES else ("yes", "no")
        return str(self.rng.choice([choice for choice in choices if choice != answer]))

    def score(self, answers: dict[str, str], kind: str) -> float:
        return sum(self.shares[key] for key in self.keys if key.startswith(kind) and answers[key] in CREDITED)

    def population(self) -> list[PopulationRow]:
        return [
            PopulationRow(
                source=f"session:{number}",
                agent=agent,
                stratum=agent,
                proc=self.score(judge, "intent"),
                comp=self.score(judge, "item"),
            )
            for number, (agent, judge) in enumerate(zip(self.agents, self.judge, strict=True))
        ]

    def open(self) -> tuple[AuditCampaign, list[Client]]:
        benchmark = make_benchmark()
        people = [make_person(benchmark, "auditor") for _ in range(3)]
        half = self.sessions // 2
        drawn = [*range(self.audited // 2), *range(half, half + self.audited // 2)]
        sessions = [
            make_session(number, self.judge[number], stratum=self.agents[number], shares=self.shares)
            for number in drawn
        ]
        options = {"name": "simulated", "source": "", "seed": 1, "overlap": 3, "scripted": False, "by": None}
        campaign = open_campaign(benchmark, sessions, unit="session", population=self.population(), **options)
        return campaign, [client_of(person) for person in people]


def judge_by_api(client: Client, campaign: AuditCampaign, given: list[dict[str, str]]) -> None:
    url = f"/api/audits/{campaign.pk}/"
    taken = post(client, f"{url}next/").json()["packet"]
    answer = {"answer": "answered", "answers": given[int(taken["subject"].removeprefix("Task "))]}
    assert post(client, f"{url}packets/{taken['position']}/judgment/", answer).status_code == 201


def judge_by_page(client: Client, campaign: AuditCampaign, given: list[dict[str, str]]) -> None:
    address = client.get(f"/audits/{campaign.pk}/judge/").url
    text = client.get(address).content.decode()
    answers = given[int(re.search(r"<h2>Task (\d+)</h2>", text)[1])]
    data = {"answer": "answered", "number": 1} | {f"answers.{key}": value for key, value in answers.items()}
    assert client.post(address, data).status_code == 302


@pytest.mark.slow
@pytest.mark.parametrize(("sessions", "audited"), [(90, 24), pytest.param(360, 120, marks=pytest.mark.minutes)])
def test_simulated_audit_by_pages_and_api_recovers_known_error_rates_and_scores(sessions: int, audited: int):
    audit = SimulatedAudit(sessions, audited)
    campaign, people = audit.open()
    ways = (judge_by_page, judge_by_api, judge_by_api)
    for judge, client, given in list(zip(ways, people, audit.people, strict=True)) * audited:
        judge(client, campaign, given)

    report = people[0].post(f"/api/audits/{campaign.pk}/results/").json()

    assert (report["judgments"], Consensus.objects.count()) == (3 * audited, audited)
    own = people[0].get("/api/audits/mine/").json()["agreement"]
    assert own["low"] <= 1 - PERSON_ERROR <= own["high"]
    (row,) = report["table6"]
    for axis, kind in (("checklist", "item"), ("intents", "intent")):
        assert row[axis]["low"] <= JUDGE_ERROR <= row[axis]["high"], axis
        assert row[axis]["n"] >= 0.98 * audited * (ITEMS if kind == "item" else INTENTS)
    found = {row["agent"]: row for row in report["scores"]}
    for agent, skill in (("agent-a", 0.8), ("agent-b", 0.55)):
        for metric in ("proc", "comp"):
            corrected, people_alone = found[agent][metric]["corrected"], found[agent][metric]["people_alone"]
            assert corrected["low"] <= skill <= corrected["high"], (agent, metric)
            assert corrected["high"] - corrected["low"] < people_alone["high"] - people_alone["low"]

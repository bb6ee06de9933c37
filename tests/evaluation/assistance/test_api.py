"""Assistance through the API."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from evaluation.models import AssistantModel, Proposal
from studio.tasks.save import save_task
from tests.evaluation.assistance.builders import BUNDLE, I1, split_into
from tests.evaluation.factories import person
from tests.factories import UserFactory, api_token, task_row

PARTS = ("The plan names the baker.", "The plan gives the start of each shift.")


def client_of(user) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {api_token(user)}")
    return client


def url(authoring, *more: object) -> str:
    persona = authoring.task.persona.user_id
    base = f"/api/benchmarks/{authoring.benchmark.slug}/personas/{persona}/tasks/{authoring.task.pk}/suggestions/"
    return base + "".join(f"{part}/" for part in more)


@pytest.fixture
def api(authoring) -> APIClient:
    return client_of(authoring.author)


def ready_proposal(authoring, api, **more: object) -> dict:
    response = api.post(url(authoring), {"kind": "split", "field": "checklist", "item": I1} | more, format="json")
    assert response.status_code == 201, response.json()
    authoring.work(Proposal.objects.get(pk=response.json()["id"]))
    return api.get(url(authoring, response.json()["id"])).json()


@pytest.mark.slow
def test_split_is_requested_read_edited_and_accepted(authoring, api):
    authoring.model_answers(split_into(*PARTS))
    created = api.post(url(authoring), {"kind": "split", "field": "checklist", "item": I1}, format="json").json()
    assert (created["state"], created["rows"], created["version"], created["model"]) == ("asked", [], 1, "clever")

    ready = ready_proposal(authoring, api)
    assert (ready["id"], ready["state"], ready["title"]) == (created["id"], "ready", "A split of item 1")
    assert [(row["row"], row["before"], row["text"]) for row in ready["rows"]] == [
        (0, BUNDLE, PARTS[0]),
        (1, BUNDLE, PARTS[1]),
    ]

    taken = api.post(url(authoring, ready["id"], "take"), {"texts": {"1": "Mine."}}, format="json").json()
    assert (taken["state"], taken["result"], taken["rows"][1]["decision"]["edited"]) == ("taken", 2, True)
    assert [item.criterion for item in authoring.spec.checklist][:2] == [PARTS[0], "Mine."]
    assert authoring.fresh.revisions.first().note.startswith("A split of item 1, proposed by clever")


@pytest.mark.slow
def test_rows_are_decided_one_by_one_and_only_once(authoring, api):
    usual = {"scope": "session_local", "from": "question", "ref": "", "quote": "", "why": ""}
    authoring.model_answers(json.dumps({"intents": [usual | {"content": f"Need {n}."} for n in range(2)]}))
    ready = ready_proposal(authoring, api, kind="intents", field="intents", item=None)
    address = url(authoring, ready["id"])

    assert (
        api.post(f"{address}dismiss/", {"rows": [0]}, format="json").json()["rows"][0]["decision"]["accepted"] is False
    )
    assert api.post(f"{address}take/", {"rows": [1]}, format="json").json()["state"] == "taken"
    again = api.post(f"{address}take/", {}, format="json")

    assert (again.status_code, "already decided" in again.json()["detail"]) == (409, True)
    assert [intent.content for intent in authoring.spec.intents][-1] == "Need 1."
    assert len(authoring.spec.intents) == 3


@pytest.mark.slow
def test_changed_text_is_reported_and_overwritten_only_on_request(authoring, api):
    authoring.model_answers(split_into(*PARTS))
    ready = ready_proposal(authoring, api)
    spec = authoring.spec
    first = spec.checklist[0].model_copy(update={"criterion": "Other words."})
    save_task(
        authoring.task.pk, spec.model_copy(update={"checklist": (first, *spec.checklist[1:])}), by=authoring.author
    )

    rejected = api.post(url(authoring, ready["id"], "take"), {}, format="json")
    assert (rejected.status_code, rejected.json()["current"], rejected.json()["row"]) == (409, "Other words.", 0)
    over = api.post(url(authoring, ready["id"], "take"), {"over_changes": True}, format="json")

    assert over.status_code == 200
    assert authoring.spec.checklist[0].criterion == PARTS[0]


@pytest.mark.slow
def test_list_is_newest_first_filtered_by_state_with_constant_queries(authoring, api):
    authoring.model_answers(split_into(*PARTS))
    first = ready_proposal(authoring, api)
    with CaptureQueriesContext(connection) as first_queries:
        assert api.get(url(authoring)).json()["count"] == 1
    api.post(url(authoring, first["id"], "take"), {}, format="json")
    for text in ("One. ", "Two. ", "Three. "):
        api.post(url(authoring), {"kind": "checklist", "field": "checklist", "pasted": text}, format="json")

    with CaptureQueriesContext(connection) as later_queries:
        listed = api.get(url(authoring)).json()["results"]
    assert [row["state"] for row in listed] == ["asked", "dismissed", "dismissed", "taken"]
    assert len(later_queries) <= len(first_queries) + 2  # decisions, and the versions they came in with
    assert [row["id"] for row in api.get(url(authoring), {"state": "taken"}).json()["results"]] == [first["id"]]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "poem", "field": "title"}, 400),
        ({"kind": "split", "field": "checklist", "item": "1"}, 400),
        ({"kind": "split", "field": "metadata"}, 409),
        ({"kind": "translate", "field": "title", "language": "Klingon"}, 400),
        ({"kind": "translate", "field": "title"}, 409),
        ({"kind": "checklist", "field": "checklist", "reference": "../../etc/passwd"}, 409),
        ({"kind": "checklist", "field": "checklist", "pasted": "a\0b"}, 400),
    ],
)
def test_invalid_request_is_rejected_with_a_message(authoring, api, body, status):
    response = api.post(url(authoring), body, format="json")

    assert (response.status_code, bool(response.json())) == (status, True)
    assert not Proposal.objects.exists()


def test_request_fails_if_assistance_is_off(authoring, api):
    AssistantModel.objects.all().delete()

    response = api.post(url(authoring), {"kind": "split", "field": "checklist", "item": I1}, format="json")

    assert (response.status_code, "AI help is off" in response.json()["detail"]) == (409, True)


def test_access_is_limited_to_editors_of_the_task(authoring, api):
    authoring.model_answers(split_into(*PARTS))
    ready = ready_proposal(authoring, api)
    addresses = [url(authoring), url(authoring, ready["id"])]
    posts = [url(authoring), url(authoring, ready["id"], "take"), url(authoring, ready["id"], "dismiss")]
    for who, status in ((UserFactory(), 404), (person(authoring.benchmark, "viewer"), 403)):
        client = client_of(who)
        assert {client.get(address).status_code for address in addresses} == {status}
        assert {client.post(address, {}, format="json").status_code for address in posts} == {status}

    elsewhere = task_row(authoring.task.persona, "other", 9)
    elsewhere.save()
    assert (
        api.get(url(authoring, ready["id"]).replace(f"/{authoring.task.pk}/", f"/{elsewhere.pk}/")).status_code == 404
    )
    assert Proposal.objects.get().state == "ready"

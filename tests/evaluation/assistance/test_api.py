"""Help from a model for programs: the same functions as the page's, and nobody sees what is not theirs."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

from evaluation.models import Helper, Suggestion
from studio.tasks.save import save_task
from tests.evaluation.assistance.builders import BUNDLE, I1, split_into
from tests.evaluation.factories import person
from tests.factories import UserFactory

PARTS = ("The plan names the baker.", "The plan gives the start of each shift.")


def client_of(user) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.get_or_create(user=user)[0].key}")
    return client


def url(desk, *more: object) -> str:
    persona = desk.task.episode.persona.user_id
    base = f"/api/benchmarks/{desk.benchmark.slug}/personas/{persona}/tasks/{desk.task.pk}/suggestions/"
    return base + "".join(f"{part}/" for part in more)


@pytest.fixture
def api(desk) -> APIClient:
    return client_of(desk.author)


def asked(desk, api, **more: object) -> dict:
    answer = api.post(url(desk), {"kind": "split", "field": "checklist", "item": I1} | more, format="json")
    assert answer.status_code == 201, answer.json()
    desk.answer(Suggestion.objects.get(pk=answer.json()["id"]))
    return api.get(url(desk, answer.json()["id"])).json()


def test_a_split_is_asked_for_read_changed_and_taken(desk, api):
    desk.says(split_into(*PARTS))
    begun = api.post(url(desk), {"kind": "split", "field": "checklist", "item": I1}, format="json").json()
    assert (begun["state"], begun["rows"], begun["version"], begun["helper"]) == ("asked", [], 1, "clever")

    ready = asked(desk, api)
    assert (ready["id"], ready["state"], ready["title"]) == (begun["id"], "ready", "A split of item 1")
    assert [(row["row"], row["before"], row["text"]) for row in ready["rows"]] == [
        (0, BUNDLE, PARTS[0]),
        (1, BUNDLE, PARTS[1]),
    ]

    taken = api.post(url(desk, ready["id"], "take"), {"texts": {"1": "Mine."}}, format="json").json()
    assert (taken["state"], taken["result"], taken["rows"][1]["decision"]["changed"]) == ("taken", 2, True)
    assert [item.criterion for item in desk.spec.checklist][:2] == [PARTS[0], "Mine."]
    assert desk.fresh.revisions.first().note.startswith("A split of item 1, proposed by clever")


def test_rows_are_taken_and_dismissed_one_by_one_and_nothing_is_decided_twice(desk, api):
    usual = {"scope": "session_local", "from": "question", "ref": "", "quote": "", "why": ""}
    desk.says(json.dumps({"intents": [usual | {"content": f"Need {n}."} for n in range(2)]}))
    ready = asked(desk, api, kind="intents", field="intents", item=None)
    place = url(desk, ready["id"])

    assert api.post(f"{place}dismiss/", {"rows": [0]}, format="json").json()["rows"][0]["decision"]["taken"] is False
    assert api.post(f"{place}take/", {"rows": [1]}, format="json").json()["state"] == "taken"
    again = api.post(f"{place}take/", {}, format="json")

    assert (again.status_code, "already decided" in again.json()["detail"]) == (409, True)
    assert [intent.content for intent in desk.spec.intents][-1] == "Need 1."
    assert len(desk.spec.intents) == 3


def test_words_that_were_changed_since_are_told_and_taken_only_when_that_is_said(desk, api):
    desk.says(split_into(*PARTS))
    ready = asked(desk, api)
    spec = desk.spec
    first = spec.checklist[0].model_copy(update={"criterion": "Other words."})
    save_task(desk.task.pk, spec.model_copy(update={"checklist": (first, *spec.checklist[1:])}), by=desk.author)

    refused = api.post(url(desk, ready["id"], "take"), {}, format="json")
    assert (refused.status_code, refused.json()["current"], refused.json()["row"]) == (409, "Other words.", 0)
    over = api.post(url(desk, ready["id"], "take"), {"over_changes": True}, format="json")

    assert over.status_code == 200
    assert desk.spec.checklist[0].criterion == PARTS[0]


def test_what_was_asked_is_listed_newest_first_by_state_in_a_constant_number_of_queries(desk, api):
    desk.says(split_into(*PARTS))
    first = asked(desk, api)
    with CaptureQueriesContext(connection) as one:
        assert api.get(url(desk)).json()["count"] == 1
    api.post(url(desk, first["id"], "take"), {}, format="json")
    for words in ("One. ", "Two. ", "Three. "):
        api.post(url(desk), {"kind": "checklist", "field": "checklist", "pasted": words}, format="json")

    with CaptureQueriesContext(connection) as many:
        listed = api.get(url(desk)).json()["results"]
    assert [row["state"] for row in listed] == ["asked", "dismissed", "dismissed", "taken"]
    assert len(many) <= len(one) + 2  # decisions, and the versions they came in with
    assert [row["id"] for row in api.get(url(desk), {"state": "taken"}).json()["results"]] == [first["id"]]


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
def test_what_makes_no_sense_is_refused_with_words_and_not_asked(desk, api, body, status):
    answer = api.post(url(desk), body, format="json")

    assert (answer.status_code, bool(answer.json())) == (status, True)
    assert not Suggestion.objects.exists()


def test_where_nobody_helps_it_is_said(desk, api):
    Helper.objects.all().delete()

    answer = api.post(url(desk), {"kind": "split", "field": "checklist", "item": I1}, format="json")

    assert (answer.status_code, "AI help is off" in answer.json()["detail"]) == (409, True)


def test_strangers_get_404_readers_403_and_another_tasks_suggestion_is_none_here(desk, api):
    desk.says(split_into(*PARTS))
    ready = asked(desk, api)
    places = [url(desk), url(desk, ready["id"])]
    posts = [url(desk), url(desk, ready["id"], "take"), url(desk, ready["id"], "dismiss")]
    for who, status in ((UserFactory(), 404), (person(desk.benchmark, "viewer"), 403)):
        client = client_of(who)
        assert {client.get(place).status_code for place in places} == {status}
        assert {client.post(place, {}, format="json").status_code for place in posts} == {status}

    elsewhere = desk.task.episode.tasks.create(task_id="other", position=9)
    assert api.get(url(desk, ready["id"]).replace(f"/{desk.task.pk}/", f"/{elsewhere.pk}/")).status_code == 404
    assert Suggestion.objects.get().state == "ready"

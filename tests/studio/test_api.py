"""The authoring API."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from studio.drafts.load import load_task
from studio.models import Role
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task, api_token, member
from tests.studio.imports.test_views import sample_files, zipped

pytestmark = pytest.mark.django_db


class Desk:
    def __init__(self):
        self.benchmark = BenchmarkFactory()
        self.author = member(self.benchmark, Role.AUTHOR)
        self.reviewer = member(self.benchmark, Role.REVIEWER)
        self.persona = a_persona(self.benchmark, by=self.author)
        self.task = a_task(self.persona, by=self.author)
        self.base = f"/api/benchmarks/{self.benchmark.slug}/"
        self.url = f"{self.base}personas/baker/tasks/{self.task.pk}/"


@pytest.fixture
def desk():
    return Desk()


def client_of(user):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {api_token(user)}")
    return client


def test_lists_contain_only_visible_rows(desk):
    client = client_of(desk.author)

    assert [(row["slug"], row["roles"]) for row in client.get("/api/benchmarks/").json()["results"]] == [
        (desk.benchmark.slug, ["author"])
    ]
    assert [row["user_id"] for row in client.get(f"{desk.base}personas/").json()["results"]] == ["baker"]
    assert [row["task_id"] for row in client.get(f"{desk.base}personas/baker/tasks/").json()["results"]] == ["bread"]
    assert client.get(f"{desk.base}personas/baker/").json()["order"] == ["bread"]


def test_strangers_get_404_and_anonymous_users_401(desk):
    stranger, nobody = client_of(UserFactory()), APIClient()
    task = f"personas/baker/tasks/{desk.task.pk}/"
    tails = ["personas/", "personas/baker/", "personas/baker/tasks/", task, "findings/"]

    assert {stranger.get(desk.base + tail).status_code for tail in tails} == {404}
    assert {nobody.get(desk.base + tail).status_code for tail in tails} <= {401, 403}
    assert stranger.get("/api/benchmarks/").json()["results"] == []


def test_task_is_read_changed_and_saved_as_a_version(desk):
    client = client_of(desk.author)
    read = client.get(desk.url).json()

    saved = client.put(
        desk.url, {"version": 1, "spec": read["spec"] | {"title": "Rolls"}, "note": "Rolls."}, format="json"
    ).json()

    assert (saved["version"], saved["spec"]["title"]) == (2, "Rolls")
    assert desk.task.revisions.get(number=2).note == "Rolls."


def test_save_on_an_old_version_is_a_conflict(desk):
    client = client_of(desk.author)
    spec = client.get(desk.url).json()["spec"]
    client.put(desk.url, {"version": 1, "spec": spec | {"title": "First"}}, format="json")

    late = client.put(desk.url, {"version": 1, "spec": spec | {"title": "Second"}}, format="json")

    assert (late.status_code, late.json()["version"]) == (409, 2)
    assert load_task(desk.task).title == "First"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": 3}, "title"),
        ({"unknown": 1}, "unknown"),
        ({"task_id": " "}, "Enter an id for the task"),
        ({"title": "\u0000"}, "U+0000"),
        ({"assets": [{"path": "x", "sha256": "0" * 64, "size": 1}]}, "not among the task's files"),
    ],
)
def test_invalid_task_is_rejected_with_the_position_of_the_error(desk, change, message):
    client = client_of(desk.author)
    spec = client.get(desk.url).json()["spec"]

    answer = client.put(desk.url, {"version": 1, "spec": spec | change}, format="json")

    assert answer.status_code == 400
    assert message in answer.content.decode()


def test_roles_decide_who_saves_and_who_approves(desk):
    spec = client_of(desk.reviewer).get(desk.url).json()["spec"]
    save = {"version": 1, "spec": spec}

    assert client_of(desk.reviewer).put(desk.url, save, format="json").status_code == 403
    assert client_of(desk.author).post(desk.url + "steps/", {"action": "submit"}).json()["state"] == "in_review"
    for sent in ({"action": "approve"}, {"action": "approve", "version": "not one"}):
        assert client_of(desk.author).post(desk.url + "steps/", sent).status_code == 403
    stale = client_of(desk.reviewer).post(desk.url + "steps/", {"action": "approve", "version": 9})
    assert stale.status_code == 409
    approved = client_of(desk.reviewer).post(desk.url + "steps/", {"action": "approve", "version": 1})
    assert approved.json()["state"] == "approved"


@pytest.mark.slow
def test_import_can_be_tried_before_it_is_carried_out(desk):
    client, url = client_of(desk.author), f"{desk.base}imports/"

    tried = client.post(url, {"archive": zipped(sample_files()), "dry_run": True}, format="multipart")
    assert tried.status_code == 200
    assert not desk.benchmark.personas.filter(user_id="radio_producer").exists()
    done = client.post(url, {"archive": zipped(sample_files())}, format="multipart")
    broken = client.post(url, {"archive": zipped({"x/profile.yaml": b"["})}, format="multipart")

    assert done.json()["created"] == 7
    assert (broken.status_code, bool(broken.json()["errors"])) == (422, True)


def test_comments_are_read_written_and_resolved_over_the_api(desk):
    author, reviewer = client_of(desk.author), client_of(desk.reviewer)
    asked = {"field": "initial_request", "quote": "plan.md", "suggestion": "baking.md", "text": "Say what it is."}

    made = reviewer.post(desk.url + "remarks/", asked, format="json")
    key = made.json()["id"]
    author.post(f"{desk.url}remarks/{key}/answers/", {"text": "Yes."}, format="json")
    applied = author.post(f"{desk.url}remarks/apply/", {"comments": [key]}, format="json")
    again = author.post(f"{desk.url}remarks/apply/", {"comments": [key]}, format="json")

    assert (made.status_code, made.json()["location"]["quote"], made.json()["version"]) == (201, "plan.md", 1)
    assert (applied.json(), again.status_code) == ({"version": 2, "unresolved": []}, 409)
    [row] = author.get(desk.url + "remarks/").json()
    assert (row["applied_in"], [one["text"] for one in row["replies"]]) == (2, ["Yes."])
    assert load_task(desk.task).initial_request.endswith("baking.md.")
    opened = reviewer.patch(f"{desk.url}remarks/{key}/", {"resolved": False, "text": "Well."}, format="json").json()
    assert (opened["resolved_at"], opened["text"]) == (None, "Well.")
    assert author.patch(f"{desk.url}remarks/{key}/", {"text": "Mine"}, format="json").status_code == 409
    assert reviewer.delete(f"{desk.url}remarks/{key}/").status_code == 409
    assert reviewer.post(desk.url + "remarks/", asked | {"quote": "nothing"}, format="json").status_code == 409
    assert client_of(UserFactory()).get(desk.url + "remarks/").status_code == 404


def test_reviews_include_the_answers_to_the_review_checklist(desk):
    author, reviewer = client_of(desk.author), client_of(desk.reviewer)
    author.post(desk.url + "steps/", {"action": "submit"})
    answers = {"correct": {"met": False, "note": "It is rye."}}
    sent = reviewer.post(desk.url + "steps/", {"action": "request_changes", "review_checklist": answers}, format="json")
    author.post(desk.url + "steps/", {"action": "submit"})
    reviewer.post(desk.url + "steps/", {"action": "approve"}, format="json")

    rows = author.get(desk.url + "reviews/").json()

    assert sent.status_code == 200
    assert [(row["decision"], row["review_checklist"]) for row in rows] == [
        ("approved", {}),
        ("changes_requested", answers),
    ]


def test_assignments_are_read_and_changed_over_the_api(desk):
    author = client_of(desk.author)
    named = {"writer": desk.author.username, "reviewers": [desk.reviewer.username]}

    assert author.put(desk.url + "people/", named, format="json").json() == named
    assert author.get(desk.url + "people/").json() == named
    for wrong, code in ((desk.reviewer.username, 409), ("nobody", 400)):
        assert author.put(desk.url + "people/", named | {"writer": wrong}, format="json").status_code == code
    assert (
        client_of(member(desk.benchmark, Role.VIEWER)).put(desk.url + "people/", named, format="json").status_code
        == 403
    )


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ("sate=draft", "sate", "There is no such parameter here. There are: category, cursor, findings,"),
        ("state=drafty", "state", "“drafty” is not one of approved, changes_requested,"),
    ],
)
def test_an_unknown_filter_is_refused_and_names_what_there_is(desk, query, field, says):
    answer = client_of(desk.author).get(f"{desk.base}tasks/?{query}")

    assert answer.status_code == 400
    assert answer.json()["errors"][field][0].startswith(says)
    assert answer.json()["detail"].startswith(f"{field}: {says}")


def test_known_filters_are_taken(desk):
    client = client_of(desk.author)

    assert client.get(f"{desk.base}tasks/?state=draft&q=bread&page_size=5&persona=").status_code == 200
    assert client.get(f"{desk.base}findings/?severity=error&page=1").status_code == 200


def test_every_error_is_a_problem_document(desk):
    client, nobody = client_of(desk.author), APIClient()
    spec = client.get(desk.url).json()["spec"]
    client.put(desk.url, {"version": 1, "spec": spec | {"title": "First"}}, format="json")
    answers = {
        400: client.put(desk.url, {"version": 2}, format="json"),
        401: nobody.get(desk.url),
        403: client_of(desk.reviewer).put(desk.url, {"version": 2, "spec": spec}, format="json"),
        404: client.get("/api/nothing/here/"),
        405: client.post(desk.url),
        409: client.put(desk.url, {"version": 1, "spec": spec | {"title": "Second"}}, format="json"),
    }

    for status, answer in answers.items():
        problem = answer.json()
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
        assert (problem["type"], problem["status"]) == ("about:blank", status)
        assert problem["title"] and problem["detail"]
    assert answers[400].json()["errors"] == {"spec": ["This field is required."]}
    assert answers[401]["WWW-Authenticate"] == "Token"
    assert answers[405]["Allow"] == "GET, PUT, DELETE, HEAD, OPTIONS"
    assert answers[409].json()["version"] == 2

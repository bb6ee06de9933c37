from __future__ import annotations

import pytest
from django.test import Client

from evaluation.models import ModelEndpoint
from tests.evaluation.builders import endpoint
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel, serving

pytestmark = pytest.mark.django_db
SCRIPTED = ["asks", "helper", "helpful", "judge", "passive", "silent", "user"]


def entry(**changes: object) -> dict[str, object]:
    return {
        "name": "qwen-plus",
        "base_url": "https://models.example/v1",
        "model": "qwen-plus-latest",
        "key_env": "EXAMPLE_API_KEY",
        "params": '{"temperature": 0.2}',
        "input_price": "0.4",
        "output_price": "1.2",
        "timeout_seconds": 60,
        "max_concurrency": 8,
    } | changes


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(person(is_staff=True))
    return client


def test_scripted_models_are_listed_and_marked():
    rows = ModelEndpoint.objects.filter(name__startswith="scripted-").order_by("name")

    assert [(row.name, row.base_url, row.model, row.scripted) for row in rows] == [
        (f"scripted-{name}", "scripted:", f"scripted-{name}", True) for name in SCRIPTED
    ]


def test_only_staff_can_connect_models(client: Client):
    client.force_login(person())
    row = endpoint("paid", base_url="https://secret.example/v1", scripted=False, key_env="PAID_API_KEY")

    page = client.get("/settings/models/").content.decode()
    answers = [
        client.get(f"/settings/models/{row.pk}/"),
        client.post("/settings/models/new/", entry()),
        client.post(f"/settings/models/{row.pk}/try/"),
    ]

    assert "paid" in page
    assert "secret.example" not in page
    assert "PAID_API_KEY" not in page
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert not ModelEndpoint.objects.filter(name="qwen-plus").exists()


def test_page_says_whether_a_key_is_set_and_never_shows_it(staff: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EXAMPLE_API_KEY", "sk-very-secret")
    monkeypatch.delenv("OTHER_API_KEY", raising=False)

    staff.post("/settings/models/new/", entry())
    staff.post("/settings/models/new/", entry(name="other", key_env="OTHER_API_KEY"))
    page = staff.get("/settings/models/").content.decode()
    row = ModelEndpoint.objects.get(name="qwen-plus")

    assert (row.params, str(row.output_price), row.scripted) == ({"temperature": 0.2}, "1.200000", False)
    assert "</span>set</span>" in page
    assert "</span>not set</span>" in page
    assert "sk-very-secret" not in page + staff.get(f"/settings/models/{row.pk}/").content.decode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key_env": "PATH"}, "ends in API_KEY"),
        ({"base_url": "ftp://models.example"}, "must begin with https://"),
        ({"base_url": "file:///etc/passwd"}, "must begin with https://"),
        ({"params": '{"model": "another"}'}, "may not set model"),
        ({"params": "[1]"}, "one JSON object"),
        ({"params": "{"}, "valid JSON"),
        ({"params": '{"seed": %s}' % ("9" * 5_000)}, "valid JSON"),
        ({"base_url": "https://models.example/v1\r\nX-Key: y"}, "line break"),
        ({"base_url": "http://169.254.169.254/latest"}, "inside an internal network"),
        ({"name": "scripted-user"}, "already exists"),
    ],
)
def test_invalid_model_is_rejected_with_the_reason(staff: Client, changes: dict[str, object], message: str):
    before = ModelEndpoint.objects.count()

    page = staff.post("/settings/models/new/", entry(**changes)).content.decode()

    assert message in page
    assert ModelEndpoint.objects.count() == before


def test_check_of_a_model_sends_one_request_and_shows_the_time(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.endpoints.connection.is_internal", lambda url: False)
    with serving(StubModel()) as model:
        row = endpoint("stub", base_url=model.base_url, scripted=False)
        model.agent = lambda body: "ready <now>"

        page = staff.post(f"/settings/models/{row.pk}/try/").content.decode()
        part = staff.post(f"/settings/models/{row.pk}/try/", headers={"HX-Request": "true"}).content.decode()

    assert "works" in page
    assert "ready &lt;now&gt;" in page
    assert part.strip().startswith("<form")
    assert sum(model.asked.values()) == 2


@pytest.mark.parametrize("answer", ["internal secret", (400, '{"error": {"message": "internal secret"}}')])
def test_check_of_a_model_does_not_echo_answers_of_an_internal_network(staff: Client, answer: object):
    with serving(StubModel()) as model:
        row = endpoint("stub", base_url=model.base_url, scripted=False)
        model.agent = lambda body: answer

        page = staff.post(f"/settings/models/{row.pk}/try/").content.decode()

    assert ("works" in page) == isinstance(answer, str)
    assert "internal secret" not in page


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "key refused"), (429, "too many requests"), (500, "failing"), (400, "request refused")]
)
def test_check_of_a_failing_model_names_the_failure_after_one_request(staff: Client, status: int, kind: str):
    with serving(StubModel()) as model:
        row = endpoint("stub", base_url=model.base_url, scripted=False)
        model.agent = lambda body: (status, '{"error": {"message": "no"}}')

        page = staff.post(f"/settings/models/{row.pk}/try/").content.decode()

    assert kind in page
    assert sum(model.asked.values()) == 1


def test_missing_key_is_reported_before_anything_is_sent(staff: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ABSENT_API_KEY", raising=False)
    row = endpoint("keyed", base_url="https://models.example/v1", scripted=False, key_env="ABSENT_API_KEY")

    page = staff.post(f"/settings/models/{row.pk}/try/").content.decode()

    assert "no key" in page
    assert "ABSENT_API_KEY" in page


@pytest.mark.parametrize("typed", ["-1", "99999999999", "soon"])
def test_numbers_out_of_range_are_answered_with_what_may_be_entered(staff: Client, typed: str):
    page = staff.post(
        "/settings/models/new/", entry(timeout_seconds=typed, max_concurrency=typed, output_price=typed)
    ).content.decode()

    assert page.count("Enter a whole number between 0 and 2,147,483,647.") == 2
    assert page.count("Enter an amount between 0 and 999,999, with at most 6 decimal places.") == 1
    assert "Ensure" not in page
    assert not ModelEndpoint.objects.filter(name="qwen-plus").exists()

from __future__ import annotations

import os
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format
from selectolax.lexbor import LexborHTMLParser as HTMLParser

from evaluation.endpoints import services
from evaluation.endpoints.catalog import ListedModel
from evaluation.endpoints.connection import learned_facts, set_list_price
from evaluation.endpoints.prices import list_price
from evaluation.endpoints.testing import due_tests, failures_for, play_test, request_test
from evaluation.endpoints.tryout import CHECKS, Line
from evaluation.forms.endpoints import ConnectForm
from evaluation.llm import ModelClient, RetryPolicy
from evaluation.llm.parameters import LENGTHS
from evaluation.llm.stored_keys import SECRET_VARIABLE
from evaluation.model_access import endpoint_of
from evaluation.models import EndpointTest, ModelEndpoint
from evaluation.models.endpoints import PRICES, freeze_endpoint, thaw_endpoint
from studio.models import Role
from tests.evaluation.builders import endpoint
from tests.evaluation.endpoints.service import Body, Service, serving
from tests.evaluation.factories import person
from tests.evaluation.stub_model import StubModel
from tests.factories import BenchmarkFactory, member

pytestmark = pytest.mark.django_db
SCRIPTED = ["asks", "helper", "helpful", "judge", "passive", "silent", "user"]


def entry(**changes: object) -> dict[str, object]:
    return {
        "name": "qwen-plus",
        "base_url": "https://models.example/v1",
        "model": "qwen-plus-latest",
        "key_env": "EXAMPLE_API_KEY",
        "api": "chat",
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
        client.post("/settings/models/new/?service=other", entry()),
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

    staff.post("/settings/models/new/?service=other", entry())
    staff.post("/settings/models/new/?service=other", entry(name="other", key_env="OTHER_API_KEY"))
    page = staff.get("/settings/models/").content.decode()
    row = ModelEndpoint.objects.get(name="qwen-plus")

    assert (row.params, row.output_price, row.scripted) == ({"temperature": 0.2}, None, False)
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
        ({"params": '{"temperature": 7}'}, "The parameters of qwen-plus are not valid: temperature may be at most 2."),
        ({"params": '{"temperature": "hot"}'}, "temperature must be a number."),
        ({"params": '{"max_tokens": 0}'}, "max_tokens must be at least 1."),
        ({"params": '{"max_completion_tokens": 1e9}'}, "max_completion_tokens must be a whole number."),
        ({"params": '{"max_output_tokens": 99999999}'}, "max_output_tokens may be at most 10,000,000."),
        ({"params": '{"stream": "no"}'}, "stream must be true or false."),
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

    page = staff.post("/settings/models/new/?service=other", entry(**changes)).content.decode()

    assert message in page
    assert ModelEndpoint.objects.count() == before


def page_after_test(staff: Client, row: ModelEndpoint) -> str:
    staff.post(f"/settings/models/{row.pk}/try/")
    play_test(row.tests.first().pk, retry_policy=RetryPolicy(attempts=1))
    return staff.get(f"/settings/models/{row.pk}/").content.decode()


def test_test_is_played_by_a_worker_and_stays_on_the_page(staff: Client):
    with serving(Service()) as service:
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False)

        staff.post(f"/settings/models/{row.pk}/try/")
        waiting = staff.get(f"/settings/models/{row.pk}/", headers={"HX-Request": "true"}).content.decode()
        again = row.tests.count(), staff.post(f"/settings/models/{row.pk}/try/") and row.tests.count()
        play_test(row.tests.get().pk)
        sent = len(service.bodies)
        play_test(row.tests.get().pk)
        page = staff.get(f"/settings/models/{row.pk}/").content.decode()
        part = staff.get(f"/settings/models/{row.pk}/", headers={"HX-Request": "true"}).content.decode()

    assert "Waiting for a worker" in waiting and 'hx-trigger="every 1s"' in waiting
    assert again == (1, 1)
    assert len(service.bodies) == sent
    assert "Answered by large-2026" in page and "tokens of input (50 % from a cache)" in page and "every 1s" not in page
    assert part.strip().startswith("<section") and "Goes on after tool calls" in part
    assert "works" in staff.get("/settings/models/").content.decode()


def test_test_whose_worker_died_is_due_again_and_played_from_its_first_line():
    with serving(Service()) as service:
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False)
        test = request_test(row, by=None)
        assert list(due_tests()) == [test]
        half = {"lines": [Line("answers", "holds", "“ready”").to_json()], "attempts": 1, "claimed_by": "dead"}
        EndpointTest.objects.update(**half, lease_until=timezone.now() + timedelta(minutes=1))
        assert list(due_tests()) == []
        EndpointTest.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        assert list(due_tests()) == [test]

        play_test(test.pk)

    test.refresh_from_db()
    assert (test.state, [line["name"] for line in test.lines]) == ("finished", list(CHECKS))


def test_test_that_kills_its_workers_ends(staff: Client):
    row = endpoint("stub", base_url="https://models.example/v1", scripted=False)
    test = request_test(row, by=None)
    EndpointTest.objects.update(attempts=3, claimed_by="dead", lease_until=timezone.now() - timedelta(seconds=1))

    play_test(test.pk)

    page = staff.get(f"/settings/models/{row.pk}/").content.decode()
    assert "broke off" in page and "The studio stopped several times" in page and "Test again" in page


@pytest.mark.django_db(transaction=True)
def test_test_that_another_worker_took_over_stores_nothing_more():
    with serving(Service()) as service:
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False)
        test = request_test(row, by=None)

        def take_over(body: Any, answer: Any) -> Any:
            EndpointTest.objects.update(claimed_by="another")
            connection.close()  # this runs in a thread of the server
            return answer

        service.bend = take_over
        play_test(test.pk)

    test.refresh_from_db()
    assert (test.state, test.claimed_by, test.lines) == ("asked", "another", [])


def test_test_under_way_shows_the_lines_it_has(staff: Client):
    row = endpoint("stub", base_url="https://models.example/v1", scripted=False)
    test = request_test(row, by=None)
    EndpointTest.objects.filter(pk=test.pk).update(
        attempts=1, lines=[Line("answers", "holds", "“ready <now>”").to_json()]
    )

    page = staff.get(f"/settings/models/{row.pk}/").content.decode()

    assert "“ready &lt;now&gt;”" in page and "Testing…" in page
    assert page.count("</span>waiting</span>") == len(CHECKS) - 1


def test_changed_settings_outdate_a_test(staff: Client):
    row = endpoint("stub", base_url="https://models.example/v1", scripted=False)
    test = request_test(row, by=None)
    lines = [Line("tools", "fails", "no call").to_json()]
    EndpointTest.objects.filter(pk=test.pk).update(state="finished", finished_at=timezone.now(), lines=lines)
    assert [line.name for line in failures_for(row, "agent")] == ["tools"]
    assert failures_for(row, "judge") == []

    row.effort = "high"
    row.save()

    assert "The settings have changed since this test" in staff.get(f"/settings/models/{row.pk}/").content.decode()
    assert failures_for(row, "agent") == []


def test_administrators_read_what_a_service_of_an_internal_network_answers(staff: Client):
    with serving(Service()) as service:
        service.bend = lambda body, answer: (400, {"error": {"message": "no such model: large"}})
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False)

        assert "no such model: large" in page_after_test(staff, row)


def test_owners_do_not_read_what_a_service_of_an_internal_network_answers(client: Client):
    with serving(Service()) as service:
        service.bend = lambda body, answer: (400, {"error": {"message": "internal secret"}})
        benchmark = BenchmarkFactory(slug="bakers")
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False, benchmark=benchmark)
        play_test(request_test(row, by=None).pk)
        client.force_login(member(benchmark, Role.OWNER))
        page = client.get(f"/benchmarks/bakers/models/{row.pk}/").content.decode()

    assert "request refused" in page
    assert "internal secret" not in page


@pytest.mark.parametrize(
    ("status", "word"),
    [(401, "key refused"), (429, "too many requests"), (500, "the service fails"), (400, "request refused")],
)
def test_failing_model_is_asked_once_and_the_failure_is_named(staff: Client, status: int, word: str):
    with serving(Service()) as service:
        service.bend = lambda body, answer: (status, {"error": {"message": "no"}})
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False)
        page = page_after_test(staff, row)

    assert word in page
    assert len(service.bodies) == 1
    assert "not fit for pilots" in staff.get("/settings/models/").content.decode()


def test_missing_key_is_reported_before_anything_is_sent(staff: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ABSENT_API_KEY", raising=False)
    row = endpoint("keyed", base_url="https://models.example/v1", scripted=False, key_env="ABSENT_API_KEY")

    page = page_after_test(staff, row)

    assert "no key" in page and "ABSENT_API_KEY" in page


def test_a_model_that_cannot_be_asked_as_it_is_set_says_what_to_correct(staff: Client):
    row = endpoint("stub", base_url="https://api.anthropic.com/v1", model="large", effort="high", scripted=False)

    page = page_after_test(staff, row)

    assert "Effort has no effect at this address" in page
    assert "Correct its settings below: address, effort, API or parameters." in page


def test_prices_in_the_list_have_their_date(staff: Client):
    row = endpoint("priced", base_url="https://api.openai.com/v1", model="gpt-5.4", scripted=False)
    set_list_price(row)
    row.save()

    page = staff.get("/settings/models/").content.decode()

    assert row.price_date is not None
    cell = HTMLParser(page).css_first("td.number").text()
    assert " ".join(cell.split()) == f"2.50 / 15.00 {date_format(row.price_date, 'j M Y')}"


def test_scripted_model_has_no_test(staff: Client):
    row = ModelEndpoint.objects.get(name="scripted-helpful")

    assert "Test again" not in (page := staff.get(f"/settings/models/{row.pk}/").content.decode())
    assert "Not tested yet" not in page


def test_chosen_service_needs_a_key_and_a_model(staff: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef0123456789abcdef")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "DeepSeek" in staff.get("/settings/models/new/").content.decode()
    page = staff.get("/settings/models/new/?service=openai").content.decode()

    staff.post("/settings/models/new/?service=openai", fields_of(page) | {"key": "sk-mine", "model": "gpt-5.4"})

    row = ModelEndpoint.objects.get(model="gpt-5.4")
    assert (row.name, row.base_url, row.api, row.effort) == ("gpt-5.4", "https://api.openai.com/v1", "responses", "")
    assert (row.input_price, row.cached_price, row.output_price) == (Decimal("2.5"), Decimal("0.25"), Decimal(15))
    assert row.price_date is not None and row.price_source.startswith("litellm")
    assert row.tests.count() == 1
    shown = staff.get(f"/settings/models/{row.pk}/").content.decode()
    assert "$2.50 input, $0.25 from a cache, $15.00 output" in " ".join(shown.split()).replace(" ,", ",")
    assert "272,000 tokens cost more" in " ".join(shown.split())


def test_user_and_judge_of_the_paper_are_one_choice(staff: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-studio")
    page = staff.get("/settings/models/new/?service=openai&paper").content.decode()

    staff.post("/settings/models/new/?service=openai&paper", fields_of(page))

    row = ModelEndpoint.objects.get(model="gpt-5.4")
    assert (row.name, row.effort, row.params, row.key_env) == (
        "gpt-5.4 · none", "none", {"temperature": 0}, "OPENAI_API_KEY",
    )  # fmt: skip


def test_models_of_a_service_are_listed_with_the_key_just_entered(staff: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(SECRET_VARIABLE, "0123456789abcdef0123456789abcdef")
    with serving(Service()) as service:
        service.listed = [{"id": name} for name in ("small", "large", "text-embedding-3")]
        part = staff.post(
            "/settings/models/new/list/?service=other",
            entry(base_url=service.base_url, key="sk-mine", key_env="", model=""),
            headers={"HX-Request": "true"},
        ).content.decode()

    assert re.findall(r'<option value="([^"]+)"', part) == ["large", "small"]
    assert service.keys == ["Bearer sk-mine"]
    assert "sk-mine" not in part


def test_prices_of_listed_models_have_their_date():
    price = list_price("https://api.openai.com/v1", "gpt-5.4")
    form = ConnectForm(service=services.BY_SLUG["openai"])

    form.offer([ListedModel("gpt-5.4", None, price), ListedModel("gpt-unheard-of", None, None)])

    assert price is not None
    assert form.fields["model"].help_text == (
        f"This service has 2. Prices are in US dollars per million tokens, of {date_format(price.on, 'j M Y')}."
    )


def test_service_without_a_list_says_so_and_a_name_can_be_typed(staff: Client):
    with serving(Service()) as service:
        service.listed = None
        part = staff.post(
            "/settings/models/new/list/?service=other", entry(base_url=service.base_url, key_env=""),
            headers={"HX-Request": "true"},
        ).content.decode()  # fmt: skip

    assert 'role="alert"' in part and 'type="text" name="model"' in part


@pytest.mark.parametrize(
    "wrong", [{"params": ""}, {"params": "[1]"}, {"model": "\0", "name": ""}, {"effort": "\0", "name": ""}]
)
def test_list_of_models_is_asked_for_with_whatever_was_typed(staff: Client, wrong: dict[str, str]):
    with serving(Service()) as service:
        answer = staff.post(
            "/settings/models/new/list/?service=other", entry(base_url=service.base_url, key_env="") | wrong
        )

    assert answer.status_code == 200


def test_list_of_models_is_not_fetched_from_an_internal_network_that_settings_close(staff: Client, settings: Any):
    settings.MODEL_NETWORKS = []
    with serving(Service()) as service:
        part = staff.post(
            "/settings/models/new/list/?service=other", entry(base_url=service.base_url, key_env="")
        ).content.decode()

    assert "inside an internal network" in part
    assert service.keys == []


def test_price_that_a_router_lists_is_kept_by_the_test(staff: Client, monkeypatch: pytest.MonkeyPatch):
    with serving(Service()) as service:
        monkeypatch.setitem(services.BY_HOST, service.base_url.split("/")[2], "openrouter")
        pricing = {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}
        service.listed = [{"id": "large", "context_length": 200_000, "pricing": pricing}]
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False, input_price=None)
        page = page_after_test(staff, row)

    row.refresh_from_db()
    assert (row.input_price, row.cached_price, row.output_price) == (Decimal(3), Decimal("0.3"), Decimal(15))
    assert "it reads 200,000" in page


def test_price_is_changed_by_hand_and_has_the_day_it_was(staff: Client):
    row = endpoint("mine", base_url="https://models.example/v1", model="large", scripted=False, input_price=None)
    page = staff.get(f"/settings/models/{row.pk}/").content.decode()
    assert "No price is known" in page

    staff.post(f"/settings/models/{row.pk}/", fields_of(page) | {"input_price": "0.4", "output_price": "1.2"})

    row.refresh_from_db()
    assert (row.input_price, row.price_source, row.price_date) == (Decimal("0.4"), "entered", timezone.localdate())


def test_another_model_at_the_same_service_takes_its_own_price_and_name(staff: Client, monkeypatch: Any):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-studio")
    page = staff.get("/settings/models/new/?service=openai&paper").content.decode()
    staff.post("/settings/models/new/?service=openai&paper", fields_of(page))
    row = ModelEndpoint.objects.get(model="gpt-5.4")
    page = staff.get(f"/settings/models/{row.pk}/").content.decode()

    staff.post(f"/settings/models/{row.pk}/", fields_of(page) | {"model": "gpt-5.4-mini", "effort": "high"})

    row.refresh_from_db()
    assert (row.name, row.label, row.input_price) == ("gpt-5.4-mini · high", "gpt-5.4-mini · high", Decimal("0.75"))


def fields_of(page: str) -> dict[str, str]:
    """What a browser would send back with the form of a model."""
    form = HTMLParser(page).css_first("form[data-guard]")
    values = {
        field.attributes["name"]: field.attributes.get("value") or ""
        for field in form.css("input[name]")
        if field.attributes.get("type") not in ("checkbox", "password")
    }
    values |= {field.attributes["name"]: field.text() for field in form.css("textarea[name]")}
    for field in form.css("select[name]"):
        chosen = field.css_first("option[selected]") or field.css_first("option")
        values[field.attributes["name"]] = chosen.attributes.get("value") or ""
    return {str(name): value.strip() for name, value in values.items()}


@pytest.mark.parametrize("typed", ["-1", "0.0000001", "99999999999", "soon"])
def test_numbers_out_of_range_are_answered_with_what_may_be_entered(staff: Client, typed: str):
    row = endpoint("mine", base_url="https://models.example/v1", model="large", scripted=False)

    page = staff.post(
        f"/settings/models/{row.pk}/", entry(timeout_seconds=typed, max_concurrency=typed, output_price=typed)
    ).content.decode()

    assert page.count("Enter a whole number between 1 and 3,600.") == 1
    assert page.count("Enter a whole number between 1 and 1,000.") == 1
    assert page.count("Enter an amount between 0 and 999,999, with at most 6 decimal places.") == 1
    assert "Ensure" not in page
    row.refresh_from_db()
    assert row.name == "mine"


def test_a_model_is_given_time_to_answer_and_asked_at_all(staff: Client):
    row = endpoint("mine", base_url="https://models.example/v1", model="large", scripted=False)

    page = staff.post(f"/settings/models/{row.pk}/", entry(timeout_seconds=0, max_concurrency=0)).content.decode()

    assert page.count("Enter a whole number between 1 and") == 2


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("timeout_seconds", value) for value in (0, 3_601)),
        *(("max_concurrency", value) for value in (0, 1_001)),
        *((price, "-0.000001") for price in PRICES),
        *(("api", value) for value in ("", "completions")),
        ("dialect", "klingon"),
        ("effort", "hard"),
        *(("params", {"temperature": value}) for value in (-0.1, 2.1, "hot", True, [1])),
        *(("params", {name: value}) for name in LENGTHS for value in (0, 10_000_001, "many")),
        ("params", [1]),
    ],
)
def test_the_database_itself_refuses_what_no_model_can_have(column: str, value: object):
    row = endpoint("mine", base_url="https://models.example/v1", model="large", scripted=False)

    with pytest.raises(IntegrityError, match="violates check constraint"):
        ModelEndpoint.objects.filter(pk=row.pk).update(**{column: value})


@pytest.mark.parametrize(
    "params", [{}, {"temperature": None}, {"temperature": 0}, {"temperature": 2, "max_tokens": 1, "provider": {}}]
)
def test_the_database_takes_parameters_within_their_bounds(params: dict[str, object]):
    assert endpoint("mine", base_url="https://models.example/v1", scripted=False, params=params).params == params


def test_a_model_without_an_api_chosen_is_refused_on_its_page(staff: Client):
    row = endpoint("mine", base_url="https://models.example/v1", model="large", scripted=False)

    page = HTMLParser(staff.post(f"/settings/models/{row.pk}/", entry(api="")).content.decode())

    assert page.css_first("[name=api]").attributes["aria-invalid"] == "true"
    assert [option.attributes["value"] for option in page.css("[name=api] option")] == ["chat", "responses"]


def test_what_the_service_refused_is_shown_on_its_page(staff: Client):
    def picky(body: Body, answer: Body) -> Body | tuple[int, Body]:
        if "temperature" in body:
            return 400, {"error": {"message": "Unsupported parameter: 'temperature' is not supported with this model."}}
        return answer

    with serving(Service()) as service:
        service.bend = picky
        row = endpoint("stub", base_url=service.base_url, model="large", scripted=False)
        page = page_after_test(staff, row)

    assert "It refuses temperature: left out. It answers at its own temperature, also as a judge." in page
    row.refresh_from_db()
    row.model = "another"
    assert learned_facts(row) == {}


def test_effort_where_it_has_no_effect_is_refused_beside_its_field(staff: Client):
    page = staff.post(
        "/settings/models/new/?service=other", entry(base_url="https://api.anthropic.com/v1", effort="high")
    ).content.decode()

    assert "Effort has no effect at this address" in page


def test_what_two_workers_learn_of_a_model_is_kept_together_and_known_to_the_next(monkeypatch: pytest.MonkeyPatch):
    row = endpoint("shared", base_url="https://models.example/v1", model="m", scripted=False)
    one = endpoint_of(row)
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in another process
    two = endpoint_of(row)

    one.learned.learn({"temperature": 1}, "temperature is not supported")
    two.learned.learn({"max_tokens": 9}, "Unknown parameter: 'max_tokens'.")
    two.learned.learn({"response_format": {"type": "json_schema"}}, "response_format is not supported")

    known = {"dropped": ["temperature"], "renamed": {"max_tokens": "max_completion_tokens"}, "json": "json_object"}
    now = ModelEndpoint.objects.get(pk=row.pk)
    assert learned_facts(now) == known
    for process in (-1, -2):
        monkeypatch.setattr(os, "getpid", lambda: process)  # noqa: B023
        assert endpoint_of(thaw_endpoint(now, freeze_endpoint(row))).learned.facts == known


def test_what_one_worker_was_refused_another_that_is_playing_already_does_not_send(
    monkeypatch: pytest.MonkeyPatch, stub: StubModel
):
    row = endpoint("shared", base_url=stub.base_url, model="m", scripted=False)
    playing = ModelClient(endpoint_of(row))
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as in another process

    endpoint_of(row).learned.learn({"temperature": 0}, "temperature is not supported")
    playing.complete([{"role": "user", "content": "Hello."}], temperature=0)

    assert ["temperature" in body for body in stub.bodies] == [False]


def test_what_a_pilot_learns_of_the_model_that_a_row_once_was_is_not_kept_with_the_row():
    row = endpoint("busy", base_url="https://models.example/v1", model="old", scripted=False)
    as_run = endpoint_of(row)
    ModelEndpoint.objects.filter(pk=row.pk).update(model="new", learned={"dropped": ["seed"], "of": "new"})

    as_run.learned.learn({"temperature": 1}, "temperature is not supported")

    assert as_run.learned.knows_refused("temperature")
    assert ModelEndpoint.objects.get(pk=row.pk).learned == {"dropped": ["seed"], "of": "new"}

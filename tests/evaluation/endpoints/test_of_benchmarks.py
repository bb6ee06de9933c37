"""Models that owners connect for their benchmark, and the keys they enter."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluation.endpoints.parts import default_endpoint
from evaluation.endpoints.testing import play_test
from evaluation.llm import MissingKeyError
from evaluation.llm.errors import EndpointAddressError
from evaluation.llm.stored_keys import SECRET_VARIABLE, StoredKeyError, seal, unseal
from evaluation.model_access import endpoint_of
from evaluation.models import AssistantModel, Judging, ModelEndpoint, Session
from studio.domain.options import OptionsError
from studio.models import Benchmark, Notification, Role, User
from tests.evaluation.builders import endpoint, pilot_of
from tests.evaluation.endpoints.service import Service, serving
from tests.factories import BenchmarkFactory, a_persona, a_task, api_token, member

pytestmark = pytest.mark.django_db

SECRET = "0123456789abcdef0123456789abcdef"
KEY = "sk-entered-once"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory(slug="bakers")


@pytest.fixture
def owner(benchmark: Benchmark) -> Client:
    return client_of(member(benchmark, Role.OWNER))


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def entry(**changes: object) -> dict[str, object]:
    return {
        "name": "ours", "base_url": "https://models.example/v1", "model": "large", "key": KEY, "params": "{}",
        "api": "chat", "input_price": "0", "output_price": "0", "timeout_seconds": 60, "max_concurrency": 8,
    } | changes  # fmt: skip


def connect(client: Client, **changes: object) -> Any:
    return client.post("/benchmarks/bakers/models/new/?service=other", entry(**changes))


def test_who_owns_a_benchmark_is_led_from_the_settings_to_where_they_connect_a_model(
    owner: Client, benchmark: Benchmark
):
    link = '<a href="/benchmarks/bakers/models/new/">Connect a model for '
    author = client_of(member(benchmark, Role.AUTHOR))
    pages = [client.get("/settings/models/").content.decode() for client in (owner, author)]

    assert [link in page for page in pages] == [True, False]
    endpoint("of the bakers", benchmark=benchmark, scripted=False, base_url="https://models.example/v1")
    page = owner.get("/settings/models/").content.decode()
    assert "of the bakers" in page and "No real model connected yet" not in page


def test_owner_connects_a_model_whose_key_is_encrypted_and_never_shown(owner: Client, benchmark: Benchmark):
    assert connect(owner).status_code == 302

    row = ModelEndpoint.objects.get(name="ours")
    assert (row.benchmark, endpoint_of(row).key()) == (benchmark, KEY)
    assert KEY not in str(ModelEndpoint.objects.filter(pk=row.pk).values().get())
    assert KEY not in repr(endpoint_of(row)) and row.sealed_key not in repr(endpoint_of(row))
    for address in ("models/", f"models/{row.pk}/"):
        page = owner.get(f"/benchmarks/bakers/{address}").content.decode()
        assert KEY not in page and row.sealed_key not in page


def test_key_reaches_its_service_and_nothing_else(owner: Client, benchmark: Benchmark, caplog: Any):
    caplog.set_level(logging.DEBUG)
    with serving(Service()) as stub:
        connect(owner, base_url=stub.base_url)
        row = ModelEndpoint.objects.get(name="ours")
        play_test(row.tests.get().pk)
        page = owner.get(f"/benchmarks/bakers/models/{row.pk}/").content.decode()

    assert "Reads a prompt of 26,000 tokens" in page and "Tested" in page
    assert stub.keys == [f"Bearer {KEY}"]
    assert KEY not in page and KEY not in caplog.text and KEY not in str(row.tests.values())


def test_where_no_scripted_model_is_there_the_first_that_is_connected_plays_each_part(benchmark: Benchmark):
    ModelEndpoint.objects.all().delete()
    first, _ = (
        endpoint(name, benchmark=benchmark, scripted=False, base_url="https://models.example/v1") for name in "ab"
    )

    assert [default_endpoint(part, benchmark) for part in ("agent", "user_model", "judge")] == [first] * 3


def test_without_a_secret_a_key_is_refused_with_what_to_do(owner: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(SECRET_VARIABLE)

    page = owner.get("/benchmarks/bakers/models/new/?service=openai").content.decode()
    connect(owner)

    assert "STUDIO_KEY_SECRET is not set" in page and "openssl rand -base64 32" in page
    assert ModelEndpoint.objects.get(name="ours").sealed_key == ""


def test_key_is_not_sent_to_another_address(owner: Client):
    connect(owner)
    row = ModelEndpoint.objects.get(name="ours")

    page = owner.post(f"/benchmarks/bakers/models/{row.pk}/", entry(key="", base_url="https://else.example/v1"))
    assert "enter the key again" in page.content.decode()

    row.base_url = "https://else.example/v1"  # behind the form's back
    with pytest.raises(MissingKeyError, match="Enter the key again"):
        endpoint_of(row).key()


def test_blank_key_keeps_the_stored_one_and_a_tick_deletes_it(owner: Client):
    connect(owner)
    row = ModelEndpoint.objects.get(name="ours")
    address = f"/benchmarks/bakers/models/{row.pk}/"

    owner.post(address, entry(key="", model="larger"))
    row.refresh_from_db()
    assert (row.model, endpoint_of(row).key()) == ("larger", KEY)
    owner.post(address, entry(key="", forget_key="on"))
    row.refresh_from_db()
    assert row.sealed_key == ""


def test_stored_key_needs_the_secret_it_was_stored_with(monkeypatch: pytest.MonkeyPatch):
    sealed = seal(KEY, "studio https://models.example")
    assert seal(KEY, "studio https://models.example") != sealed
    assert unseal(sealed, "studio https://models.example") == KEY

    monkeypatch.setenv(SECRET_VARIABLE, SECRET[::-1])
    with pytest.raises(StoredKeyError, match="Enter the key again"):
        unseal(sealed, "studio https://models.example")
    monkeypatch.setenv(SECRET_VARIABLE, "short")
    with pytest.raises(StoredKeyError, match="fewer than 32"):
        seal(KEY, "studio")


@pytest.mark.parametrize(("address", "why"), [
    ("https://evil.example/v1", "Owners can connect models at *.models.example"),
    ("http://api.models.example/v1", "must begin with https://"),
    ("https://10.0.0.7/v1", "Owners can connect models at"),
])  # fmt: skip
def test_administrators_limit_where_owners_connect(
    owner: Client, settings: Any, benchmark: Benchmark, address: str, why: str
):
    settings.MODEL_ADDRESSES = ["*.models.example"]

    page = connect(owner, base_url=address).content.decode()

    assert why in page
    assert not ModelEndpoint.objects.filter(name="ours").exists()
    row = endpoint("older", base_url=address, scripted=False, benchmark=benchmark)
    with pytest.raises(EndpointAddressError, match="cannot be used"):
        endpoint_of(row).address()


def test_private_networks_are_closed_unless_set(owner: Client, settings: Any):
    settings.MODEL_NETWORKS = []

    page = connect(owner, base_url="https://10.0.0.7/v1").content.decode()

    assert "inside an internal network" in page


def test_owners_use_keys_of_the_environment_only_where_granted(
    owner: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, benchmark: Benchmark
):
    monkeypatch.setenv("STUDIOS_API_KEY", "sk-studio")
    connect(owner, key="", key_env="STUDIOS_API_KEY")
    assert ModelEndpoint.objects.get(name="ours").key_env == ""

    settings.OWNER_KEYS = ["STUDIOS_API_KEY@models.example"]
    page = connect(owner, name="evil", key="", key_env="STUDIOS_API_KEY", base_url="https://evil.example/v1")
    assert "Owners may not use the key" in page.content.decode()
    connect(owner, name="granted", key="", key_env="STUDIOS_API_KEY")
    row = ModelEndpoint.objects.get(name="granted")
    assert endpoint_of(row).key() == "sk-studio"
    settings.OWNER_KEYS = []
    with pytest.raises(MissingKeyError, match="may not use"):
        endpoint_of(row).key()


@pytest.mark.slow
def test_model_of_a_benchmark_is_invisible_and_unusable_elsewhere(owner: Client):
    connect(owner)
    row = ModelEndpoint.objects.get(name="ours")
    elsewhere = BenchmarkFactory()
    stranger = member(elsewhere, Role.OWNER)
    a_task(a_persona(elsewhere))
    client = client_of(stranger)

    listed = Client().get("/api/endpoints/", headers={"Authorization": f"Token {api_token(stranger)}"})
    pages = [client.get(f"/benchmarks/{elsewhere.slug}/{page}/").content.decode() for page in ("models", "pilots/new")]

    assert "ours" not in [entry["name"] for entry in listed.json()["results"]]
    assert not any(">ours" in page for page in pages)
    assert client.get("/benchmarks/bakers/models/").status_code == 404
    with pytest.raises(OptionsError, match="There is no model “ours”"):
        pilot_of(elsewhere, agent=row)


def test_request_for_a_model_reaches_the_owners(benchmark: Benchmark):
    boss, author = member(benchmark, Role.OWNER), member(benchmark, Role.AUTHOR)
    client = client_of(author)

    page = client.get("/benchmarks/bakers/models/").content.decode()
    assert "you need to be an owner" in page
    client.post("/benchmarks/bakers/models/ask/", {"text": "A large one,\nfor the rye tasks."})

    [notification] = Notification.objects.all()
    assert (notification.user, notification.text) == (boss, "asks for a model: “A large one, for the rye tasks.”")
    assert "asks for a model" in client_of(boss).get("/inbox/").content.decode()


@pytest.mark.slow
def test_key_is_in_no_export(owner: Client, benchmark: Benchmark):
    connect(owner)
    row = ModelEndpoint.objects.get(name="ours")
    a_task(a_persona(benchmark))
    pilot = pilot_of(benchmark, agent=row)
    reader = {"Authorization": f"Token {api_token(User.objects.get(memberships__role='owner'))}"}

    texts = [
        json.dumps(pilot.config),
        owner.get(f"/pilots/{pilot.pk}/report.json").content.decode(),
        Client().get("/api/endpoints/", headers=reader).content.decode(),
        Client().get(f"/api/pilots/{pilot.pk}/", headers=reader).content.decode(),
    ]
    assert not any(KEY in text or row.sealed_key in text for text in texts)


def test_removing_a_model_with_results_removes_only_its_key(owner: Client, benchmark: Benchmark):
    connect(owner)
    row = ModelEndpoint.objects.get(name="ours")
    a_task(a_persona(benchmark))
    pilot_of(benchmark, agent=row)

    owner.post(f"/benchmarks/bakers/models/{row.pk}/remove/")
    row.refresh_from_db()
    assert row.sealed_key == ""
    connect(owner, name="unused")
    with CaptureQueriesContext(connection) as queries:
        owner.post(f"/benchmarks/bakers/models/{ModelEndpoint.objects.get(name='unused').pk}/remove/")
    assert not ModelEndpoint.objects.filter(name="unused").exists()
    assert not any('call"' in query["sql"] for query in queries)  # there may be millions of calls


def test_model_that_only_judged_again_stays(owner: Client, benchmark: Benchmark):
    connect(owner)
    row = ModelEndpoint.objects.get(name="ours")
    a_task(a_persona(benchmark))
    pilot = pilot_of(benchmark)
    session = Session.objects.get(run__pilot=pilot)
    Judging.objects.create(session=session, round=pilot.rounds.get(), endpoint=row, judge={}, sample=2)

    owner.post(f"/benchmarks/bakers/models/{row.pk}/remove/")

    assert ModelEndpoint.objects.filter(pk=row.pk).exists()


def test_deleting_a_benchmark_deletes_its_models(owner: Client, benchmark: Benchmark):
    connect(owner)
    AssistantModel.objects.create(benchmark=benchmark, endpoint=ModelEndpoint.objects.get(name="ours"))

    benchmark.delete()

    assert not ModelEndpoint.objects.filter(name="ours").exists()


def test_command_names_only_models_of_its_benchmark(owner: Client, benchmark: Benchmark):
    connect(owner)
    BenchmarkFactory(slug="others")

    out = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("pilot", "--benchmark", "others", "--agent", "ours", "--json", stdout=out)

    assert "There is no model “ours”" in out.getvalue()

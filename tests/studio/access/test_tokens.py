"""Tokens of the API: shown once, for so much, for so long."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from studio.models import ApiToken, Role, User
from tests.factories import BenchmarkFactory, UserFactory, a_persona, api_token, member

pytestmark = pytest.mark.django_db


def ask(secret: str, method: str = "get", address: str = "/api/benchmarks/", **data: Any) -> Any:
    return getattr(Client(), method)(address, data, headers={"Authorization": f"Token {secret}"})


def test_token_is_shown_once_stored_as_a_hash_and_can_be_revoked():
    user = UserFactory()
    client = Client()
    client.force_login(user)

    page = client.post("/settings/tokens/", {"name": "nightly", "scope": "read", "days": 30}).content.decode()
    [secret] = re.findall(r"pbs_[\w-]{43}", page)

    assert ask(secret).status_code == 200
    assert secret not in client.get("/settings/tokens/").content.decode()
    assert secret not in str(ApiToken.objects.values().get())
    client.post(f"/settings/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert ask(secret).status_code == 401


def test_expired_token_is_rejected_with_the_reason():
    secret = api_token(UserFactory())
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    answer = ask(secret)

    assert (answer.status_code, "expired on" in answer.json()["detail"]) == (401, True)


def test_use_of_a_token_is_noted():
    secret = api_token(UserFactory())
    ask(secret)

    used = ApiToken.objects.get().last_used_at
    assert used is not None and timezone.now() - used < timedelta(minutes=1)
    ask(secret)
    assert ApiToken.objects.get().last_used_at == used, "noted once a minute"
    ApiToken.objects.update(last_used_at=used - timedelta(minutes=2))
    ask(secret)
    assert ApiToken.objects.get().last_used_at >= used


def test_token_of_a_disabled_account_does_not_work():
    user = UserFactory()
    secret = api_token(user)
    User.objects.update(is_active=False)

    assert ask(secret).status_code == 401


def test_a_person_has_fifty_tokens_at_most_and_settings_count_those_that_work():
    user = UserFactory()
    for _ in range(50):
        api_token(user)
    ApiToken.objects.filter(pk=ApiToken.objects.first().pk).update(expires_at=timezone.now())
    client = Client()
    client.force_login(user)

    page = client.post("/settings/tokens/", {"name": "nightly", "scope": "read", "days": 30}).content.decode()

    assert "You have 50 tokens. Revoke one that you no longer need." in page
    assert ApiToken.objects.count() == 50
    assert client.get("/settings/").context["token_count"] == 49


@pytest.mark.parametrize(("scope", "reads", "writes", "starts"), [
    ("read", 200, 403, 403),
    ("write", 200, 400, 403),
    ("full", 200, 400, 404),
])  # fmt: skip
def test_scope_decides_what_a_token_may(scope: str, reads: int, writes: int, starts: int):
    benchmark = BenchmarkFactory()
    secret = api_token(member(benchmark, Role.OWNER), scope)
    a_persona(benchmark)
    board = f"/api/benchmarks/{benchmark.slug}/personas/baker/board/"

    assert ask(secret).status_code == reads
    assert ask(secret, "post", board).status_code == writes
    assert ask(secret, "post", "/api/pilots/", benchmark="x").status_code == starts
    assert ask(secret, "post", "/api/releases/", benchmark="x").status_code == starts

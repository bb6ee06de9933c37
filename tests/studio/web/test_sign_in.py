"""Both doors: who guesses passwords waits longer and longer, and who knows theirs does not."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import check_password, identify_hasher, make_password
from django.db import connection
from django.test import Client, RequestFactory
from django.utils import timezone

from studio.models import SignInRecord, User
from studio.web import sign_in
from studio.web.sign_in import ADDRESS, LONGEST_SECONDS, NAME, NAME_AT_ADDRESS, client_address

pytestmark = pytest.mark.django_db

DOORS = ["/login/", "/admin/login/"]


@pytest.fixture(autouse=True)
def ada(db: None) -> User:
    return User.objects.create_user("ada", password="right", is_staff=True)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands still: on a busy machine, delays would end while a test runs."""
    moment = timezone.now()
    monkeypatch.setattr(sign_in, "timezone", SimpleNamespace(now=lambda: moment))


def knock(name: str = "ada", password: str = "wrong", *, door: str = "/login/", address: str = "10.0.0.1") -> Any:
    return Client(REMOTE_ADDR=address).post(door, {"username": name, "password": password})


def later(seconds: float) -> None:
    """Let time pass, as far as the delays know."""
    for row in SignInRecord.objects.exclude(delayed_until=None):
        row.delayed_until -= timedelta(seconds=seconds)
        row.tried_at -= timedelta(seconds=seconds)
        row.save()


@pytest.mark.parametrize("door", DOORS)
def test_guessing_is_delayed_at_both_doors(door: str):
    statuses = [knock(door=door).status_code for _ in range(20)]

    assert statuses == [200] * NAME_AT_ADDRESS.free + [429] * 15


def test_delayed_attempt_says_when_to_try_again():
    for _ in range(NAME_AT_ADDRESS.free):
        knock()

    response = knock()

    assert response.headers["Retry-After"] == "1"
    assert "Too many sign-in attempts" in response.content.decode()
    assert "Try again in 1 seconds" in " ".join(response.content.decode().split())


def test_right_password_is_not_looked_at_during_a_delay():
    for _ in range(NAME_AT_ADDRESS.free):
        knock()

    assert knock(password="right").status_code == 429
    later(2)
    assert knock(password="right").status_code == 302


@pytest.mark.slow
def test_delay_doubles_up_to_a_quarter_of_an_hour():
    delays = []
    for _ in range(20):
        response = knock()
        if response.status_code == 429:
            delays.append(int(response.headers["Retry-After"]))
            later(delays[-1])
            knock()

    assert delays[:4] == [1, 2, 4, 8]
    assert NAME_AT_ADDRESS.delay(40).total_seconds() == LONGEST_SECONDS


def test_success_forgets_earlier_failures():
    for _ in range(NAME_AT_ADDRESS.free - 1):
        knock()
    knock(password="right")

    assert [knock().status_code for _ in range(NAME_AT_ADDRESS.free)] == [200] * NAME_AT_ADDRESS.free


def test_failures_of_yesterday_are_forgotten():
    for _ in range(NAME_AT_ADDRESS.free):
        knock()
    later(25 * 3600)

    assert [knock().status_code for _ in range(NAME_AT_ADDRESS.free)] == [200] * NAME_AT_ADDRESS.free


@pytest.mark.slow
def test_name_is_protected_against_guesses_from_many_addresses():
    statuses = [knock(address=f"10.0.{number}.1").status_code for number in range(NAME.free + 3)]

    assert statuses == [200] * NAME.free + [429] * 3


@pytest.mark.slow
def test_guesses_from_elsewhere_do_not_keep_out_who_signed_in_here_before():
    knock(password="right", address="192.0.2.7")
    for number in range(NAME.free + 3):
        knock(address=f"10.0.{number}.1")

    assert knock(password="right", address="192.0.2.7").status_code == 302


@pytest.mark.slow
def test_address_that_tries_many_names_is_delayed():
    statuses = [knock(f"name-{number}").status_code for number in range(ADDRESS.free + 3)]

    assert statuses == [200] * ADDRESS.free + [429] * 3


def test_names_are_counted_whether_or_not_they_exist():
    assert [knock("nobody").status_code for _ in range(7)] == [knock("ada").status_code for _ in range(7)]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_guesses_made_at_once_are_counted_each():
    def guess(_: int) -> int:
        try:
            return int(knock().status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(guess, range(36)))

    assert statuses.count(200) == NAME_AT_ADDRESS.free
    assert statuses.count(429) == 36 - NAME_AT_ADDRESS.free


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_many_people_may_sign_in_at_once_from_one_address():
    for number in range(24):
        User.objects.create_user(f"member{number}", password="right")

    def sign_in(number: int) -> int:
        try:
            return int(knock(f"member{number}", "right").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(sign_in, range(24)))

    assert statuses == [302] * 24


def test_records_name_nobody():
    knock("ada")

    assert not SignInRecord.objects.filter(key__icontains="ada").exists()


def test_old_records_are_removed(monkeypatch: pytest.MonkeyPatch):
    SignInRecord.objects.create(key="old", tried_at=timezone.now() - timedelta(days=31))
    monkeypatch.setattr(sign_in.secrets, "randbelow", lambda n: 0)

    knock()

    assert not SignInRecord.objects.filter(key="old").exists()


def test_address_is_the_one_the_proxy_saw(settings: Any):
    request = RequestFactory(REMOTE_ADDR="127.0.0.1").get("/", headers={"X-Forwarded-For": "1.2.3.4, 5.6.7.8"})

    settings.BEHIND_PROXY = True
    assert client_address(request) == "5.6.7.8"
    settings.BEHIND_PROXY = False
    assert client_address(request) == "127.0.0.1"


def test_network_of_ipv6_counts_as_one_address():
    addresses = {client_address(RequestFactory(REMOTE_ADDR=f"2001:db8::{end}").get("/")) for end in range(1, 9)}

    assert addresses == {"2001:db8::/64"}


def test_one_password_is_hashed_at_a_time_in_a_process(monkeypatch: pytest.MonkeyPatch):
    under_way, most = 0, 0
    lock = threading.Lock()

    def slowly(*_: Any, **__: Any) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        threading.Event().wait(0.01)
        with lock:
            under_way -= 1

    monkeypatch.setattr(sign_in.ModelBackend, "authenticate", slowly)
    monkeypatch.setattr(sign_in.Attempt, "count", lambda self: None)
    request = RequestFactory().post("/login/")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: authenticate(request, username=f"n{n}", password="x"), range(8)))

    assert most == sign_in.HASHES_AT_ONCE


def test_too_many_people_at_once_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sign_in, "LONGEST_WAIT_SECONDS", 0.01)
    with sign_in._hashing:
        response = knock(password="right")

    assert response.status_code == 503
    assert response.headers["Retry-After"] == "1"
    assert "Too many people are signing in" in response.content.decode()


@pytest.mark.slow
def test_password_is_hashed_with_argon2_and_old_hashes_still_work(settings: Any):
    settings.PASSWORD_HASHERS = [
        "studio.web.sign_in.PasswordHasher",
        "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    ]

    assert make_password("x").startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    old = make_password("x", hasher="pbkdf2_sha256")
    assert check_password("x", old)
    assert identify_hasher(old).algorithm == "pbkdf2_sha256"

"""One's own account: second step, forgotten password, email, sessions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core import mail
from django.test import Client
from django.urls import reverse

from studio.models import User
from studio.web.sign_in import NAME_AT_ADDRESS

pytestmark = pytest.mark.django_db

SECRET = "JBSWY3DPEHPK3PXP"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", email="ada@example.org", password="rye and water", is_staff=True)


def sign_in(name: str = "ada", door: str = "/login/", **data: str) -> tuple[Client, Any]:
    client = Client()
    return client, client.post(door, {"username": name, "password": "rye and water", **data})


def confirm(client: Client) -> None:
    client.post("/account/confirm/", {"password": "rye and water"})


def code() -> str:
    return str(format_hotp_value(hotp_value(SECRET, next(yield_hotp_counters_from_time()))))


@pytest.mark.parametrize("name", ["ada", "ada@example.org", "ADA@example.org"])
def test_username_and_email_both_sign_in(ada: User, name: str):
    _, answer = sign_in(name, next="/benchmarks/")

    assert answer.url == "/benchmarks/"


def test_email_that_two_accounts_have_signs_nobody_in(ada: User):
    User.objects.create_user("eda", email="ada@example.org", password="rye and water")

    assert "Incorrect username or password" in sign_in("ada@example.org")[1].content.decode()


@pytest.mark.parametrize(("door", "wanted"), [("/login/", "/signed-in/"), ("/admin/login/", "/admin/")])
def test_second_step_is_asked_at_both_doors(ada: User, door: str, wanted: str):
    TOTP.activate(ada, SECRET)
    client, answer = sign_in(door=door, next=wanted)

    assert answer.url == "/settings/second-step/authenticate/"
    assert client.get(wanted).status_code == 302
    assert "Second step" in client.get(answer.url).content.decode()
    assert client.post(answer.url, {"code": code()}).url == wanted
    assert client.get(wanted).status_code == 200


def test_guessing_codes_is_delayed(ada: User):
    TOTP.activate(ada, SECRET)
    client, answer = sign_in()

    statuses = [client.post(answer.url, {"code": "000000"}).status_code for _ in range(NAME_AT_ADDRESS.free + 2)]

    assert statuses == [200] * NAME_AT_ADDRESS.free + [429] * 2


def test_authenticator_app_is_set_up_with_a_code_and_brings_recovery_codes(ada: User):
    client, _ = sign_in()
    confirm(client)
    page = client.get("/settings/second-step/totp/activate/").content.decode()
    shown = re.search(r"<code[^>]*>([A-Z2-7]+)</code>", page)
    assert shown
    [number] = [format_hotp_value(hotp_value(shown.group(1), n)) for n in [next(yield_hotp_counters_from_time())]]

    answer = client.post("/settings/second-step/totp/activate/", {"code": number}, follow=True)

    assert "10 of 10 are left" in answer.content.decode()
    assert set(Authenticator.objects.values_list("type", flat=True)) == {"totp", "recovery_codes"}
    assert "On." in client.get("/settings/").content.decode()


def test_changing_the_second_step_asks_for_the_password(ada: User):
    client = Client()
    client.force_login(ada)

    assert client.get("/settings/second-step/totp/activate/").url.startswith("/account/confirm/")
    answer = client.post("/account/confirm/?next=/settings/second-step/", {"password": "wrong"})
    assert "This is not your password" in answer.content.decode()


def test_forgotten_password_is_replaced_by_a_mailed_link_that_works_once(ada: User):
    client = Client()
    client.post("/password/", {"email": "ada@example.org"})
    found = re.search(r"/password/[\w-]+/", mail.outbox[0].body)
    assert found
    form = client.get(found.group()).url

    new = {"password1": "water and rye", "password2": "water and rye"}
    assert client.post(form, new).url == "/password/done/"
    assert Client().post("/login/", {"username": "ada", "password": "water and rye"}).status_code == 302
    assert "This link has been used" in Client().get(found.group()).content.decode()


def test_unknown_address_is_answered_like_a_known_one_without_a_mail(ada: User):
    answers = [Client().post("/password/", {"email": email}).url for email in ("ada@example.org", "eve@example.org")]

    assert len(set(answers)) == 1
    assert [message.to for message in mail.outbox] == [["ada@example.org"]]


def test_new_email_counts_once_it_is_confirmed(ada: User):
    client, _ = sign_in()
    client.post("/settings/email/", {"action_add": "1", "email": "ada@new.example"})
    link = next(found for m in mail.outbox if (found := re.search(r"/account/email/[-:\w]+/", m.body))).group()

    ada.refresh_from_db()
    assert ada.email == "ada@example.org"
    client.post(link)
    ada.refresh_from_db()
    assert ada.email == "ada@new.example"
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("ada@new.example", True)]


def test_change_of_email_can_be_given_up(ada: User):
    EmailAddress.objects.create(user=ada, email=ada.email, verified=True, primary=True)
    client, _ = sign_in()
    client.post("/settings/email/", {"action_add": "1", "email": "ada@new.example"})
    assert "ada@new.example" in client.get("/settings/email/").content.decode()

    client.post("/settings/email/", {"action_remove": "1", "email": "ada@new.example"}, follow=True)

    page = client.get("/settings/email/").content.decode()
    assert "ada@new.example" not in page and "Your email address is <b>ada@example.org</b>" in page
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("ada@example.org", True)]


def test_without_outgoing_mail_a_new_email_counts_at_once(ada: User, settings: Any):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    client, _ = sign_in()

    client.post("/settings/email/", {"action_add": "1", "email": "ada@new.example"})

    ada.refresh_from_db()
    assert ada.email == "ada@new.example"
    assert list(EmailAddress.objects.values_list("email", "verified")) == [("ada@new.example", False)]


@pytest.mark.parametrize(("email", "counts"), [("ADA@example.org", True), ("bea@example.org", False)])
def test_an_address_belongs_to_one_account_however_it_is_spelled(ada: User, settings: Any, email: str, counts: bool):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    User.objects.create_user("bea", email="Bea@example.org", password="rye and water")
    client, _ = sign_in()

    client.post("/settings/email/", {"action_add": "1", "email": email})

    ada.refresh_from_db()
    assert ada.email.casefold() == "ada@example.org"
    assert EmailAddress.objects.filter(user=ada, email__iexact=email).exists() == counts


def test_sessions_are_listed_and_ended(ada: User):
    here, _ = sign_in()
    there, _ = sign_in()
    elsewhere, _ = sign_in()
    page = here.get("/settings/sessions/").content.decode()
    assert page.count("Sign out there") == 2

    here.post("/settings/sessions/", {"session": re.findall(r'name="session" value="(\d+)"', page)[0]})
    assert sorted(client.get("/").status_code for client in (there, elsewhere)) == [200, 302]
    here.post("/settings/sessions/")

    assert [client.get("/").status_code for client in (here, there, elsewhere)] == [200, 302, 302]


def test_changed_password_signs_other_browsers_out_and_keeps_this_one(ada: User):
    here, _ = sign_in()
    there, _ = sign_in()
    words = {"oldpassword": "rye and water", "password1": "water and rye", "password2": "water and rye"}

    here.post("/settings/password/", words)

    assert [client.get("/").status_code for client in (here, there)] == [200, 302]
    assert "this browser" in here.get("/settings/sessions/").content.decode()


def test_passkey_pages_keep_the_policy_on_scripts(ada: User):
    client, _ = sign_in()
    confirm(client)

    pages = [Client().get("/login/"), client.get("/settings/second-step/webauthn/add/")]

    for page in pages:
        inline = re.findall(r"<script(?![^>]*\b(?:src=|type=\"application/json\"))[^>]*>", page.content.decode())
        assert (page.status_code, inline) == (200, [])
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "js_data" in pages[1].content.decode()


def test_passkey_sign_in_begins_with_a_challenge():
    answer = Client().get("/login/passkey/", headers={"Accept": "application/json"})

    assert answer.json()["request_options"]["publicKey"]["challenge"]


@pytest.mark.parametrize(("backend", "sends"), [("console", False), ("locmem", True)])
def test_every_page_tells_the_same_of_whether_the_studio_sends_mail(ada: User, settings, backend: str, sends: bool):
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{backend}.EmailBackend"
    client = Client()
    client.force_login(ada)

    pages = [Client().get(reverse("account_reset_password")), client.get(reverse("studio:notification_choices"))]

    assert [answer.status_code for answer in pages] == [200, 200]
    assert ["This studio sends no email" in answer.content.decode() for answer in pages] == [not sends] * 2

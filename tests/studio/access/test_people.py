"""What administrators do with accounts."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.admin.models import LogEntry
from django.http import HttpResponse
from django.test import Client

from studio.access.people import has_second_step
from studio.models import User
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(UserFactory(username="root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", email="ada@example.org", password="rye and water")


def act(client: Client, step: str, *people: User) -> HttpResponse:
    return client.post("/admin/studio/user/", {"action": step, "_selected_action": [person.pk for person in people]})


def sign_in() -> Client:
    client = Client()
    client.post("/login/", {"username": "ada", "password": "rye and water"})
    return client


def test_people_are_found_by_name_and_email(administrator: Client, ada: User):
    UserFactory(username="bea")

    page = administrator.get("/admin/studio/user/?q=ada@exam").content.decode()

    assert "ada@example.org" in page and "bea" not in page


def test_disabled_account_is_signed_out_and_cannot_sign_in(administrator: Client, ada: User):
    client = sign_in()
    assert client.get("/").status_code == 200

    act(administrator, "disable", ada)

    assert client.get("/").status_code == 302
    assert sign_in().get("/").status_code == 302
    act(administrator, "enable", ada)
    assert client.get("/").status_code == 302
    assert sign_in().get("/").status_code == 200
    assert LogEntry.objects.filter(object_id=str(ada.pk)).count() == 2


def test_lost_phone_is_mended_by_removing_the_second_step(administrator: Client, ada: User):
    TOTP.activate(ada, "JBSWY3DPEHPK3PXP")
    assert sign_in().get("/").status_code == 302

    act(administrator, "remove_second_step", ada)

    assert sign_in().get("/").status_code == 200


def test_recovery_codes_alone_are_no_second_step(ada: User):
    TOTP.activate(ada, "JBSWY3DPEHPK3PXP")
    RecoveryCodes.activate(ada)
    assert has_second_step(ada)

    Authenticator.objects.filter(type=Authenticator.Type.TOTP).delete()

    assert not has_second_step(ada)


def test_link_to_a_new_password_works_without_mail(administrator: Client, ada: User):
    page = act(administrator, "password_link", ada).content.decode()
    found = re.search(r"/password/[\w-]+/", page)
    assert found
    client = Client()

    new = {"password1": "water and rye", "password2": "water and rye"}
    client.post(client.get(found.group()).url, new)

    ada.refresh_from_db()
    assert ada.check_password("water and rye")
    assert LogEntry.objects.get(object_id=str(ada.pk)).change_message == "Made a link to a new password."


def test_links_that_were_made_are_shown_although_somebody_else_can_have_none(administrator: Client, ada: User):
    zed = UserFactory(is_active=False)

    page = act(administrator, "password_link", ada, zed).content.decode()

    assert len(re.findall(r"/password/[\w-]+/", page)) == 1
    assert f"{zed}: This account is disabled." in page


def test_only_full_administrators_change_rights_and_never_their_own(administrator: Client, ada: User):
    root = User.objects.get(username="root")
    helper = Client()
    helper.force_login(UserFactory(is_staff=True))
    colleague = UserFactory(is_staff=True)

    for client, person, step in [
        (helper, ada, "make_administrator"),
        (helper, ada, "dismiss_administrator"),
        (helper, root, "password_link"),
        (helper, root, "disable"),
        (helper, colleague, "disable"),
        (administrator, root, "disable"),
        (administrator, root, "dismiss_administrator"),
    ]:
        act(client, step, person)
    assert not LogEntry.objects.exists()
    assert not User.objects.get(username="ada").is_staff
    assert User.objects.get(pk=colleague.pk).is_active
    assert User.objects.get(username="root").is_active and User.objects.get(username="root").is_superuser

    act(administrator, "make_administrator", ada)
    assert User.objects.get(username="ada").is_superuser

"""Inviting: by whom, for how long, how often, and what the invited get."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone

from studio.access import roles_in, set_roles
from studio.access.invitations import InvitationError, accept, invite, revoke
from studio.models import Benchmark, Event, Invitation, Role, User
from tests.factories import BenchmarkFactory, UserFactory, member

pytestmark = pytest.mark.django_db

FORM = {"display_name": "Nia New", "username": "nia", "email": "nia@example.org", "password1": "rye and water"}


@pytest.fixture
def benchmark() -> Benchmark:
    return BenchmarkFactory()


@pytest.fixture
def owner(benchmark: Benchmark) -> User:
    return member(benchmark, Role.OWNER)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def link_in(text: str) -> str:
    found = re.search(r"(?<!studio)/invitation/[\w-]+/", text)  # not of the administration's own pages
    assert found, text
    return found.group()


def link_of(owner: User, benchmark: Benchmark | None, **fields: Any) -> str:
    fields = {"role": Role.AUTHOR if benchmark else "", **fields}
    return invite(by=owner, benchmark=benchmark, link=lambda secret: f"/invitation/{secret}/", **fields)[1]


def test_invited_person_makes_an_account_and_opens_the_benchmark(owner: User, benchmark: Benchmark):
    page = signed_in(owner).post(f"/b/{benchmark.slug}/members/invite/", {"role": "reviewer", "days": 7})
    link = link_in(page.content.decode())
    guest = Client()

    assert str(benchmark) in guest.get(link).content.decode()
    answer = guest.post(link, FORM)

    assert answer.url == benchmark.get_absolute_url()
    assert guest.get(answer.url).status_code == 200
    person = User.objects.get(username="nia")
    assert (str(person), person.email, roles_in(person, benchmark)) == ("Nia New", "nia@example.org", {"reviewer"})


def test_person_with_an_account_joins_and_keeps_their_roles(owner: User, benchmark: Benchmark):
    person = member(benchmark, Role.VIEWER)
    link, client = link_of(owner, benchmark), signed_in(person)

    assert f"Join as {person}" in client.get(link).content.decode()
    assert client.post(link).url == benchmark.get_absolute_url()
    assert roles_in(person, benchmark) == {"viewer", "author"}


def test_emailed_link_goes_to_the_mailbox_alone_and_confirms_it(owner: User, benchmark: Benchmark):
    form = {"email": "nia@example.org", "role": "author", "days": 1}
    answer = signed_in(owner).post(f"/b/{benchmark.slug}/members/invite/", form, follow=True)

    assert "/invitation/" not in answer.content.decode()
    [message] = mail.outbox
    assert message.to == ["nia@example.org"]
    guest = Client()
    guest.post(link_in(message.body), FORM | {"email": "other@example.org"})
    [address] = EmailAddress.objects.filter(user__username="nia")
    assert (address.email, address.verified, address.primary) == ("nia@example.org", True, True)


def test_without_outgoing_mail_the_owner_gets_the_link(owner: User, benchmark: Benchmark, settings: Any):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    form = {"email": "nia@example.org", "role": "author", "days": 1}

    page = signed_in(owner).post(f"/b/{benchmark.slug}/members/invite/", form).content.decode()

    guest = Client()
    guest.post(link_in(page), FORM)
    assert not EmailAddress.objects.get(user__username="nia").verified


def refuse_used(invitation: Invitation, owner: User, benchmark: Benchmark) -> str:
    accept(invitation, UserFactory())
    return "has been used"


def refuse_revoked(invitation: Invitation, owner: User, benchmark: Benchmark) -> str:
    address = f"/b/{benchmark.slug}/members/invitations/{invitation.pk}/revoke/"
    assert signed_in(owner).post(address).status_code == 302
    return "was withdrawn"


def refuse_expired(invitation: Invitation, owner: User, benchmark: Benchmark) -> str:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return "has expired"


def refuse_of_former_owner(invitation: Invitation, owner: User, benchmark: Benchmark) -> str:
    other = member(benchmark, Role.OWNER)
    set_roles(benchmark, owner, [Role.AUTHOR], by=other)
    return "can no longer invite"


def refuse_of_disabled_owner(invitation: Invitation, owner: User, benchmark: Benchmark) -> str:
    User.objects.filter(pk=owner.pk).update(is_active=False)
    return "can no longer invite"


@pytest.mark.parametrize(
    "close", [refuse_used, refuse_revoked, refuse_expired, refuse_of_former_owner, refuse_of_disabled_owner]
)
def test_closed_invitation_says_why_and_lets_nobody_in(owner: User, benchmark: Benchmark, close: Any):
    link = link_of(owner, benchmark)
    why = close(Invitation.objects.get(), owner, benchmark)

    for client in (Client(), signed_in(UserFactory())):
        for answer in (client.get(link), client.post(link, FORM)):
            assert (answer.status_code, why in answer.content.decode()) == (410, True)
    assert not User.objects.filter(username="nia").exists()


def test_invited_person_cannot_choose_a_higher_role(owner: User, benchmark: Benchmark):
    more = {"role": "owner", "is_staff": "on", "is_superuser": "on", "benchmark": "x", "email": "nia@example.org"}

    Client().post(link_of(owner, benchmark, role=Role.AUDITOR), FORM | more)

    nia = User.objects.get(username="nia")
    assert roles_in(nia, benchmark) == {Role.AUDITOR}
    assert not (nia.is_staff or nia.is_superuser)


@pytest.mark.parametrize("role", [Role.AUTHOR, Role.REVIEWER, Role.AUDITOR])
def test_only_owners_invite_whatever_the_role(benchmark: Benchmark, role: Role):
    member(benchmark, Role.OWNER)
    client = signed_in(member(benchmark, role))

    for wanted in (role, Role.OWNER):
        answer = client.post(f"/b/{benchmark.slug}/members/invite/", {"role": wanted, "days": 7})
        assert answer.status_code == 403
    assert not Invitation.objects.exists()


@pytest.mark.parametrize("role", ["", "administrator", "staff", "owner,author"])
def test_there_are_no_other_roles_to_invite_to(owner: User, benchmark: Benchmark, role: str):
    signed_in(owner).post(f"/b/{benchmark.slug}/members/invite/", {"role": role, "days": 7})

    assert not Invitation.objects.exists()


def test_members_page_lists_invitations_that_can_still_be_accepted(owner: User, benchmark: Benchmark):
    for name in ("open", "used", "revoked", "expired"):
        invite(by=owner, benchmark=benchmark, role=Role.AUTHOR, email=f"{name}@example.org", link=str)
    rows = {row.email.partition("@")[0]: row for row in Invitation.objects.all()}
    accept(rows["used"], UserFactory())
    revoke(rows["revoked"], by=owner)
    Invitation.objects.filter(pk=rows["expired"].pk).update(expires_at=timezone.now())

    page = signed_in(owner).get(f"/b/{benchmark.slug}/members/").content.decode()

    assert [name for name in rows if f"{name}@example.org" in page] == ["open"]


def test_an_invitation_that_is_used_or_withdrawn_is_not_withdrawn_again(owner: User, benchmark: Benchmark):
    for _ in range(2):
        invite(by=owner, benchmark=benchmark, role=Role.AUTHOR, link=str)
    used, withdrawn = Invitation.objects.order_by("pk")
    accept(used, UserFactory())
    revoke(withdrawn, by=owner)
    before = Invitation.objects.get(pk=withdrawn.pk).revoked_at

    for row in (used, withdrawn):
        revoke(row, by=owner)

    assert list(Invitation.objects.order_by("pk").values_list("revoked_at", flat=True)) == [None, before]
    assert Event.objects.filter(verb="invitation_revoked").count() == 1


def test_owner_does_not_revoke_the_invitation_of_another_benchmark(owner: User, benchmark: Benchmark):
    other = BenchmarkFactory()
    link_of(member(other, Role.OWNER), other)
    pk = Invitation.objects.get().pk

    answer = signed_in(owner).post(f"/b/{benchmark.slug}/members/invitations/{pk}/revoke/")

    assert answer.status_code == 404 and Invitation.objects.get().revoked_at is None


@pytest.mark.django_db(transaction=True)
def test_two_people_who_accept_at_once_are_not_both_let_in(owner: User, benchmark: Benchmark):
    link_of(owner, benchmark)
    invitation, people = Invitation.objects.get(), [UserFactory() for _ in range(4)]

    def join(person: User) -> bool:
        try:
            accept(invitation, person)
        except InvitationError:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(join, people)) == [False, False, False, True]
    assert sum(bool(roles_in(person, benchmark)) for person in people) == 1


def test_link_is_stored_as_a_hash_only(owner: User, benchmark: Benchmark):
    secret = link_of(owner, benchmark).split("/")[2]

    assert secret not in str(Invitation.objects.values().get())


def test_taken_name_or_address_is_told_and_uses_nothing_up(owner: User, benchmark: Benchmark):
    UserFactory(username="nia", email="nia@example.org")
    link = link_of(owner, benchmark)

    page = Client().post(link, FORM).content.decode()

    assert "already exists" in page
    assert "An account has this email address already" in page
    assert Invitation.objects.get().used_at is None


def test_nobody_signs_up_without_an_invitation():
    page = Client().post("/sign-up/", FORM)

    assert "Accounts are created by invitation only" in page.content.decode()
    assert Client().get("/invitation/guessed/").status_code == 404
    assert not User.objects.exists()


def test_administrator_invites_to_the_studio_alone():
    administrator = UserFactory(is_staff=True, is_superuser=True)

    page = signed_in(administrator).post("/admin/studio/invitation/add/", {"days": 7}).content.decode()

    guest = Client()
    assert guest.post(link_in(page), FORM).url == "/"
    assert guest.get("/").status_code == 200
    assert not User.objects.get(username="nia").memberships.exists()

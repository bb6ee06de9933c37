"""What administrators do with people's accounts. Every step is in the administration's history of the account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Exists, OuterRef, QuerySet

from studio.models import User
from studio.models.transactions import atomic_with_retry


class PeopleError(Exception):
    """The message says why a step is not possible."""


def with_second_step(people: QuerySet[User]) -> QuerySet[User]:
    """``second_step``: whether they sign in with more than a password."""
    return people.annotate(second_step=Exists(_second_step(OuterRef("pk"))))


def has_second_step(person: User) -> bool:
    return _second_step(person.pk).exists()


def _second_step(user: object) -> QuerySet[Any]:
    rows: QuerySet[Any] = Authenticator.objects.filter(user=user)
    return rows.exclude(type=Authenticator.Type.RECOVERY_CODES)


def sessions_of(person: User) -> list[UserSession]:
    return list(UserSession.objects.purge_and_list(person))


def change_email_at_once(person: User, email: str) -> None:
    """Where no mail can confirm it. Raises PeopleError if somebody else has it."""
    if is_taken(email, by_others_than=person):
        raise PeopleError("An account has this email address already.")
    EmailAddress.objects.filter(user=person).delete()
    EmailAddress.objects.create(user=person, email=email, primary=True, verified=False)
    person.email = email
    person.save(update_fields=["email"])


def is_taken(email: str, *, by_others_than: User | None = None) -> bool:
    """Whether an account has it, confirmed or not: who signs in with it must be one person."""
    having = User.objects.filter(email__iexact=email)
    return (having.exclude(pk=by_others_than.pk) if by_others_than else having).exists()


def pending_email(person: User) -> EmailAddress | None:
    """The address that somebody changes to, once they confirm it."""
    rows = EmailAddress.objects.filter(user=person, verified=False).exclude(email__iexact=person.email)
    return rows.order_by("-pk").first()


def forget_unconfirmed_email(person: User) -> None:
    """django-allauth takes an unconfirmed address for one that is given up when a new one is entered."""
    EmailAddress.objects.filter(user=person, verified=False, email__iexact=person.email).delete()


def end_sessions(person: User) -> None:
    for session in UserSession.objects.filter(user=person):
        session.end()


def remove_second_step(person: User) -> None:
    Authenticator.objects.filter(user=person).delete()


@dataclass(frozen=True)
class Step:
    label: str
    told: str
    """By the history."""
    columns: Mapping[str, bool] = field(default_factory=dict)
    """Of the account, as they are afterwards."""
    act: Callable[[User], None] = lambda person: None


STEPS = {
    "disable": Step(
        "Disable: they cannot sign in, their tokens do not work, what they wrote stays",
        "Disabled the account.",
        {"is_active": False},
        end_sessions,
    ),
    "enable": Step("Enable", "Enabled the account.", {"is_active": True}),
    "end_sessions": Step("Sign out everywhere", "Signed out everywhere.", act=end_sessions),
    "remove_second_step": Step(
        "Remove a lost second step: the password alone signs in", "Removed the second step.", act=remove_second_step
    ),
    "make_administrator": Step(
        "Make administrators", "Made an administrator.", {"is_staff": True, "is_superuser": True}
    ),
    "dismiss_administrator": Step(
        "No longer administrators", "No longer an administrator.", {"is_staff": False, "is_superuser": False}
    ),
}


@atomic_with_retry
def take_step(person: User, name: str, *, by: User) -> str:
    """What was done. Raises PeopleError."""
    step = STEPS[name]
    _require(person, by=by)
    if person == by and False in step.columns.values():
        raise PeopleError("You cannot do this to your own account. Ask another administrator.")
    if "is_staff" in step.columns and not by.is_superuser:
        raise PeopleError("Only administrators with all rights can make administrators.")
    for column, value in step.columns.items():
        setattr(person, column, value)
    person.save(update_fields=list(step.columns))
    step.act(person)
    _log(person, step.told, by=by)
    return step.told


def password_link(person: User, *, by: User) -> str:
    """For somebody whom no email reaches. It works once. Raises PeopleError."""
    _require(person, by=by)
    if not person.is_active:
        raise PeopleError("This account is disabled. Enable it first.")
    key = f"{user_pk_to_url_str(person)}-{default_token_generator.make_token(person)}"
    _log(person, "Made a link to a new password.", by=by)
    return str(get_adapter().get_reset_password_from_key_url(key))


def _require(person: User, *, by: User) -> None:
    if not by.is_staff or ((person.is_staff or person.is_superuser) and not by.is_superuser):
        raise PeopleError("Only administrators with all rights can change the account of an administrator.")


def _log(person: User, told: str, *, by: User) -> None:
    LogEntry.objects.create(
        user=by,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(person.pk),
        object_repr=str(person)[:200],
        action_flag=CHANGE,
        change_message=told,
    )

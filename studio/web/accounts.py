"""How django-allauth works here: nobody signs up without an invitation, and one password is hashed at a time."""

from __future__ import annotations

import ipaddress
import unicodedata
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from studio.domain.look_alikes import skeleton
from studio.models import User
from studio.web.sign_in import caller_address, one_hash_at_a_time

ALPHABETS = {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC"}
"""With letters that look alike."""


class AccountAdapter(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "email_taken": "An account has this email address already. Sign in with it, or reset its password.",
        "incorrect_code": "This code is not right, or no longer. Enter the newest one.",
        "incorrect_password": "This is not your password.",
        "enter_current_password": "This is not your current password.",
        "same_as_current": "This is your address already.",
        "username_password_mismatch": "Incorrect username or password. Both are case-sensitive.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Invitations have a page of their own."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        try:
            return str(ipaddress.ip_address(caller_address(request)))
        except ValueError:  # a socket of the file system
            return "0.0.0.0"  # shown, not bound to

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """A name that looks like somebody's is taken, in whatever width or alphabet; none is mixed of several, and none
        is an address: else it could be somebody's, whose sign-in it would take."""
        username = unicodedata.normalize("NFKC", username)
        if not shallow and len(ALPHABETS & {unicodedata.name(letter, "").partition(" ")[0] for letter in username}) > 1:
            raise ValidationError("Choose a username in one alphabet. How your name is shown is up to you.")
        if "@" in username and not shallow:
            raise ValidationError("Choose a username without @. You can sign in with your email address, too.")
        taken = [] if shallow else User.objects.values_list("username", flat=True)
        looks = skeleton(username)
        if any(skeleton(name) == looks for name in taken):
            raise self.validation_error("username_taken")
        return str(super().clean_username(username, shallow))

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> Any:
        with one_hash_at_a_time():
            return super().save_user(request, user, form, commit)

    def set_password(self, user: User, password: str) -> None:
        with one_hash_at_a_time():
            super().set_password(user, password)

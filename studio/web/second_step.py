"""Codes of the second step: guessing them is slowed down like guessing passwords."""

from __future__ import annotations

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm

from studio.models import User
from studio.web.sign_in import Attempt, client_address


class CountedCode(BaseAuthenticateForm):
    """Raises SignInDelayedError, without a look at the code."""

    user: User

    def clean_code(self) -> str:
        attempt = Attempt(f"second step of {self.user.pk}", client_address(context.request))
        attempt.count()
        code = str(super().clean_code())
        attempt.succeed()
        return code


class CodeForm(CountedCode, AuthenticateForm):
    pass


class ConfirmationForm(CountedCode, ReauthenticateForm):
    pass

"""Signing in and out."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from allauth.mfa.webauthn.views import LoginWebAuthnView
from django.contrib.auth import views
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from studio.access import SignedInRequest
from studio.forms.accounts import LoginForm


class LoginView(views.LoginView):
    """The password first; django-allauth then asks for the second step, where there is one."""

    template_name = "studio/accounts/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        login = Login(user=user, redirect_url=self.get_success_url())
        answer: HttpResponse = perform_password_login(self.request, {"username": user.username}, login)
        return answer


class AdminLoginView(LoginView):
    """The administration's door leads through the same checks."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.is_staff:
            raise PermissionDenied("Only administrators can open the administration.")
        return super().dispatch(request, *args, **kwargs)

    def get_default_redirect_url(self) -> str:
        return "/admin/"


class PasskeyLoginView(LoginWebAuthnView):
    """django-allauth's, which forgets where somebody wanted to go."""

    def form_valid(self, form: Any) -> HttpResponse:
        authenticator = form.cleaned_data["credential"]
        wanted = self.request.POST.get("next", "")
        redirect_url = wanted if wanted and get_adapter().is_safe_url(wanted) else None
        login = Login(user=authenticator.user, redirect_url=redirect_url)
        answer: HttpResponse = perform_passwordless_login(self.request, authenticator, login)
        return answer


@login_required
def signed_in(request: SignedInRequest) -> HttpResponse:
    """Where a window that was opened only to sign in ends; a script closes it."""
    return render(request, "studio/accounts/signed_in.html")


class LogoutView(views.LogoutView):
    """Ends the session; the sign-in page follows (LOGOUT_REDIRECT_URL)."""

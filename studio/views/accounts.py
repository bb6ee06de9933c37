"""Signing in and out, and account settings."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.http import require_POST
from rest_framework.authtoken.models import Token

from studio.access import SignedInRequest
from studio.forms.accounts import AccountForm, LoginForm, PasswordForm
from studio.models import User


class LoginView(views.LoginView):
    template_name = "studio/accounts/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True


@login_required
def signed_in(request: SignedInRequest) -> HttpResponse:
    """Where a window that was opened only to sign in ends; a script closes it."""
    return render(request, "studio/accounts/signed_in.html")


class LogoutView(views.LogoutView):
    """Ends the session; the sign-in page follows (LOGOUT_REDIRECT_URL)."""


class PasswordChangeView(views.PasswordChangeView):
    template_name = "studio/accounts/password.html"
    form_class = PasswordForm
    success_url = reverse_lazy("studio:settings")

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is changed. Other browsers are signed out.")
        return super().form_valid(form)


def _user(request: SignedInRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@login_required
@require_POST
def api_key(request: SignedInRequest) -> HttpResponse:
    token = None
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(pk=_user(request).pk)
        Token.objects.filter(user=user).delete()
        if "remove" not in request.POST:
            token = Token.objects.create(user=user)
    if token is None:
        messages.success(request, "Your API key was revoked. Programs using it no longer have access.")
        return redirect("studio:settings")
    form = AccountForm(instance=request.user)
    return render(request, "studio/accounts/settings.html", {"form": form, "token": token, "has_key": True})


@login_required
def settings_page(request: SignedInRequest) -> HttpResponse:
    form = AccountForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("studio:settings")
    return render(
        request,
        "studio/accounts/settings.html",
        {"form": form, "has_key": Token.objects.filter(user=_user(request)).exists()},
    )

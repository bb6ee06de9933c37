"""Signing in and out, account settings, the sessions one is signed in with, and tokens for programs."""

from __future__ import annotations

from typing import Any

from allauth.account import views as allauth
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.mfa.webauthn.internal.flows import perform_passwordless_login
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_http_methods, require_POST

from studio.access import SignedInRequest
from studio.access.invitations import sends_mail
from studio.access.people import (
    PeopleError,
    change_email_at_once,
    forget_unconfirmed_email,
    has_second_step,
    pending_email,
    sessions_of,
)
from studio.access.tokens import DAYS, TokenError, active_tokens, create_token, has_expired, tokens_of
from studio.forms.accounts import AccountForm, LoginForm, TokenForm
from studio.forms.post_data import number_of


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

    @method_decorator(login_not_required)
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


def signed_in(request: SignedInRequest) -> HttpResponse:
    """Where a window that was opened only to sign in ends; a script closes it."""
    return render(request, "studio/accounts/signed_in.html")


@method_decorator(login_not_required, name="dispatch")
class LogoutView(views.LogoutView):
    """Ends the session; the sign-in page follows (LOGOUT_REDIRECT_URL)."""


def settings_page(request: SignedInRequest) -> HttpResponse:
    form = AccountForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Saved.")
        return redirect("studio:settings")
    context = {
        "form": form,
        "second_step": has_second_step(request.user),
        "token_count": active_tokens(request.user).count(),
    }
    return render(request, "studio/accounts/settings.html", context)


class EmailView(allauth.EmailView):
    """The old address stays until the new one is confirmed."""

    def form_valid(self, form: Any) -> HttpResponse:
        answer: HttpResponse
        if not sends_mail():
            try:
                change_email_at_once(self.request.user, form.cleaned_data["email"])
            except PeopleError as error:
                form.add_error("email", str(error))
                answer = self.form_invalid(form)
                return answer
            messages.success(self.request, "Saved.")
            return redirect("account_email")
        forget_unconfirmed_email(self.request.user)
        answer = super().form_valid(form)
        return answer

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "pending": pending_email(self.request.user)}


def sessions(request: SignedInRequest) -> HttpResponse:
    """POST ends the named ``session``, or all others."""
    rows = sorted(sessions_of(request.user), key=lambda row: row.created_at, reverse=True)
    if request.method == "POST":
        wanted = number_of(request.POST.get("session"))
        ended: list[UserSession] = [row for row in rows if (row.pk == wanted if wanted else not row.is_current())]
        end_sessions(request, ended)
        messages.success(request, "Signed out there." if wanted else "You are signed out everywhere else.")
        return redirect("usersessions_list")
    return render(request, "studio/accounts/sessions.html", {"sessions": rows})


@require_http_methods(["GET", "POST"])
def tokens(request: SignedInRequest) -> HttpResponse:
    """The secret of a new token is on the answer to its form, and nowhere after."""
    form = TokenForm(request.POST or None, valid_days=DAYS)
    made = secret = None
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = create_token(request.user, **form.cleaned_data)
        except TokenError as error:
            form.add_error(None, str(error))
        else:
            form = TokenForm(valid_days=DAYS)
    rows = [(token, has_expired(token)) for token in tokens_of(request.user)]
    answer = render(
        request, "studio/accounts/tokens.html", {"form": form, "tokens": rows, "made": made, "secret": secret}
    )
    if secret:
        answer.headers["Cache-Control"] = "no-store"
    return answer


@require_POST
def revoke(request: SignedInRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(tokens_of(request.user), pk=pk)
    token.delete()
    messages.success(request, f"“{token.name}” is revoked. Programs that use it no longer have access.")
    return redirect("studio:tokens")

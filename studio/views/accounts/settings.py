"""Account settings, and the sessions one is signed in with."""

from __future__ import annotations

from typing import Any

from allauth.account import views as allauth
from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render

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
from studio.access.tokens import active_tokens
from studio.forms.accounts import AccountForm
from studio.forms.post_data import number_of


@login_required
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


@login_required
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

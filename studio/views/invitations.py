"""Accepting an invitation: with the account one has, or with a new one."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.views import SignupView
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from studio.access import roles_in
from studio.access.invitations import InvitationError, accept, find_invitation, why_unusable
from studio.forms.accounts import InvitedSignUpForm
from studio.models import Invitation, User


@method_decorator([login_not_required, never_cache], name="dispatch")
class InvitationView(SignupView):
    template_name = "studio/accounts/invitation.html"
    form_class = InvitedSignUpForm
    invitation: Invitation

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        invitation = find_invitation(kwargs["secret"])
        if invitation is None:
            raise Http404
        self.invitation = invitation
        why = why_unusable(invitation)
        if isinstance(request.user, User):
            return self._joined(request, request.user, why)
        if why:
            return self._refused(request, why)
        answer: HttpResponseBase = super().dispatch(request, *args, **kwargs)
        return answer

    def is_open(self) -> bool:
        return True

    def get_form_class(self) -> Any:
        return InvitedSignUpForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "invitation": self.invitation}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "invitation": self.invitation}

    def get_success_url(self) -> str:
        return _destination(self.invitation)

    def form_valid(self, form: InvitedSignUpForm) -> HttpResponse:
        if self.invitation.mailed:
            get_adapter().stash_verified_email(self.request, self.invitation.email)
        try:
            with transaction.atomic():  # an account without its invitation would be one nobody let in
                answer: HttpResponse = super().form_valid(form)
                accept(self.invitation, self.user)
        except InvitationError as error:
            return self._refused(self.request, str(error))
        return answer

    def _joined(self, request: HttpRequest, user: User, why: str) -> HttpResponse:
        """For whoever is signed in."""
        benchmark = self.invitation.benchmark
        if why and benchmark and self.invitation.used_by_id == user.pk and roles_in(user, benchmark):
            return redirect(benchmark)
        if why:
            return self._refused(request, why)
        if request.method == "POST":
            try:
                accept(self.invitation, user)
            except InvitationError as error:
                return self._refused(request, str(error))
            messages.success(request, f"You are now a member of “{benchmark}”." if benchmark else "You are in.")
            return redirect(_destination(self.invitation))
        return render(request, "studio/accounts/join.html", {"invitation": self.invitation})

    def _refused(self, request: HttpRequest, why: str) -> HttpResponse:
        return render(request, "studio/accounts/closed.html", {"why": why}, status=410)


def _destination(invitation: Invitation) -> str:
    return invitation.benchmark.get_absolute_url() if invitation.benchmark else reverse("studio:home")

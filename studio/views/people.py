"""Everybody with an account, for administrators."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from studio.access import SignedInRequest
from studio.access.invitations import DAYS, InvitationError, invite, open_invitations, revoke, sends_mail
from studio.access.people import (
    STEPS,
    PeopleError,
    has_second_step,
    password_link,
    search_people,
    sessions_of,
    take_step,
)
from studio.forms.accounts import InvitationForm
from studio.models import Invitation, User


@login_required
@require_GET
def people(request: SignedInRequest) -> HttpResponse:
    _administrators_only(request)
    return _list(request, _form())


@login_required
@require_POST
def invite_person(request: SignedInRequest) -> HttpResponse:
    """To the studio, without a benchmark. The link is on the answer, and nowhere after."""
    _administrators_only(request)
    form = _form(request)
    if not form.is_valid():
        return _list(request, form)
    try:
        invitation, link = invite(
            by=request.user,
            link=lambda secret: request.build_absolute_uri(reverse("studio:invitation", args=[secret])),
            **form.cleaned_data,
        )
    except InvitationError as error:
        form.add_error("email", str(error))
        return _list(request, form)
    if link:
        return _list(request, _form(), link=link)
    messages.success(request, f"The invitation is on its way to {invitation.email}.")
    return redirect("studio:people")


@login_required
@require_POST
def revoke_invitation(request: SignedInRequest, pk: int) -> HttpResponse:
    """Any benchmark's, too: administrators keep the doors."""
    _administrators_only(request)
    revoke(get_object_or_404(Invitation, pk=pk), by=request.user)
    messages.success(request, "The invitation is withdrawn. Its link no longer works.")
    return redirect("studio:people")


@login_required
@require_http_methods(["GET", "POST"])
def person(request: SignedInRequest, pk: int) -> HttpResponse:
    _administrators_only(request)
    row = get_object_or_404(User, pk=pk)
    step, link = request.POST.get("step", ""), ""
    try:
        if step == "password_link":
            link = password_link(row, by=request.user)
        elif step in STEPS:
            messages.success(request, take_step(row, step, by=request.user))
            return redirect("studio:person", row.pk)
    except PeopleError as error:
        messages.error(request, str(error))
        return redirect("studio:person", row.pk)
    memberships = row.memberships.select_related("benchmark").order_by("benchmark__name", "role")
    context = {
        "person": row,
        "memberships": memberships,
        "second_step": has_second_step(row),
        "sessions": sessions_of(row),
        "link": link,
        "mails": sends_mail(),
    }
    answer = render(request, "studio/people/person.html", context)
    if link:
        answer.headers["Cache-Control"] = "no-store"
    return answer


def _administrators_only(request: SignedInRequest) -> None:
    if not request.user.is_staff:
        raise PermissionDenied("Only administrators can see everybody's accounts.")


def _form(request: SignedInRequest | None = None) -> InvitationForm:
    return InvitationForm(request.POST if request else None, valid_days=DAYS, mails=sends_mail(), with_role=False)


def _list(request: SignedInRequest, form: InvitationForm, link: str = "") -> HttpResponse:
    text = request.GET.get("q", "")[:200]
    context = {
        "text": text,
        "page": Paginator(search_people(text), 50).get_page(request.GET.get("page")),
        "query": f"q={text}" if text else "",
        "form": form,
        "invitations": open_invitations(None),
        "link": link,
    }
    answer = render(request, "studio/people/people.html", context)
    if link:
        answer.headers["Cache-Control"] = "no-store"
    return answer

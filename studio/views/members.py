"""Members of a benchmark, and whom owners invite."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from studio import access
from studio.access import SignedInRequest
from studio.access.invitations import DAYS, InvitationError, invite, open_invitations, revoke, sends_mail
from studio.forms.accounts import InvitationForm
from studio.forms.benchmarks import MemberForm
from studio.forms.post_data import number_of
from studio.models import Benchmark, Role, User
from studio.views.pages import benchmark_page, show


@benchmark_page(post="manage")
def members(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    form = MemberForm()
    if request.method == "POST":
        form = MemberForm(request.POST)
        if "user" in request.POST:
            person, roles = _member(benchmark, request.POST["user"]), request.POST.getlist("roles")
            return _set_roles(request, benchmark, person, [] if "remove" in request.POST else roles)
        if form.is_valid():
            return _set_roles(request, benchmark, form.cleaned_data["username"], form.cleaned_data["roles"])
    return _page(request, benchmark, form=form)


@benchmark_page("manage", "POST")
def invite_member(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The link is on the answer, and nowhere after."""
    form = _invitation_form(request)
    if not form.is_valid():
        return _page(request, benchmark, invitation_form=form)
    try:
        invitation, link = invite(
            by=request.user,
            benchmark=benchmark,
            link=lambda secret: request.build_absolute_uri(reverse("studio:invitation", args=[secret])),
            **form.cleaned_data,
        )
    except InvitationError as error:
        form.add_error("email", str(error))
        return _page(request, benchmark, invitation_form=form)
    if link:
        return _page(request, benchmark, link=link)
    messages.success(request, f"The invitation is on its way to {invitation.email}.")
    return redirect("studio:members", benchmark.slug)


@benchmark_page("manage", "POST")
def revoke_invitation(request: SignedInRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    revoke(get_object_or_404(benchmark.invitations, pk=pk), by=request.user)
    messages.success(request, "The invitation is withdrawn. Its link no longer works.")
    return redirect("studio:members", benchmark.slug)


def _page(
    request: SignedInRequest,
    benchmark: Benchmark,
    *,
    form: MemberForm | None = None,
    invitation_form: InvitationForm | None = None,
    link: str = "",
) -> HttpResponse:
    answer = show(
        request,
        benchmark,
        "studio/members/members.html",
        {
            "people": members_of(benchmark),
            "roles": Role.choices,
            "form": form or MemberForm(),
            "invitation_form": invitation_form or _invitation_form(),
            "invitations": open_invitations(benchmark),
            "link": link,
        },
    )
    if link:
        answer.headers["Cache-Control"] = "no-store"
    return answer


def _invitation_form(request: SignedInRequest | None = None) -> InvitationForm:
    return InvitationForm(request.POST if request else None, valid_days=DAYS, mails=sends_mail())


def members_of(benchmark: Benchmark) -> list[tuple[User, list[str]]]:
    people: dict[int, tuple[User, list[str]]] = {}
    for row in benchmark.memberships.select_related("user").order_by("user__display_name", "user__username", "role"):
        people.setdefault(row.user_id, (row.user, []))[1].append(row.role)
    return list(people.values())


def _member(benchmark: Benchmark, pk: str) -> User:
    people = User.objects.filter(pk__in=benchmark.memberships.values("user"))
    return get_object_or_404(people, pk=number_of(pk))


def _set_roles(request: SignedInRequest, benchmark: Benchmark, person: User, roles: list[str]) -> HttpResponse:
    try:
        access.set_roles(benchmark, person, roles, by=request.user)
    except access.MembershipError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Saved {person}'s roles." if roles else f"{person} is no longer a member.")
    if access.roles_in(request.user, benchmark):
        return redirect("studio:members", benchmark.slug)
    return redirect("studio:benchmarks")

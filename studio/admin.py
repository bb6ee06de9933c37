"""Administration of accounts, invitations, memberships and taxonomies. Drafts are not here: saves on their pages make
versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from studio.access.invitations import DAYS, InvitationError, invite, open_invitations, revoke
from studio.access.people import STEPS, PeopleError, password_link, take_step, with_second_step
from studio.models import Benchmark, Category, Invitation, Membership, Taxonomy, User


def _action(step: str, label: str) -> Callable[..., None]:
    @admin.action(description=label)
    def take(site: StudioUserAdmin, request: Any, people: QuerySet[User]) -> None:
        for person in people:
            try:
                messages.success(request, f"{person}: {take_step(person, step, by=request.user)}")
            except PeopleError as refusal:
                messages.error(request, f"{person}: {refusal}")

    take.__name__ = step
    return take


class ForStaff:
    """What every administrator may see; the steps themselves say who may take them."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_staff)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_staff)


@admin.register(User)
class StudioUserAdmin(ForStaff, UserAdmin[User]):
    list_display = ["username", "display_name", "email", "is_active", "is_staff", "second_step", "last_login"]
    search_fields = ["username", "display_name", "email"]
    fieldsets = [*(UserAdmin.fieldsets or ()), ("Shown as", {"fields": ["display_name", "letter_keys"]})]
    add_fieldsets = [*UserAdmin.add_fieldsets, ("Shown as", {"fields": ["display_name"]})]
    actions = ["password_link", *(_action(name, step.label) for name, step in STEPS.items())]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return with_second_step(super().get_queryset(request))

    @admin.display(boolean=True)
    def second_step(self, person: Any) -> bool:
        return bool(person.second_step)

    @admin.action(description="Make a link to a new password, for people whom no mail reaches")
    def password_link(self, request: Any, people: QuerySet[User]) -> HttpResponse | None:
        links = []
        for person in people:
            try:
                links.append((str(person), password_link(person, by=request.user)))
            except PeopleError as refusal:
                messages.error(request, f"{person}: {refusal}")
        return _shown_once(request, "Links to a new password", links) if links else None


class InvitationForm(forms.ModelForm[Invitation]):
    days = forms.TypedChoiceField(label="Valid for days", coerce=int, initial=7, choices=[(n, n) for n in DAYS])

    class Meta:
        model = Invitation
        fields = ["email"]
        help_texts = {"email": "The link goes there, if this studio sends mail. Otherwise you get it, to pass on."}


@admin.register(Invitation)
class InvitationAdmin(ForStaff, admin.ModelAdmin[Invitation]):
    """Open ones to the studio, without a benchmark. The link of a new one is on the answer, and nowhere after."""

    form = InvitationForm
    list_display = ["created_at", "email", "created_by", "expires_at"]
    actions = ["withdraw"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return open_invitations(None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_staff)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def add_view(self, request: Any, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        try:
            return super().add_view(request, form_url, extra_context)
        except InvitationError as refusal:
            messages.error(request, str(refusal))
            return redirect("admin:studio_invitation_add")

    def save_model(self, request: Any, obj: Any, form: Any, change: bool) -> None:
        made, obj.link = invite(
            by=request.user,
            link=lambda secret: request.build_absolute_uri(reverse("studio:invitation", args=[secret])),
            email=obj.email,
            days=form.cleaned_data["days"],
        )
        obj.pk = made.pk

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        if obj.link:
            return _shown_once(request, "Invitation", [(obj.email or "Whoever has the link", obj.link)])
        messages.success(request, f"The invitation is on its way to {obj.email}.")
        return redirect("admin:studio_invitation_changelist")

    @admin.action(description="Withdraw: the link no longer works")
    def withdraw(self, request: Any, invitations: QuerySet[Invitation]) -> None:
        for invitation in invitations:
            revoke(invitation, by=request.user)


def _shown_once(request: HttpRequest, title: str, links: list[tuple[str, str]]) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": title, "links": links}
    answer = render(request, "admin/studio/links.html", context)
    answer.headers["Cache-Control"] = "no-store"
    return answer


class MembershipInline(admin.TabularInline[Membership, Benchmark]):
    model = Membership
    extra = 0
    autocomplete_fields = ["user"]


@admin.register(Benchmark)
class BenchmarkAdmin(admin.ModelAdmin[Benchmark]):
    list_display = ["name", "slug", "approvals_needed", "created_at"]
    search_fields = ["name", "slug"]
    inlines = [MembershipInline]


class CategoryInline(admin.TabularInline[Category, Taxonomy]):
    model = Category
    extra = 0


@admin.register(Taxonomy)
class TaxonomyAdmin(admin.ModelAdmin[Taxonomy]):
    list_display = ["name", "slug"]
    inlines = [CategoryInline]

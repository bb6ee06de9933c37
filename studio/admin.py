"""Django admin of accounts, memberships and taxonomies. Drafts are not here: saves on their pages make versions."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from studio.models import Benchmark, Category, Membership, Taxonomy, User


@admin.register(User)
class StudioUserAdmin(UserAdmin[User]):
    list_display = ["username", "display_name", "email", "is_active", "is_staff"]
    search_fields = ["username", "display_name", "email"]
    fieldsets = [*(UserAdmin.fieldsets or ()), ("Shown as", {"fields": ["display_name", "letter_keys"]})]
    add_fieldsets = [*UserAdmin.add_fieldsets, ("Shown as", {"fields": ["display_name"]})]


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

"""Read-only admin of evaluation's tables."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from evaluation.audits.blindness import closed_pilots, closed_releases, record_look, record_look_at_release
from evaluation.models import ModelEndpoint, Pilot, Release, Session
from studio.access import AnyUser

M = TypeVar("M", bound=Model)


class ReadOnly(admin.ModelAdmin[M]):
    @staticmethod
    def record(user: AnyUser, row: M) -> None:
        """That the person is shown the row, where it may be under audit."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> M | None:
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            self.record(request.user, row)
        return row

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ModelEndpoint)
class ModelEndpointAdmin(ReadOnly[ModelEndpoint]):
    """They are edited on the pages of models, which check addresses and encrypt keys."""

    list_display = ["name", "benchmark", "model", "base_url", "key_env", "scripted"]
    exclude = ["sealed_key"]


@admin.register(Pilot)
class PilotAdmin(ReadOnly[Pilot]):
    list_display = ["number", "benchmark", "agent", "judge", "state", "scripted", "created_at"]
    list_select_related = ["benchmark", "agent", "judge"]

    @staticmethod
    def record(user: AnyUser, row: Pilot) -> None:
        record_look(user, [row])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Pilot]:
        return super().get_queryset(request).exclude(pk__in=closed_pilots(request.user))


@admin.register(Session)
class SessionAdmin(ReadOnly[Session]):
    list_display = ["pk", "run", "position", "state", "turn_count", "reason"]
    list_filter = ["state"]

    @staticmethod
    def record(user: AnyUser, row: Session) -> None:
        record_look(user, [pilot] if (pilot := row.run.pilot) else [])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Session]:
        return super().get_queryset(request).exclude(run__pilot__in=closed_pilots(request.user))


@admin.register(Release)
class ReleaseAdmin(ReadOnly[Release]):
    list_display = ["benchmark", "version", "sha256", "created_at"]
    list_select_related = ["benchmark"]
    record = staticmethod(record_look_at_release)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Release]:
        return super().get_queryset(request).exclude(pk__in=closed_releases(request.user))

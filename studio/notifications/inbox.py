"""The inbox and notification settings."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import QuerySet
from django.utils import timezone

from studio.access import AnyUser, benchmarks_for
from studio.models import Notification, NotificationChoice, User
from studio.models.transactions import atomic_with_retry

Kind = Notification.Kind
How = NotificationChoice.How


def inbox_of(user: AnyUser) -> QuerySet[Notification]:
    if not user.is_authenticated:
        return Notification.objects.none()
    rows = Notification.objects.filter(user=user, benchmark__in=benchmarks_for(user)).defer("task__spec")
    return rows.select_related("actor", "benchmark", "task__persona__benchmark").order_by("-created_at", "-pk")


def address_of(notification: Notification) -> str:
    """Path of the page it is about, correct even if the persona has a new id. No queries after ``inbox_of``."""
    task = notification.task
    if task is None:
        return notification.address
    anchor = notification.address.partition("#")[2].replace("remark", "comment")  # anchors stored by earlier versions
    return task.get_absolute_url() + (f"#{anchor}" if anchor else "")


def count_unread(user: AnyUser) -> int:
    return inbox_of(user).filter(read_at=None).count()


def mark_read(user: User, *, only: int | None = None) -> int:
    rows = Notification.objects.filter(user=user, read_at=None)
    return (rows if only is None else rows.filter(pk=only)).update(read_at=timezone.now())


def choices_of(user: User) -> dict[str, str]:
    chosen = dict(NotificationChoice.objects.filter(user=user).values_list("kind", "how"))
    return {kind: chosen.get(kind, How.EMAIL) for kind in Kind.values}


@atomic_with_retry
def save_choices(user: User, choices: Mapping[str, str]) -> None:
    """Unknown kinds and ways are ignored."""
    rows = [
        NotificationChoice(user=user, kind=kind, how=how)
        for kind, how in choices.items()
        if kind in Kind.values and how in How.values
    ]
    NotificationChoice.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["user", "kind"], update_fields=["how"]
    )

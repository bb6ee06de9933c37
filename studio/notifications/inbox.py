"""The inbox, notification settings, and email digests of what is unread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from studio.access import AnyUser, benchmarks_for
from studio.models import Digest, Notification, NotificationChoice, User
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


MAX_LISTED = 50
"""Notifications listed in one email; further ones are counted."""


def send_digests() -> list[Digest]:
    """Send each user with an email address their unread notifications, each at most once, even with concurrent calls.

    A failed email is retried by the next call; the first failure is raised after all other emails were sent.
    """
    sent: list[Digest] = []
    failure: OSError | None = None
    people = User.objects.filter(is_active=True, notifications__in=_due()).exclude(email="").distinct().order_by("pk")
    for person in people:
        try:
            if digest := _send(person):
                sent.append(digest)
        except OSError as error:  # smtplib's errors are subclasses
            failure = failure or error
    if failure is not None:
        raise failure
    return sent


@atomic_with_retry
def _send(person: User) -> Digest | None:
    """If sending fails, the transaction is rolled back with the digest. Mail comes last: no deadlock can follow it."""
    rows = list(
        _due()
        .filter(user=person, benchmark__in=benchmarks_for(person))
        .select_related("actor", "benchmark", "task__persona__benchmark")
        .defer("task__spec")
        .select_for_update(no_key=True, of=("self",), skip_locked=True)
        .order_by("benchmark__name", "created_at", "pk")
    )
    if not rows:
        return None
    count = "1 new notification" if len(rows) == 1 else f"{len(rows)} new notifications"
    subject = f"π-Bench Studio: {count}"
    digest = Digest.objects.create(user=person, to=person.email, subject=subject, text=text_of(person, rows))
    Notification.objects.filter(pk__in=[row.pk for row in rows]).update(digest=digest)
    send_mail(subject, digest.text, None, [person.email])
    return digest


def text_of(person: User, rows: Sequence[Notification]) -> str:
    lines = [f"Hello {person},", "", "New since the last email:"]
    benchmark = None
    for row in rows[:MAX_LISTED]:
        if row.benchmark_id != benchmark:
            benchmark = row.benchmark_id
            lines += ["", str(row.benchmark), "-" * len(str(row.benchmark))]
        lines.append(f"* {row.actor or ''} {' '.join(row.text.split())}".replace("*  ", "* "))
        lines.append(f"  {settings.PUBLIC_ADDRESS}{address_of(row)}")
    if len(rows) > MAX_LISTED:
        lines += ["", f"And {len(rows) - MAX_LISTED} more in your inbox."]
    lines += [
        "",
        f"Your inbox: {settings.PUBLIC_ADDRESS}/inbox/",
        f"Notification settings: {settings.PUBLIC_ADDRESS}/settings/notifications/",
        "",
    ]
    return "\n".join(lines)


def _due() -> QuerySet[Notification]:
    chosen = NotificationChoice.objects.filter(user=OuterRef("user"), kind=OuterRef("kind")).exclude(
        how=NotificationChoice.How.EMAIL
    )
    return Notification.objects.filter(~Exists(chosen), read_at=None, digest=None)

"""Leases: which process works on a row, and until when.

A process claims a row by one conditional update, renews its lease while it works (``evaluation.leases``), and writes to
the row only as long as it holds it. If the process dies, the lease expires and another claims the row; if it was only
slow, its next write raises LeaseLostError.
"""

from __future__ import annotations

import hashlib
import os
import socket
import uuid
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

Row = TypeVar("Row", bound="Leased")
RESEND_AFTER = timedelta(seconds=30)
"""A message that nobody acted on for so long counts as lost."""


class LeaseLostError(Exception):
    """Another process has the row now, or it was paused, cancelled or deleted. Store nothing more."""


class LeasedRows(models.QuerySet[Row, Row]):
    def unsent(self) -> Self:
        """Those without a message under way that would have somebody claim them."""
        return self.filter(Q(queued_at=None) | Q(queued_at__lt=timezone.now() - RESEND_AFTER))

    def under_way(self) -> Self:
        """Those somebody works on, and those for which a message was sent a moment ago."""
        now = timezone.now()
        held = Q(state=self.model.LEASED, lease_until__gte=now)
        return self.filter(held | Q(queued_at__gte=now - RESEND_AFTER))

    def claim(self, pk: int, **changes: Any) -> str:
        """Lease the row if it is among these and nobody has it; returns the token of the lease, or nothing.

        Of two processes at once, the second looks again at the row as the first left it, but not at what a subquery
        would find now; so that the row is free stands in the update itself.
        """
        token = f"{process_space()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
        rows = self.model._default_manager.filter(free(), pk=pk, pk__in=self.filter(pk=pk).order_by().values("pk"))
        lease = {"claimed_by": token, "lease_until": lease_end(), "queued_at": None, "attempts": F("attempts") + 1}
        return token if rows.update(**lease, **changes) else ""

    def take_away(self, **changes: Any) -> int:
        """End their leases, whoever has them, and store ``changes``; returns the number of rows."""
        return self.update(claimed_by="", lease_until=None, **changes)


class Leased(models.Model):
    LEASED: ClassVar[str]
    """The state of a row that somebody works on."""

    claimed_by = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    """Once expired, another process may claim the row."""
    queued_at = models.DateTimeField(null=True)
    """When a worker was last sent a message to claim it; None once one did."""
    attempts = models.PositiveSmallIntegerField(default=0)
    """Claims since it last got further; one that was given up in an orderly way does not count."""

    class Meta:
        abstract = True

    def held(self) -> LeasedRows[Self]:
        """The row while this object's lease holds, else nothing."""
        rows: LeasedRows[Self] = LeasedRows(type(self))
        return rows.filter(Q(state=self.LEASED), pk=self.pk, claimed_by=self.claimed_by).order_by()

    def require(self) -> None:
        """Raises LeaseLostError."""
        if not self.held().exists():
            raise LeaseLostError

    def lock(self) -> None:
        """Hold the row until the end of this transaction. Raises LeaseLostError."""
        if not self.held().select_for_update(no_key=True).values_list("pk"):
            raise LeaseLostError

    def write(self, **changes: Any) -> None:
        """Raises LeaseLostError; then nothing is stored."""
        if not self.held().update(**changes):
            raise LeaseLostError

    def release(self, **changes: Any) -> bool:
        """End the lease and store ``changes``; False, without storing them, if it was lost."""
        return bool(self.held().take_away(**changes))


class Requested(models.Model):
    """What somebody asks for and a worker finishes; beside ``Leased``."""

    class State(models.TextChoices):
        ASKED = "asked", "Asked"
        FINISHED = "finished", "Finished"

    LEASED: ClassVar[str] = State.ASKED

    state = models.CharField(max_length=8, choices=State.choices, default=State.ASKED)
    requested_by = models.ForeignKey("studio.User", on_delete=models.SET_NULL, null=True, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    @property
    def is_going_on(self) -> bool:
        return self.state == self.State.ASKED

    @classmethod
    def finished(cls) -> dict[str, Any]:
        """What is written to the row in the end."""
        return {"state": cls.State.FINISHED, "finished_at": timezone.now(), "claimed_by": ""}


def free() -> Q:
    """Nobody works on it, or whoever did is dead."""
    return Q(claimed_by="") | Q(lease_until__lt=timezone.now())


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.SESSION_LEASE_SECONDS)


@cache
def process_space() -> str:
    """Where the number of a process means that process: this machine, since its last boot, in this container."""
    try:
        space = Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink("/proc/self/ns/pid")
    except OSError:
        space = uuid.uuid4().hex
    return f"{socket.gethostname()[:60].replace(':', '-')}-{hashlib.sha256(space.encode()).hexdigest()[:12]}"

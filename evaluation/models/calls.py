"""Recorded requests to models."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q

from evaluation.llm.exchange import Exchange, Json, decode
from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.sessions import Session
from evaluation.models.shelved import unshelve
from studio.models.packing import DigestField

PURPOSES = ("agent", "satisfaction", "follow_up", "voice", "checklist_compat", "checklist_strict")


class RecordedCall(models.Model):
    """One answered or failed request to a model.

    An answered request is not paid for again (``evaluation.call_records``). A subclass adds the row that the call was
    made for (``owner``), and makes each answer unique for it. Immutable.
    """

    owner: ClassVar[str]

    purpose = models.CharField(max_length=20)
    turn = models.PositiveSmallIntegerField()
    endpoint = models.ForeignKey(
        ModelEndpoint, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    """The pilot, judging or other owner that chose it keeps it from being deleted: nobody looks through all calls."""
    request_hash = DigestField()
    base = models.ForeignKey(
        "self", on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False
    )
    """An earlier call for the same owner, on which ``content`` builds. They are deleted together, with their owner."""
    content = models.BinaryField()
    """Request and response (``evaluation.llm.exchange``)."""
    answered = models.BooleanField()
    error = models.TextField(blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    @property
    def request(self) -> Json:
        return self.exchange.request

    @property
    def response(self) -> Json | None:
        """As the endpoint sent it; None if the request failed."""
        return self.exchange.response

    @cached_property
    def exchange(self) -> Exchange:
        earlier = {self.owner: getattr(self, f"{self.owner}_id"), "pk__lte": self.pk}
        return decode_calls(type(self)._default_manager.filter(**earlier))[self.pk]


def decode_calls(rows: models.QuerySet[Any]) -> dict[int, Exchange]:
    """All calls of one owner up to some, by key."""
    return decode_chain(rows)[0]


def decode_chain(rows: models.QuerySet[Any]) -> tuple[dict[int, Exchange], bytes]:
    """Likewise, and the context of the last one."""
    known: dict[int, Exchange] = {}
    contexts: dict[int | None, bytes] = {None: b""}
    pk: int | None = None
    for pk, base, content in rows.order_by("pk").values_list("pk", "base", "content"):
        known[pk], contexts[pk] = decode(pk, bytes(content), contexts[base], known, unshelve)
    return known, contexts[pk]


class ModelCall(RecordedCall):
    """A request made for a session."""

    owner = "session"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="model_calls")
    judging = models.ForeignKey("evaluation.Judging", on_delete=models.CASCADE, null=True, related_name="calls")
    """Which asked it; null if the agent did."""
    purpose = models.CharField(
        max_length=20,
        choices=[
            (p, p) for p in ("agent", "satisfaction", "follow_up", "voice", "checklist_compat", "checklist_strict")
        ],
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request_hash", "session"], condition=Q(answered=True), name="model_call_answered_once"
            ),
            models.CheckConstraint(
                condition=Q(purpose="agent", judging__isnull=True) | (~Q(purpose="agent") & Q(judging__isnull=False)),
                name="model_call_has_its_judging",
            ),
        ]

"""Questions of judgings that are sent together (``evaluation.llm.batches``)."""

from __future__ import annotations

from django.db import models

from evaluation.models.judgings import Judging, JudgingRound
from evaluation.models.leased import Leased, LeasedRows
from studio.models.fields import OrderedJSONField
from studio.models.packing import DigestField


class JudgingBatch(Leased):
    """Sent to the judge's service until every answer has come, or it was refused."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        OVER = "over", "Over"

    LEASED = State.OPEN

    round = models.ForeignKey(JudgingRound, on_delete=models.CASCADE, related_name="batches")
    state = models.CharField(max_length=4, choices=State.choices, default=State.OPEN)
    service_id = models.CharField(max_length=200, blank=True)
    """What the service calls it; empty: not sent yet."""
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    """Answered or failed, as the service told last."""
    reason = models.TextField(blank=True)
    """Why it could not be sent or looked at last time."""
    look_at = models.DateTimeField(null=True)
    """When the service is asked again; None: at once."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LeasedRows["JudgingBatch"].as_manager()


class BatchedQuestion(models.Model):
    """What a judging waits for. Once answered, its call has it and this row goes."""

    judging = models.ForeignKey(Judging, on_delete=models.CASCADE, related_name="batched")
    batch = models.ForeignKey(JudgingBatch, on_delete=models.CASCADE, null=True, related_name="questions")
    """None: not in one yet."""
    unanswered = models.BooleanField(default=False)
    """A batch came back without an answer: it is asked by itself."""
    purpose = models.CharField(max_length=20)
    turn = models.PositiveSmallIntegerField()
    request_hash = DigestField()
    body = OrderedJSONField()
    """As a chat completion."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["judging", "request_hash"], name="batched_question_once")]

"""Decisions of judges and rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from django.db import models
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce

from evaluation.models.calls import ModelCall
from evaluation.models.judgings import Judging, scoring_round
from evaluation.models.sessions import Session
from studio.domain.task import TaskSpec

GRADERS = ("rubric", "rule", "judge", "person")
"""``person``: whoever plays the user of a rehearsal decided it, besides or instead of the judge."""


class VerdictQuerySet(models.QuerySet["Verdict"]):
    def scoring(self) -> Self:
        """Those of the round that scores their pilot."""
        return self.filter(judging__round=scoring_round("judging__session__run__pilot"))

    def corrected(self) -> Self:
        """With ``decided``: as people corrected it, else as the judge decided."""
        latest = VerdictCorrection.objects.filter(verdict=OuterRef("pk")).order_by("-pk").values("met")[:1]
        return self.annotate(decided=Coalesce(Subquery(latest), F("met")))

    def decided_by_persons(self) -> Self:
        """Those of rehearsals, with ``decided``: as whoever plays the user decided it, else as the judge proposed."""
        same = {name: OuterRef(name) for name in ("judging", "kind", "turn", "index")}
        by_person = Verdict.objects.filter(grader="person", **same).values("met")[:1]
        return self.filter(judging__round=None).annotate(decided=Coalesce(Subquery(by_person), F("met")))

    def of_session(self, session: Session) -> Self:
        """Those that score it, as corrected, with their judgings: by sample, turn and what they are about."""
        rows = self.decided_by_persons() if session.run.pilot_id is None else self.scoring().corrected()
        rows = rows.filter(judging__session=session).select_related("judging")
        return rows.order_by("judging__sample", "turn", "kind", "index", "-grader")

    def decisions(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """The columns, and last what was decided."""
        rows: Any = self.corrected()
        yield from rows.values_list(*columns, "decided")


class Verdict(models.Model):
    """One decision with its evidence, by a judge or a rule. Immutable."""

    class Kind(models.TextChoices):
        SATISFACTION = "satisfaction", "Intent satisfied"
        FOLLOW_UP = "follow_up", "Intent asked for"
        CHECKLIST = "checklist", "Checklist item"

    judging = models.ForeignKey(Judging, on_delete=models.CASCADE, related_name="verdicts", db_index=False)
    kind = models.CharField(max_length=12, choices=Kind.choices)
    turn = models.PositiveSmallIntegerField()
    index = models.PositiveSmallIntegerField()
    """1-based position of the intent, or of the item among all graded items (rubric first, then script keys)."""
    uid = models.UUIDField(null=True)
    """Of the intent or item; null for a key of a grader script."""
    label = models.TextField(blank=True)
    """What it is about, unless the task's revision says it; see ``subject``."""
    grader = models.CharField(max_length=10, choices=[(name, name) for name in GRADERS])
    met = models.BooleanField(null=True)
    """Null: ungraded; ``error`` says why."""
    quote = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    supported = models.BooleanField(default=False)
    """Whether the quote occurs in what the judge saw."""
    style = models.CharField(max_length=10, blank=True)
    error = models.TextField(blank=True)
    model_call = models.ForeignKey(
        ModelCall, on_delete=models.DO_NOTHING, null=True, related_name="+", db_constraint=False, db_index=False
    )
    """Of the same session, with which both are deleted."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VerdictQuerySet.as_manager()

    class Meta:
        ordering = ["turn", "index"]
        constraints = [
            models.UniqueConstraint(fields=["judging", "kind", "turn", "index", "grader"], name="verdict_once")
        ]

    def subject(self, task: TaskSpec) -> str:
        """The intent's content, the criterion, or ``[tools] key``. ``task`` is that of the session.

        Each turn has a verdict on each item: with the texts of ``task`` copied, they would be most of what is stored.
        """
        if self.label or self.uid is None:
            return self.label
        uid = str(self.uid)
        if self.kind == self.Kind.CHECKLIST:
            return next((item.criterion for item in task.scored_items if item.uid == uid), "")
        return next((intent.content for intent in task.intents if intent.uid == uid), "")

    @property
    def counts_as(self) -> bool | None:
        """As people corrected it, if it was read with ``corrected``; else as the judge decided."""
        value: bool | None = getattr(self, "decided", self.met)
        return value

    @property
    def scoring(self) -> str:
        """The mode of a checklist verdict, else empty."""
        return self.judging.scoring


class VerdictCorrection(models.Model):
    """People decided otherwise than the judge. The latest one holds; the verdict stays as it was. Immutable."""

    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, related_name="corrections")
    met = models.BooleanField()
    reason = models.TextField(blank=True)
    source = models.CharField(max_length=100, blank=True)
    """What decided it: ``adjudication:12``."""
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["verdict", "-id"], name="correction_latest")]

"""Benchmarks and their task taxonomies."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from studio.domain.credits import LICENCES, OWN, PROSE, Credits
from studio.domain.episode import Split
from studio.domain.plan import PAPER_PLAN, Plan
from studio.models.accounts import Membership


class Taxonomy(models.Model):
    """Task categories; ``pi-bench`` has those of the paper's Table 5."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.name


class Category(models.Model):
    taxonomy = models.ForeignKey(Taxonomy, on_delete=models.CASCADE, related_name="categories")
    code = models.CharField(max_length=20)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["taxonomy", "code"], name="category_code_once")]

    def __str__(self) -> str:
        return f"{self.code} · {self.name}"


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    def of_member(self, user: int) -> BenchmarkQuerySet:
        return self.filter(pk__in=Membership.objects.filter(user=user).values("benchmark"))


class Benchmark(models.Model):
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    taxonomy = models.ForeignKey(Taxonomy, on_delete=models.PROTECT, null=True, blank=True)
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    """Approvals a task needs from people other than its authors."""
    review_by_list = models.BooleanField(default=False)
    """Whether reviewers must complete the review checklist."""
    validated_releases = models.BooleanField(default=False)
    """Whether a release waits for tasks that are not validated."""
    plan_sessions = models.PositiveSmallIntegerField(default=PAPER_PLAN.sessions)
    plan_groups = models.PositiveSmallIntegerField(default=PAPER_PLAN.groups)
    plan_group_least = models.PositiveSmallIntegerField(default=PAPER_PLAN.group_least)
    plan_group_most = models.PositiveSmallIntegerField(default=PAPER_PLAN.group_most)
    plan_standalone = models.PositiveSmallIntegerField(default=PAPER_PLAN.standalone)
    plan_signals = models.PositiveSmallIntegerField(default=PAPER_PLAN.signals)
    release_limits = models.JSONField(default=dict, blank=True)
    """``evaluation.releases.readiness.ReleaseLimits``, without those that are as usual."""
    licence = models.CharField(max_length=40, blank=True, choices=[(key, key) for key in (*LICENCES, OWN)])
    """Empty: unknown. What this and the next five mean says ``studio.domain.credits``."""
    licence_text = models.TextField(blank=True)
    contributors = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    contact = models.CharField(max_length=300, blank=True)
    file_origins = models.JSONField(default=list, blank=True)
    prose = models.JSONField(default=dict, blank=True)
    """By name of ``PROSE``; empty texts are left out."""
    canary = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    """Stands in whatever of a pack no agent, judge or grader reads: who finds it in a corpus knows where it is from."""
    validation_canary = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    held_out_canary = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    """Likewise, of tasks of these splits: which of them is found says which were read."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=models.Q(approvals_needed__gte=1), name="approvals_at_least_1"),
            models.CheckConstraint(condition=Q(licence__in=["", *LICENCES, OWN]), name="licence_known"),
            models.CheckConstraint(
                condition=Q(licence=OWN) & ~Q(licence_text="") | ~Q(licence=OWN) & Q(licence_text=""),
                name="own_licence_has_its_text",
            ),
            models.CheckConstraint(
                condition=models.Q(plan_sessions__range=(1, 500), plan_group_least__range=(2, F("plan_group_most")))
                & models.Q(plan_groups__lte=200, plan_group_most__lte=100, plan_signals__lte=F("plan_sessions"))
                & models.Q(plan_standalone__lte=500),
                name="plan_within_bounds",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    plan_sessions__range=(
                        F("plan_groups") * F("plan_group_least") + F("plan_standalone"),
                        F("plan_groups") * F("plan_group_most") + F("plan_standalone"),
                    )
                ),
                name="plan_adds_up",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("studio:benchmark", args=[self.slug])

    def canary_of(self, split: Split) -> str:
        named = {Split.VALIDATION: self.validation_canary, Split.HELD_OUT: self.held_out_canary}
        return str(named.get(split, self.canary))

    @property
    def plan(self) -> Plan:
        return Plan(**{name: getattr(self, f"plan_{name}") for name in Plan.model_fields})

    @property
    def credits(self) -> Credits:
        columns = {name: getattr(self, name) for name in Credits.model_fields if name not in PROSE}
        return Credits.read(columns | self.prose)

    def set_credits(self, credits: Credits) -> None:
        said = credits.model_dump(mode="json")
        self.prose = {name: said[name] for name in PROSE if said[name]}
        for name in said.keys() - set(PROSE):
            setattr(self, name, said[name])


CREDIT_FIELDS = ("licence", "licence_text", "contributors", "contact", "file_origins", "prose")
"""Set by ``Benchmark.set_credits``."""

"""Audits: people judge again what a judge decided, without seeing its answer.

Nothing here knows where a decision came from: a Packet is frozen by whoever opens the audit, and
``source`` is opaque.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from studio.models.fields import OrderedJSONField


class Cause(models.TextChoices):
    """Why an answer is not plain."""

    CRITERION_AMBIGUOUS = "criterion_ambiguous", "The criterion can be read in two ways"
    EVIDENCE_NOT_VISIBLE = "evidence_not_visible", "What would show it is not in the record"
    JUDGE_ERROR = "judge_error", "The record is clear: a fair test for judges"
    AUDITOR_ERROR = "auditor_error", "An auditor overlooked something"
    OUT_OF_SCOPE = "out_of_scope", "The task does not ask for this"


class AuditCampaign(models.Model):
    """A sample of decisions for people to judge."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    class Unit(models.TextChoices):
        DECISION = "decision", "Single decisions"
        SESSION = "session", "Whole sessions"

    class Strata(models.TextChoices):
        PILOT = "pilot", "As many of each pilot"
        MODEL = "model", "As many of each model, as in the paper"
        PERSONA = "persona", "In proportion, by persona"
        CATEGORY = "category", "In proportion, by category"
        STATUS = "status", "In proportion, by what became of the intents"
        GRADER = "grader", "In proportion, by what grades the checklist"
        DISAGREEMENT = "disagreement", "Half of them where judges differ or waver"
        ANSWER = "answer", "In proportion, by kind, answer, persona and pilot"

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="audits")
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    source = models.TextField(blank=True)
    """What was sampled, opaque here: names separated by spaces (``pilot:12 pilot:15``)."""
    rounds = models.JSONField(default=dict, blank=True)
    """Which judging of each source was sampled (``{"pilot:12": 2}``)."""
    unit = models.CharField(max_length=10, choices=Unit.choices, default=Unit.DECISION)
    """What a packet is. Whole sessions are what the paper audits: every intent's status and every checklist item."""
    strata = models.CharField(max_length=12, choices=Strata.choices, default=Strata.PILOT)
    """How they were sampled. By kind and answer: single decisions only."""
    protocol = models.CharField(max_length=7, blank=True)
    """By which the judgings were made that it is about, opaque here."""
    controls = models.JSONField(default=dict, blank=True)
    """``{"gold", "planted": how many, "sources": what gold items were drawn from}``; empty without control items."""
    seed = models.PositiveIntegerField(default=0)
    overlap = models.PositiveSmallIntegerField(default=1)
    """How many people judge each packet."""
    auditors = models.ManyToManyField("studio.User", blank=True, related_name="audits")
    """Nobody assigned: every auditor of the benchmark."""
    asked = ArrayField(models.BigIntegerField(), default=list)
    """Keys of the people who could judge when it was opened: to them it is sealed, whatever roles they have later."""
    due = models.DateField(null=True, blank=True)
    """By when people should have judged everything. Nothing stops on that day."""
    instructions = models.TextField(blank=True)
    """Of whoever planned it, with examples, in Markdown; shown with the general ones. Frozen with the packets."""
    own_tasks = models.BooleanField(default=False)
    """Whether people may judge tasks they wrote, edited or approved."""
    scripted = models.BooleanField(default=False)
    """A scripted model decided: practice, never evidence."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.CheckConstraint(condition=Q(overlap__gte=1), name="audit_overlap_at_least_1")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotations:campaign", args=[self.pk])

    @property
    def days_left(self) -> int | None:
        """Negative once it is overdue; None without a date, or when it is closed."""
        if self.due is None or self.state == self.State.CLOSED:
            return None
        return (self.due - timezone.localdate()).days

    @property
    def rounds_as_text(self) -> str:
        """``round 2``; where they differ, of each pilot in order."""
        numbers = [str(self.rounds[source]) for source in self.source.split() if source in self.rounds]
        if len(set(numbers)) > 1:
            return f"rounds {', '.join(numbers)} of its pilots in order"
        return f"round {numbers[0]}" if numbers else ""

    @property
    def packets_word(self) -> str:
        return "sessions" if self.unit == self.Unit.SESSION else "decisions"

    @property
    def packet_word(self) -> str:
        return self.packets_word.removesuffix("s")


class Population(models.Model):
    """The sessions that an audit of whole sessions was drawn from, with what they scored. Sealed and frozen."""

    campaign = models.OneToOneField(AuditCampaign, on_delete=models.CASCADE, related_name="population")
    rows = OrderedJSONField(default=list)
    """``PopulationRow`` as written by ``dataclasses.asdict``."""


class Packet(models.Model):
    """Exactly what an auditor sees of one decision or session and, sealed beside it, what the judge decided. Frozen."""

    class Control(models.TextChoices):
        GOLD = "gold", "Known answer"
        PLANTED = "planted", "Planted wrong verdict"

    campaign = models.ForeignKey(AuditCampaign, on_delete=models.CASCADE, related_name="packets")
    position = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=20, choices=[(k, k) for k in ("satisfaction", "follow_up", "checklist", "session")]
    )
    stratum = models.CharField(max_length=100, blank=True)
    sampling_weight = models.FloatField(default=1.0)
    """How many packets of the population it represents."""
    cluster = models.CharField(max_length=100, blank=True)
    """Opaque name of its session: decisions of one session are no independent draws. Empty: it stands alone."""
    content = OrderedJSONField(db_column="shown")
    """A ``PacketContent``: all that the page may render before the judgment."""
    sealed = OrderedJSONField()
    """A ``Sealed`` without its answers: read only after the judgment."""
    source = models.CharField(max_length=100)
    """Opaque name of the decision (``verdict:345``)."""
    origin = models.CharField(max_length=100, blank=True)
    """Opaque name of the session or decision whose record it shows, if ``source`` does not say it. Sealed."""
    truth = models.BooleanField(default=False)
    """Whether it asks what is so in truth, and shows the whole session; else what is right given what judges were
    shown."""
    first = models.OneToOneField("self", on_delete=models.CASCADE, null=True, related_name="second")
    """The packet that asks the same of what judges were shown. Whoever answered that is asked this one, after all such:
    then these answers stay."""
    control = models.CharField(max_length=10, blank=True, choices=Control.choices)
    """Not empty: it checks the auditors and is in no figure of judges, consensus or scores."""
    known = models.JSONField(default=dict, blank=True)
    """Answers known beforehand, by key of the question. In a packet that is no control: its planted questions."""
    labels = models.JSONField(default=dict, blank=True)
    """What it can be broken down by: ``{"persona", "category", "model", "judge", "prompts"}``. Sealed."""
    involved = ArrayField(models.BigIntegerField(), default=list)
    """Keys of the people who wrote, edited or approved its task. They do not judge it, unless the audit allows it."""

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "position"], name="packet_position"),
            models.UniqueConstraint(fields=["campaign", "source", "truth"], name="packet_once"),
        ]


class Opening(models.Model):
    """Somebody saw what a judge or others said of something that an audit asks. What they judge in it afterwards counts
    in nothing. The first time only; frozen."""

    campaign = models.ForeignKey(AuditCampaign, on_delete=models.CASCADE, related_name="openings")
    person = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    what = models.CharField(max_length=40)
    """``results``, or the name of what they looked at (``pilot:12``)."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["campaign", "person"], name="opening_once")]


class GoldItem(models.Model):
    """A decision or session whose answers somebody who plans audits typed, for later audits to ask. Frozen but for
    these answers."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="gold_items")
    content = OrderedJSONField()
    """A ``PacketContent``."""
    source = models.CharField(max_length=100)
    """Opaque name of the decision or session."""
    origin = models.TextField()
    """Opaque name of what it was drawn from (``pilot:12``)."""
    involved = ArrayField(models.BigIntegerField(), default=list)
    """As of a packet."""
    known = models.JSONField(default=dict, blank=True)
    """Answers by key of the question; empty until they are typed. Questions without one test nobody."""
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    """Who drew it or typed the answers last: never asked it."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "source"], name="gold_item_once")]

    @property
    def unit(self) -> str:
        units = AuditCampaign.Unit
        return units.SESSION if self.content["kind"] == "session" else units.DECISION


class Seat(models.Model):
    """One of a packet's places: it has as many as people judge it. Leased to the person who opens the packet."""

    packet = models.ForeignKey(Packet, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    """From 1."""
    auditor = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    leased_until = models.DateTimeField(null=True)
    """Afterwards somebody else may take the seat, unless it is judged."""
    judged = models.BooleanField(default=False)
    """Whether the auditor's current answer is given."""
    draft = models.JSONField(null=True)
    """What the auditor entered so far, autosaved: ``{"answers", "evidence", "comment"}``."""
    full_session = models.BooleanField(default=False, db_default=False)
    """Whether the auditor has seen the whole session since, so that the answer stays as it is."""

    class Meta:
        ordering = ["packet", "number"]
        constraints = [
            models.UniqueConstraint(fields=["packet", "number"], name="seat_number"),
            models.UniqueConstraint(fields=["packet", "auditor"], name="seat_once_per_auditor"),
            models.CheckConstraint(
                condition=Q(auditor__isnull=False) | Q(judged=False, leased_until__isnull=True),
                name="seat_free_or_held",
            ),
        ]


class Judgment(models.Model):
    """What one auditor handed in. Append-only: an undo adds the next number."""

    class State(models.TextChoices):
        GIVEN = "given", "Answered"
        SKIPPED = "skipped", "Skipped"
        """The comment says why. The packet goes to somebody else."""
        UNDONE = "undone", "Undone"

    packet = models.ForeignKey(Packet, on_delete=models.CASCADE, related_name="judgments")
    auditor = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="judgments")
    number = models.PositiveIntegerField()
    """From 1; an auditor's highest number counts for a packet."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.GIVEN)
    evidence = OrderedJSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    confidence = models.PositiveSmallIntegerField(null=True, choices=[(1, "Low"), (2, "Medium"), (3, "High")])
    cause = models.CharField(max_length=20, blank=True, choices=Cause.choices)
    milliseconds = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["packet", "auditor", "number"], name="judgment_number"),
            models.CheckConstraint(condition=Q(state__in=["given", "skipped", "undone"]), name="judgment_state_known"),
        ]

    @property
    def by_question(self) -> dict[str, str]:
        return {row.question: row.value for row in self.answers.all()}

    @property
    def in_short(self) -> str:
        """The answer, where it was one."""
        answers = list(self.by_question.values())
        return answers[0] if len(answers) == 1 else self.get_state_display().lower()


class Adjudication(models.Model):
    """Somebody decides where auditors differ. The newest counts."""

    packet = models.ForeignKey(Packet, on_delete=models.CASCADE, related_name="adjudications")
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]


class OpenAnswers(models.Manager["Answer"]):
    """Those of people; what judges and models answered is sealed."""

    def get_queryset(self) -> models.QuerySet[Answer]:
        return super().get_queryset().filter(by__in=[Answer.By.PERSON, Answer.By.ADJUDICATOR])


class Answer(models.Model):
    """One answer to one question of a packet, whoever gave it. Append-only; results are groupings of these."""

    class By(models.TextChoices):
        PERSON = "person", "An auditor"
        ADJUDICATOR = "adjudicator", "An adjudicator"
        MODEL = "model", "A model that takes part"
        JUDGE = "judge", "The judge that is audited"

    packet = models.ForeignKey(Packet, on_delete=models.CASCADE, related_name="answers")
    question = models.CharField(max_length=40)
    """Its key in the packet."""
    by = models.CharField(max_length=11, choices=By.choices)
    judgment = models.ForeignKey(Judgment, on_delete=models.CASCADE, null=True, related_name="answers")
    adjudication = models.ForeignKey(Adjudication, on_delete=models.CASCADE, null=True, related_name="answers")
    model = models.CharField(max_length=200, blank=True)
    """Name of the model that takes part."""
    number = models.PositiveIntegerField(default=1)
    """Of several by the same, the highest counts."""
    value = models.CharField(max_length=10, blank=True)
    """One of the question's choices. Empty: a model was asked and came to none."""
    cause = models.CharField(max_length=20, blank=True, choices=Cause.choices)

    objects = OpenAnswers()
    sealed = models.Manager["Answer"]()
    """All of them: for ``annotations.decided`` alone, which results and models' answers are read through."""

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["packet", "question", "judgment", "adjudication", "model", "number"],
                nulls_distinct=False,
                name="answer_once",
            )
        ]


class Consensus(models.Model):
    """One row per packet that enough people judged, recomputed whenever its inputs change."""

    packet = models.OneToOneField(Packet, on_delete=models.CASCADE, related_name="consensus")
    resolved = models.BooleanField()
    """Whether each question has an answer: one with a majority that is not “unsure”, or an adjudicated one."""

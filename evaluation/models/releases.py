"""Releases, and the revisions they froze."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from studio.domain.pack import archive_name
from studio.models.fields import OrderedJSONField


class SigningKey(models.Model):
    """An Ed25519 key that signs a benchmark's releases; the newest is in use. Immutable."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="signing_keys")
    public = models.CharField(max_length=100, unique=True)
    """As OpenSSH writes it: ``ssh-ed25519 AAAA…``."""
    fingerprint = models.CharField(max_length=60)
    """``SHA256:…``, by which people know it."""
    sealed = models.TextField()
    """The private part, encrypted (``evaluation.llm.stored_keys``). Never shown, logged or exported."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)


class SignedArchive(models.Model):
    """A frozen TaskPack. Its bytes follow from the revisions that its release pins, the contents of files that these
    name, and ``manifest``. ``evaluation.releases.packing`` makes them again."""

    manifest = OrderedJSONField()
    """The archive's ``pack.json``: tasks with their revisions, evidence, exceptions."""
    sha256 = models.CharField(max_length=64)
    """Of the archive."""
    size = models.PositiveBigIntegerField()
    """Bytes of the archive."""
    sums = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")
    """The archive's ``SHA256SUMS``; each file that it lists is a Blob."""
    key = models.ForeignKey(SigningKey, on_delete=models.PROTECT, null=True, related_name="+")
    """That signed it; None: unsigned."""
    signature = models.BinaryField(default=b"")
    """Of ``sums``: the archive's ``SHA256SUMS.sig``."""
    ssh_signature = models.TextField(blank=True)
    """Likewise in the form of OpenSSH: ``SHA256SUMS.sshsig``."""
    statement = models.JSONField(null=True)
    """A signed in-toto statement of the archive, as a DSSE envelope; it stands beside the archive."""

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(key=None, signature=b"", ssh_signature="", statement=None)
                | Q(key__isnull=False, statement__isnull=False) & ~Q(signature=b"") & ~Q(ssh_signature=""),
                name="%(class)s_signed_in_all_forms",
            ),
        ]

    @property
    def file_name(self) -> str:
        """Of the archive."""
        return archive_name(self.manifest)


class Release(SignedArchive):
    """What is published of a benchmark, frozen with the evidence behind it. Immutable."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40)
    exceptions = OrderedJSONField(default=list)
    """Accepted blockers: ``[{"problem", "reason", "by", "scope", "since"}]``."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            *SignedArchive.Meta.constraints,
            models.UniqueConstraint(fields=["benchmark", "version"], name="release_version"),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"

    def get_absolute_url(self) -> str:
        return reverse("evaluation:release", args=[self.pk])

    @property
    def held_out_pack(self) -> HeldOutPack | None:
        return HeldOutPack.objects.filter(release=self).first()


class HeldOutPack(SignedArchive):
    """A release's held-out tasks. Immutable; its sha256 stands in the release's manifest."""

    release = models.OneToOneField(Release, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"{self.release}, held-out"


class ErratumEffect(models.TextChoices):
    """What a mistake means for scores on its tasks."""

    SCORES = "scores", "Scores are wrong: do not count these tasks"
    REJUDGE = "rejudge", "Judging is wrong: judge again by the next release"
    NONE = "none", "None: words only"


class Erratum(models.Model):
    """A mistake of a release that was found after it was cut. Immutable."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="errata")
    number = models.PositiveIntegerField()
    """Of the release, from 1."""
    text = models.TextField()
    tasks = ArrayField(models.TextField(), default=list)
    """Each ``persona/task``; none: it is about the release as a whole."""
    effect = models.CharField(max_length=20, choices=ErratumEffect.choices)
    published = models.DateField()
    """UTC."""
    key = models.ForeignKey(SigningKey, on_delete=models.PROTECT, related_name="errata")
    statement = models.JSONField()
    """All of this about the release's archive, as an in-toto statement in a DSSE envelope, signed by ``key``."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["release", "number"], name="erratum_number"),
            models.CheckConstraint(condition=~Q(text=""), name="erratum_says_something"),
            models.CheckConstraint(condition=Q(effect__in=ErratumEffect.values), name="erratum_effect_known"),
        ]


class ReleaseException(models.Model):
    """Somebody who may release lets these blockers pass. Never changed; withdrawn, it is deleted."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="release_exceptions")
    rule = models.CharField(max_length=80)
    """Code of the blockers."""
    persona = models.CharField(max_length=200, blank=True)
    """User id: all of its tasks, also those that come to be blocked later."""
    covers = models.JSONField(default=list)
    """Without a persona, each blocker: ``[user id, task id, place, state, figure]``, the ids empty for one of the
    benchmark itself. Of another state, or with a higher figure, it is not covered."""
    reason = models.TextField()
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(persona="") ^ Q(covers=[]), name="release_exception_has_one_scope"),
            models.CheckConstraint(condition=~Q(reason=""), name="release_exception_has_a_reason"),
        ]


class ElsewhereAcceptance(models.Model):
    """Someone who may release accepts that a version was approved elsewhere. Never changed."""

    review = models.OneToOneField("studio.Review", on_delete=models.CASCADE, related_name="acceptance")
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class ReleasePersona(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="personas")
    revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.PROTECT, related_name="releases")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "revision"], name="release_persona_once")]


class ReleaseTask(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="tasks")
    revision = models.ForeignKey("studio.Revision", on_delete=models.PROTECT, related_name="releases")
    solution = models.ForeignKey("evaluation.ReferenceSolution", on_delete=models.PROTECT, null=True, related_name="+")
    """That its pack has."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "revision"], name="release_task_once")]


class Submission(models.Model):
    """Results of a release that came from outside: a pilot that was played elsewhere, by whoever submitted it."""

    pilot = models.OneToOneField("evaluation.Pilot", on_delete=models.CASCADE, related_name="submission")
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="submissions")
    sha256 = models.CharField(max_length=64)
    """Of the bundle's list of sums."""
    verified_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    """Who answers for it that the results are what the release gives; None: nobody does."""

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["release", "sha256"], name="submission_once")]

    def __str__(self) -> str:
        """As results name it."""
        by = self.pilot.created_by
        return f"submitted by {by or 'a command'}, {'verified' if self.verified_by_id else 'not verified'}"

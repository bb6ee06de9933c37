"""Users, their roles in benchmarks, ways in, and visits."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    display_name = models.CharField(max_length=120, blank=True)
    letter_keys = models.BooleanField(default=True)
    """Whether single-key shortcuts are on (WCAG 2.1.4)."""
    guide_step = models.CharField(max_length=10, blank=True, default="")
    """The step of the guided first task; empty before it, ``done`` or ``left`` after."""
    guide_started_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.display_name or self.username


class SignInRecord(models.Model):
    """Attempts to sign in with one name, from one address, or both: what the delay before the next one rests on."""

    key = models.CharField(max_length=64, primary_key=True)
    """A hash: somebody may have typed a password as the name."""
    failures = models.PositiveIntegerField(default=0)
    delayed_until = models.DateTimeField(null=True)
    tried_at = models.DateTimeField()
    succeeded_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["tried_at"], name="sign_in_tried_at")]


class Role(models.TextChoices):
    OWNER = "owner", "Owner"
    AUTHOR = "author", "Author"
    REVIEWER = "reviewer", "Reviewer"
    AUDITOR = "auditor", "Auditor"
    RELEASE_MANAGER = "release_manager", "Release manager"
    VIEWER = "viewer", "Viewer"


class Membership(models.Model):
    """One role of a user in a benchmark; a user may have several."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user", "role"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]


class Invitation(models.Model):
    """A way in, for one person: to a benchmark with a role, or to the studio alone. Its link works once."""

    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 of the secret in the link; the secret itself is stored nowhere."""
    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, null=True, related_name="invitations")
    role = models.CharField(max_length=20, choices=Role.choices, blank=True)
    email = models.EmailField(blank=True)
    mailed = models.BooleanField(default=False)
    """Only the mailbox had the link: whoever uses it can read its mail."""
    created_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(benchmark=None, role="") | models.Q(benchmark__isnull=False, role__in=Role.values),
                name="invitation_role_with_benchmark",
            ),
        ]


class ApiToken(models.Model):
    """What a program shows in place of a person. The secret is shown once and stored as a hash."""

    class Scope(models.TextChoices):
        """Each allows what those before it allow."""

        READ = "read", "Read"
        WRITE = "write", "Read and write"
        FULL = "full", "Everything, also pilots and releases"

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    start = models.CharField(max_length=12)
    """The first characters of the secret, by which a person knows it again."""
    scope = models.CharField(max_length=10, choices=Scope.choices)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(scope__in=["read", "write", "full"]), name="token_scope_known"),
        ]


class Visit(models.Model):
    """A user's last two visits to Home; events since ``before`` are new to them."""

    user = models.OneToOneField("studio.User", on_delete=models.CASCADE, related_name="visit")
    before = models.DateTimeField(null=True)
    """When the previous visit ended; null on the first."""
    latest = models.DateTimeField()

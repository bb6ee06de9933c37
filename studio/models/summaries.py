"""What lists and counts read of a task: one narrow row instead of the task and all its parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import F, QuerySet

from studio.models.personas import Persona
from studio.models.tasks import Task


class TaskSummary(models.Model):
    """Kept by the database's triggers (``migrations/summaries.sql``) in the transaction of each change, so that no way
    of saving can forget it. Never written from here."""

    task = models.OneToOneField(Task, on_delete=models.CASCADE, primary_key=True, related_name="summary")
    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(null=True)
    name = models.CharField(max_length=200)
    """The task's ``task_id``."""
    group = models.BigIntegerField(null=True)
    """Key of its dependency group."""
    state = models.CharField(max_length=20)
    category = models.CharField(max_length=20)
    trigger_kind = models.CharField(max_length=20)
    updated_at = models.DateTimeField(null=True)
    last_author = models.BigIntegerField(null=True)
    """Key of who saved the newest version."""
    local = models.PositiveIntegerField(default=0)
    """Session-local intents."""
    persistent = models.PositiveIntegerField(default=0)
    rubric = models.PositiveIntegerField(default=0)
    """Items with a criterion, here and in ``rule``."""
    rule = models.PositiveIntegerField(default=0)
    files = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    """Open findings, here and in the next two."""
    warnings = models.PositiveIntegerField(default=0)
    hints = models.PositiveIntegerField(default=0)
    needs = ArrayField(models.BigIntegerField(), default=list)
    """Keys of the earlier tasks it builds on."""
    tools = ArrayField(models.TextField(), default=list)
    """Tools it names, without their prefix: as needed, as evidence for judges, in rules, as sources of intents."""
    skills = ArrayField(models.TextField(), default=list)

    class Meta:
        indexes = [models.Index(fields=["persona", "position", "name"], name="summary_in_order")]


def tasks_with_counts(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Annotated with ``n_intents``, ``n_items``, ``n_errors`` and ``n_warnings``, from their summaries."""
    return tasks.annotate(
        n_intents=F("summary__local") + F("summary__persistent"),
        n_items=F("summary__rubric") + F("summary__rule"),
        n_errors=F("summary__errors"),
        n_warnings=F("summary__warnings"),
    )


class PersonaSummary(models.Model):
    """What a persona's tasks come to: counts and sums of their summaries. Kept like those; a persona that
    never had a task has none."""

    persona = models.OneToOneField(Persona, on_delete=models.CASCADE, primary_key=True, related_name="summary")
    tasks = models.PositiveIntegerField(default=0)
    sessions = models.PositiveIntegerField(default=0)
    """Placed tasks."""
    local = models.PositiveIntegerField(default=0)
    persistent = models.PositiveIntegerField(default=0)
    rubric = models.PositiveIntegerField(default=0)
    rule = models.PositiveIntegerField(default=0)
    files = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    warnings = models.PositiveIntegerField(default=0)
    hints = models.PositiveIntegerField(default=0)
    dependencies = models.PositiveIntegerField(default=0)
    draft = models.PositiveIntegerField(default=0)
    """Tasks in this state, and in those that follow."""
    in_review = models.PositiveIntegerField(default=0)
    changes_requested = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    released = models.PositiveIntegerField(default=0)
    retired = models.PositiveIntegerField(default=0)
    categories = models.JSONField(default=dict)
    """The number of tasks by category (empty: none), and in the next two by what they name."""
    tools = models.JSONField(default=dict)
    skills = models.JSONField(default=dict)
    episode = models.TextField(default="")
    """The placed tasks that are not retired, in order: each its key, the keys of what it needs with commas, ``signal``
    unless a message starts it, and the name of its group, separated by ``\\x1f``; tasks by ``\\x1e``."""


@contextmanager
def summarized_at_end() -> Iterator[set[int]]:
    """Inside a transaction that writes many tasks: their summaries are made when the block ends, instead of after each
    statement. The set takes the keys of their personas; no other persona's tasks may change in the block."""
    personas: set[int] = set()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('studio.summaries', 'later', true)")
        yield personas
        cursor.execute("SELECT summarize_all(%s::bigint[])", [sorted(personas)])

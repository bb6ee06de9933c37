"""Checks put off: an import of very many tasks stores them first, and a worker checks them afterwards.

Until then each of these tasks has an error that says so. It cannot be dismissed, so the task looks clean nowhere: not
in lists and counts, not to reviewers, and not to a release, which checks all tasks itself before it is cut.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from django.db import transaction

from studio.celery import send
from studio.findings.queries import count_findings
from studio.findings.refresh import refresh_findings
from studio.models import Benchmark, Finding, Persona, Task
from studio.models.findings import NOT_CHECKED
from studio.models.transactions import atomic_with_retry, try_lock

logger = logging.getLogger(__name__)
RUN_CHECKS = "evaluation.tasks.run_deferred_checks"
PERSONAS_AT_ONCE = 20
"""Checked in one transaction. Whoever saves one of their tasks meanwhile has to wait for it."""
_LOCK = 7_015_001
"""Key of the advisory lock of whoever checks."""


def defer_checks(personas: Collection[int]) -> int:
    """Mark all tasks of these personas, by key, as not checked, and let a worker check them after the commit; returns
    how many there are."""
    tasks = Task.objects.filter(persona__in=personas)
    waiting = Finding.objects.filter(rule=NOT_CHECKED, task__in=tasks).values("task")
    unmarked = tasks.exclude(pk__in=waiting).order_by("pk").values_list("pk", flat=True)
    Finding.objects.bulk_create([_not_checked(task) for task in unmarked], batch_size=1_000)
    count_findings(tasks.values_list("pk", flat=True))
    transaction.on_commit(lambda: send(RUN_CHECKS), robust=True)
    return tasks.count()


def _not_checked(task: int) -> Finding:
    return Finding(
        task_id=task,
        rule=NOT_CHECKED,
        severity="error",
        message="The checks have not run on this task since it was imported.",
        fix="They run in the background, and this goes when they are through. Saving the task runs them at once.",
        fingerprint=NOT_CHECKED,
    )


def unchecked_tasks(benchmark: Benchmark) -> int:
    """How many tasks wait for their checks."""
    return Finding.objects.filter(rule=NOT_CHECKED, task__persona__benchmark=benchmark).count()


def resend_deferred() -> None:
    """Ask a worker again, if any task still waits."""
    if Finding.objects.filter(rule=NOT_CHECKED).exists():
        send(RUN_CHECKS)


def check_deferred() -> None:
    """Check the tasks that wait, unless someone else is doing so. Personas whose checks fail keep waiting."""
    failed: set[int] = set()
    while personas := _waiting(failed):
        try:
            if not _check(personas):
                return
        except Exception:
            failed.update(persona for persona in personas if not _check_alone(persona))


def _check_alone(persona: int) -> bool:
    try:
        return _check([persona])
    except Exception:
        logger.exception("The checks of the imported persona %d failed with an internal error.", persona)
        return False


def _waiting(failed: Collection[int]) -> list[int]:
    waiting = Finding.objects.filter(rule=NOT_CHECKED).values("task__persona")
    rows = Persona.objects.filter(pk__in=waiting).exclude(pk__in=failed).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:PERSONAS_AT_ONCE])


@atomic_with_retry
def _check(personas: Collection[int]) -> bool:
    """False if someone else is checking. Locked, the tasks stay as they are read until their findings are stored."""
    if not try_lock(_LOCK):
        return False
    tasks = Task.objects.select_for_update(no_key=True, of=("self",)).filter(persona__in=personas)
    list(tasks.order_by("pk").values_list("pk", flat=True))
    refresh_findings(Persona.objects.filter(pk__in=personas))
    return True

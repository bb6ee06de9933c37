"""Waivers of warnings and errors. A waiver is tied to its finding's fingerprint, so it ends when the text concerned
changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, Min, OuterRef, Q

from studio import access
from studio.domain import findings
from studio.domain.checks import RULES
from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of
from studio.drafts.events import record
from studio.drafts.load import lock
from studio.findings.queries import count_findings
from studio.models import Benchmark, ErrorWaiver, Finding, Revision, Task, User, Waiver
from studio.models.transactions import atomic_with_retry

WRONG = "The check is wrong here."
"""How the reason begins where somebody says so with one click."""
DOUBTED_FROM = 3
"""Dismissed findings of a rule from which on it is told that these are most of what it found."""


class WaiverError(ValueError):
    """A waiver that cannot be added or removed; the message says why."""


@dataclass(frozen=True)
class WaivedFinding:
    finding: findings.Finding | Finding
    reason: str
    by: User


@atomic_with_retry
def add_waiver(
    task_id: int, *fingerprints: str, by: User, reason: str, current: Iterable[findings.Finding] | None = None
) -> None:
    """Waive a warning or hint, in all places where it stands. ``current``: findings of an unsaved draft; None for the
    stored ones."""
    task = lock(task_id)
    found = _find(task, fingerprints, current)
    if any(finding.severity == "error" for finding in found):
        raise WaiverError("Errors must be fixed; only warnings and hints can be dismissed.")
    reason = storable_text(reason)
    if not reason:
        raise WaiverError("Say why this is acceptable; others will ask.")
    for finding in found:
        Waiver.objects.update_or_create(
            task=task, fingerprint=finding.fingerprint, defaults={"rule": finding.rule, "reason": reason, "by": by}
        )
    count_findings([task.pk])
    record(task, "waived", by=by, summary=f"{_said(found)} {reason}")


@atomic_with_retry
def remove_waiver(task_id: int, *fingerprints: str, by: User) -> None:
    task = lock(task_id)
    deleted, _ = Waiver.objects.filter(task=task, fingerprint__in=fingerprints).delete()
    if ErrorWaiver.objects.filter(task=task, fingerprint__in=fingerprints).exists():
        _require_owner(task, by)
        deleted += ErrorWaiver.objects.filter(task=task, fingerprint__in=fingerprints).delete()[0]
    if deleted:
        count_findings([task.pk])
        record(task, "unwaived", by=by, summary="Dismissal undone.")


@atomic_with_retry
def waive_error(task_id: int, *fingerprints: str, by: User, reason: str) -> None:
    """Waive an error of a language rule, in all places where it stands. It no longer blocks approval and release but is
    listed at both. Only for owners who did not write this version."""
    task = lock(task_id)
    found = _find(task, fingerprints, None)
    if any(finding.severity != "error" for finding in found):
        raise WaiverError("This is for errors only; dismiss warnings and hints the usual way.")
    if any(finding.rule not in RULES or not RULES[finding.rule].judges_language for finding in found):
        raise WaiverError("This error is not a matter of judgement. It must be fixed.")
    _require_owner(task, by)
    revision = Revision.objects.filter(task=task, number=task.version).first()
    if revision and by.pk in authors_of(revision):
        raise WaiverError("You wrote part of this version, so another owner has to dismiss it.")
    reason = storable_text(reason)
    if not reason:
        raise WaiverError("Say why the check is wrong here; your reason is shown at approval and in the release.")
    for finding in found:
        ErrorWaiver.objects.update_or_create(
            task=task,
            fingerprint=finding.fingerprint,
            defaults={"rule": finding.rule, "message": finding.message, "reason": reason, "by": by},
        )
    count_findings([task.pk])
    record(task, "set_aside", by=by, summary=f"{_said(found)} {reason}")


def split_waived(
    task: Task, all_findings: Iterable[findings.Finding | Finding]
) -> tuple[list[findings.Finding | Finding], list[WaivedFinding]]:
    waivers: dict[str, Waiver | ErrorWaiver] = {
        row.fingerprint: row for row in Waiver.objects.filter(task=task).select_related("by")
    }
    error_waivers: dict[str, Waiver | ErrorWaiver] = {
        row.fingerprint: row for row in ErrorWaiver.objects.filter(task=task).select_related("by")
    }
    left, waived = [], []
    for finding in all_findings:
        waiver = (error_waivers if finding.severity == "error" else waivers).get(finding.fingerprint)
        if waiver is None:
            left.append(finding)
        else:
            waived.append(WaivedFinding(finding, waiver.reason, waiver.by))
    return left, waived


@dataclass(frozen=True)
class DoubtedRule:
    """A rule of which at least half of what it finds in a benchmark was dismissed."""

    name: str
    example: str
    """The message of one that was dismissed."""
    found: int
    """Findings that it has there now, dismissed ones included."""
    dismissed: int
    wrong: int
    """Of these, how many because the check was wrong."""


def doubted_rules(benchmark: Benchmark) -> list[DoubtedRule]:
    """Those most often called wrong first."""
    same = {name: OuterRef(name) for name in ("task", "fingerprint", "rule")}
    waived, error = Waiver.objects.filter(**same), ErrorWaiver.objects.filter(**same)
    rows = (
        Finding.objects.filter(task__persona__benchmark=benchmark)
        .annotate(
            is_dismissed=Exists(waived) | Exists(error),
            is_wrong=Exists(waived.filter(reason__startswith=WRONG)) | Exists(error),
        )
        .order_by("rule")
        .values_list("rule")
    )
    counted = rows.annotate(
        example=Min("message", filter=Q(is_dismissed=True)),
        found=Count("pk"),
        dismissed=Count("pk", filter=Q(is_dismissed=True)),
        wrong=Count("pk", filter=Q(is_wrong=True)),
    )
    doubted = [DoubtedRule(*row) for row in counted]
    return sorted(
        (each for each in doubted if each.dismissed >= DOUBTED_FROM and 2 * each.dismissed >= each.found),
        key=lambda each: (-each.wrong, each.name),
    )


def waiver_reasons(tasks: Iterable[Task]) -> dict[tuple[str, str, str, bool], str]:
    """By persona id, task id, fingerprint and whether it is an error."""
    reasons = {}
    for model, is_error in ((Waiver, False), (ErrorWaiver, True)):
        rows = model.objects.filter(task__in=tasks)
        for user_id, task_id, fingerprint, reason in rows.values_list(
            "task__persona__user_id", "task__task_id", "fingerprint", "reason"
        ):
            reasons[user_id, task_id, fingerprint, is_error] = reason
    return reasons


def _find(
    task: Task, fingerprints: Collection[str], current: Iterable[findings.Finding] | None
) -> list[findings.Finding | Finding]:
    """One finding for each fingerprint, in this order."""
    rows = Finding.objects.filter(task=task, fingerprint__in=fingerprints) if current is None else current
    found: dict[str, findings.Finding | Finding] = {row.fingerprint: row for row in rows}
    if not fingerprints or not found.keys() >= {*fingerprints}:
        raise WaiverError("The checks no longer report this.")
    return [found[fingerprint] for fingerprint in dict.fromkeys(fingerprints)]


def _said(found: Sequence[findings.Finding | Finding]) -> str:
    places = f" ({len(found)} places)" if len(found) > 1 else ""
    return f"{found[0].message}{places}"


def _require_owner(task: Task, by: User) -> None:
    if not access.may(by, task.persona.benchmark, "manage"):
        raise WaiverError("Only an owner of the benchmark can dismiss errors.")

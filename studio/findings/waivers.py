"""Living with what the checks say: a warning that may stay, and an error that is held to be wrong.

Both are tied to the finding's fingerprint, so they end by themselves when the words they were about change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from studio import access
from studio.domain import findings
from studio.domain.checks import RULES
from studio.domain.storable import storable_text
from studio.drafts.authors import authors_of
from studio.drafts.events import record
from studio.drafts.locks import lock
from studio.models import Finding, Revision, SetAside, Task, User, Waiver


class WaiverError(ValueError):
    """A waiver that cannot be given or taken back; the text says why."""


@dataclass(frozen=True)
class WaivedFinding:
    """A finding that may stay, with who said so."""

    finding: findings.Finding | Finding
    reason: str
    by: User


@transaction.atomic
def add_waiver(
    task_id: int, fingerprint: str, *, by: User, reason: str, found: Iterable[findings.Finding] | None = None
) -> None:
    """Live with a warning, and say why. Errors cannot be waived.

    ``found`` is what the checks say of words that are no version yet; else the stored findings count.
    """
    task = lock(task_id)
    finding = _find(task, fingerprint, found)
    if finding.severity == "error":
        raise WaiverError("Errors must be fixed; only warnings and hints can be dismissed.")
    reason = storable_text(reason)
    if not reason:
        raise WaiverError("Say why this is acceptable; others will ask.")
    Waiver.objects.update_or_create(
        task=task, fingerprint=fingerprint, defaults={"rule": finding.rule, "reason": reason, "by": by}
    )
    record(task, "waived", by=by, summary=f"{finding.message} {reason}")


@transaction.atomic
def remove_waiver(task_id: int, fingerprint: str, *, by: User) -> None:
    """Let a waived warning, or an error that was set aside, stand again. Nothing happens the second time."""
    task = lock(task_id)
    gone, _ = Waiver.objects.filter(task=task, fingerprint=fingerprint).delete()
    if SetAside.objects.filter(task=task, fingerprint=fingerprint).exists():
        _owner_only(task, by)
        gone += SetAside.objects.filter(task=task, fingerprint=fingerprint).delete()[0]
    if gone:
        record(task, "unwaived", by=by, summary="Dismissal undone.")


@transaction.atomic
def waive_error(task_id: int, fingerprint: str, *, by: User, reason: str) -> None:
    """Hold an error to be wrong, and say why: it does not block approval and release, and is told at both.

    Only an owner who wrote nothing of this version may, and only of rules that judge language: what is missing or
    cannot be read is so, whoever says what.
    """
    task = lock(task_id)
    finding = _find(task, fingerprint, None)
    if finding.severity != "error":
        raise WaiverError("This is for errors only; dismiss warnings and hints the usual way.")
    if finding.rule not in RULES or not RULES[finding.rule].judges_language:
        raise WaiverError("This error is not a matter of judgement. It must be fixed.")
    _owner_only(task, by)
    revision = Revision.objects.filter(task=task, number=task.version).first()
    if revision and by.pk in authors_of(revision):
        raise WaiverError("You wrote part of this version, so another owner has to dismiss it.")
    reason = storable_text(reason)
    if not reason:
        raise WaiverError("Say why the check is wrong here; your reason is shown at approval and in the release.")
    SetAside.objects.update_or_create(
        task=task,
        fingerprint=fingerprint,
        defaults={"rule": finding.rule, "message": finding.message, "reason": reason, "by": by},
    )
    record(task, "set_aside", by=by, summary=f"{finding.message} {reason}")


def split_waived(
    task: Task, found: Iterable[findings.Finding | Finding]
) -> tuple[list[findings.Finding | Finding], list[WaivedFinding]]:
    """What stands open of these findings, and what may stay. Waivers of what is not found any more are left out."""
    waived: dict[str, Waiver | SetAside] = {one.fingerprint: one for one in task.waivers.select_related("by")}
    aside: dict[str, Waiver | SetAside] = {one.fingerprint: one for one in task.set_aside.select_related("by")}
    left, allowed = [], []
    for finding in found:
        word = (aside if finding.severity == "error" else waived).get(finding.fingerprint)
        if word is None:
            left.append(finding)
        else:
            allowed.append(WaivedFinding(finding, word.reason, word.by))
    return left, allowed


def waiver_reasons(tasks: Iterable[Task]) -> dict[tuple[str, str, str, bool], str]:
    """Why findings of these tasks may stay, by persona, task, fingerprint and whether it is an error."""
    found = {}
    for model, is_error in ((Waiver, False), (SetAside, True)):
        rows = model.objects.filter(task__in=tasks)
        for user_id, task_id, fingerprint, reason in rows.values_list(
            "task__episode__persona__user_id", "task__task_id", "fingerprint", "reason"
        ):
            found[user_id, task_id, fingerprint, is_error] = reason
    return found


def _find(task: Task, fingerprint: str, found: Iterable[findings.Finding] | None) -> findings.Finding | Finding:
    there = Finding.objects.filter(task=task, fingerprint=fingerprint) if found is None else found
    finding = next((one for one in there if one.fingerprint == fingerprint), None)
    if finding is None:
        raise WaiverError("The checks no longer report this.")
    return finding


def _owner_only(task: Task, by: User) -> None:
    if not access.may(by, task.episode.persona.benchmark, "manage"):
        raise WaiverError("Only an owner of the benchmark can dismiss errors.")

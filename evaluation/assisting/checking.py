"""What the checks say of a suggestion before anybody takes it: the same rules, on the task as it would be then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.assisting.proposals import Chosen, Proposal, new_uid, number_of, put_in
from studio.drafts.working import check_unsaved
from studio.models import Task
from studio.spec.findings import Finding
from studio.spec.task import TaskSpec

LEAKS = {"intent-in-request"}
"""Checks that stand beside an intent and are about the request."""
LATER = {"intent-unscored"}
"""What is always said of a new row, until others are written for it."""
TOLD = ("rule", "severity", "message", "mend", "words")


def check_rows(task: Task, spec: TaskSpec, proposals: Sequence[Proposal]) -> dict[str, list[dict[str, Any]]]:
    """Findings by the place of the row they are about, if all of them were taken."""
    if not proposals or any(one.degree for one in proposals):  # what is given away proposes no words of its own
        return {}
    chosen = as_chosen(0, proposals)
    after = put_in(spec, chosen)
    found = check_unsaved(task, after, texts={})
    told = {str(one.row): [_told(each) for each in found if _is_about(each, one, after)] for one in chosen}
    return {row: findings for row, findings in told.items() if findings}


def as_chosen(suggestion: int, proposals: Sequence[Proposal]) -> list[Chosen]:
    """All of them as they were proposed."""
    return [Chosen(row, one, one.text, new_uid(suggestion, row)) for row, one in enumerate(proposals)]


def _is_about(finding: Finding, one: Chosen, after: TaskSpec) -> bool:
    field = one.proposal.field
    if field == "initial_request" and finding.rule in LEAKS:
        return True
    if finding.field != field or (finding.rule in LATER and not one.proposal.uid):
        return False
    return finding.item == (number_of(after, field, one.new_uid) or number_of(after, field, one.proposal.uid))


def _told(finding: Finding) -> dict[str, Any]:
    told = {name: getattr(finding, name) for name in TOLD}
    if finding.rule in LEAKS and finding.item:
        told["message"] = f"Intent {finding.item}: {finding.message}"
    return told

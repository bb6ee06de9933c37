"""What the checks say of a suggestion before anybody takes it: the same rules, on the task as it would be then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.assistance.proposals import Chosen, Proposal, new_uid, number_of, put_in
from studio.domain.findings import Finding
from studio.domain.task import TaskSpec
from studio.models import Task
from studio.tasks.checks import check_unsaved

LEAKS = {"intent-in-request"}
"""Checks that stand beside an intent and are about the request."""
LATER = {"intent-unscored"}
"""What is always said of a new row, until others are written for it."""
SEVERITIES = ("error", "warning", "hint")
TOLD = ("rule", "severity", "message", "mend", "words")


def check_rows(
    task: Task, spec: TaskSpec, proposals: Sequence[Proposal], *, kind: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """Findings by the place of the row they are about, if all of them were taken; under ``""`` what is about all of
    them. What a request gives away stands as it is in whatever language: of a translation it is said once."""
    if not proposals or any(one.degree for one in proposals):  # what is given away proposes no words of its own
        return {}
    chosen = as_chosen(0, proposals)
    after = put_in(spec, chosen)
    found = check_unsaved(task, after, texts={})
    told = {}
    if kind == "translate":
        leaks = [each for each in found if each.rule in LEAKS and any(_is_about(each, one, after) for one in chosen)]
        found = [each for each in found if each not in leaks]
        told[""] = _in_one(leaks)
    told |= {str(one.row): [_told(each) for each in found if _is_about(each, one, after)] for one in chosen}
    return {row: findings for row, findings in told.items() if findings}


def _in_one(leaks: Sequence[Finding]) -> list[dict[str, Any]]:
    """Several findings of one rule about different intents, as one."""
    if len(leaks) < 2:
        return [_told(each) for each in leaks]
    numbers = [str(each.item) for each in leaks]
    worst = min(leaks, key=lambda each: SEVERITIES.index(each.severity))
    message = f"The request gives something away about intents {', '.join(numbers[:-1])} and {numbers[-1]}."
    return [_told(worst) | {"message": message, "mend": "Take it out of the request, in both languages.", "words": ""}]


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

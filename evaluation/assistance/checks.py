"""Findings of a proposal: the checks of a task, run as if the proposal had been accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluation.assistance.proposals import AcceptedChange, ProposedChange, apply_changes, row_number, uid_of_new_row
from studio.domain.findings import Finding
from studio.domain.task import TaskSpec
from studio.models import Task
from studio.tasks.checks import check_unsaved

LEAK_RULES = {"intent-in-request"}
"""Their findings are attached to an intent but are about the request."""
NEW_ROW_RULES = {"intent-unscored"}
"""They always fire for a new row until other rows refer to it."""
SEVERITIES = ("error", "warning", "hint")
FINDING_FIELDS = ("rule", "severity", "message", "fix", "passage")


def check_rows(
    task: Task, spec: TaskSpec, changes: Sequence[ProposedChange], *, kind: str = ""
) -> dict[str, list[dict[str, Any]]]:
    """Findings by 0-based row as a string, if all rows were accepted; those about all rows under ``""``.

    A request that leaks does so in any language, so a translation reports leaks once, under ``""``.
    """
    if not changes or any(change.degree for change in changes):  # leaks propose no text
        return {}
    accepted = accept_all(0, changes)
    after = apply_changes(spec, accepted)
    findings = check_unsaved(task, after, texts={})
    by_row = {}
    if kind == "translate":
        leaks = [
            finding
            for finding in findings
            if finding.rule in LEAK_RULES and any(_is_about(finding, each, after) for each in accepted)
        ]
        findings = [finding for finding in findings if finding not in leaks]
        by_row[""] = _merged(leaks)
    by_row |= {
        str(each.row): [_to_json(finding) for finding in findings if _is_about(finding, each, after)]
        for each in accepted
    }
    return {row: found for row, found in by_row.items() if found}


def accept_all(proposal: int, changes: Sequence[ProposedChange]) -> list[AcceptedChange]:
    return [
        AcceptedChange(row, change, change.text, uid_of_new_row(proposal, row)) for row, change in enumerate(changes)
    ]


def _merged(leaks: Sequence[Finding]) -> list[dict[str, Any]]:
    if len(leaks) < 2:
        return [_to_json(finding) for finding in leaks]
    numbers = [str(finding.item) for finding in leaks]
    worst = min(leaks, key=lambda finding: SEVERITIES.index(finding.severity))
    message = f"The request gives something away about intents {', '.join(numbers[:-1])} and {numbers[-1]}."
    return [
        _to_json(worst) | {"message": message, "fix": "Take it out of the request, in both languages.", "passage": ""}
    ]


def _is_about(finding: Finding, accepted: AcceptedChange, after: TaskSpec) -> bool:
    field, uid = accepted.change.field, accepted.change.uid
    if field == "initial_request" and finding.rule in LEAK_RULES:
        return True
    if finding.field != field or (finding.rule in NEW_ROW_RULES and not uid):
        return False
    return finding.item == (row_number(after, field, accepted.new_uid) or row_number(after, field, uid))


def _to_json(finding: Finding) -> dict[str, Any]:
    document = {name: getattr(finding, name) for name in FINDING_FIELDS}
    if finding.rule in LEAK_RULES and finding.item:
        document["message"] = f"Intent {finding.item}: {finding.message}"
    return document

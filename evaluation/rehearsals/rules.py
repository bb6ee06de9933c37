"""The rules of a task decided on a rehearsal, as on an agent's session (strict scoring)."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.grading.rule import FINAL_ONLY, RuleError, RuleEvidence, check_rule
from evaluation.models import Rehearsal
from evaluation.protocol.participants import ToolRecord
from evaluation.rehearsals.graders import outcomes_of
from evaluation.rehearsals.turns import call_of, graded_turns
from evaluation.workspaces.manifests import manifest_reader
from studio.domain.task import TaskSpec
from studio.models import Blob


@dataclass(frozen=True)
class RuleOutcome:
    criterion: str
    met: bool | None
    """None: the rule is incomplete, or its script failed."""
    reason: str


def rule_outcomes(row: Rehearsal, task: TaskSpec) -> tuple[RuleOutcome, ...]:
    """Those of the checklist, after the finished turns; none before the first."""
    items = [(item.criterion, item.rule) for item in task.checklist if item.grader == "rule" and item.rule is not None]
    rules = [rule for _, rule in items]
    turns: list[RuleEvidence] = []
    made: list[ToolRecord] = []
    for turn in graded_turns(row):
        made += map(call_of, turn["reply"]["calls"])
        read = manifest_reader(turn["manifest"], Blob.objects.read)
        turns.append(RuleEvidence(turn["reply"]["text"], tuple(made), read, tuple(made), rules))
    if not turns:
        return ()
    outcomes = []
    for criterion, rule in items:
        try:
            results = [check_rule(rule, seen) for seen in (turns[-1:] if rule.kind in FINAL_ONLY else turns)]
        except RuleError as error:
            outcomes.append(RuleOutcome(criterion, None, str(error)))
            continue
        result = next((result for result in results if result.met), results[-1])
        outcomes.append(RuleOutcome(criterion, result.met, result.reason))
    return tuple(outcomes)


def script_outcomes(row: Rehearsal) -> tuple[RuleOutcome, ...]:
    """Those of the grader script's keys, once it ran."""
    keys = (outcomes_of(row) or {}).get("keys", {})
    said = {True: "The script gave 1.", False: "The script gave 0 in every turn.", None: "The script failed."}
    return tuple(RuleOutcome(f"[tools] {key}", met, said[met]) for key, met in keys.items())

"""Judging the checklist of a session in a scoring mode.

The paper protocol judges criteria on the state at the end of the session; rules, which cost nothing, are checked after
each turn too, so that what was undone is seen. Under the release, strict grades each turn with the files as they were
then, and skips items met in an earlier turn; compat grades every turn with the files as they are at the end of the
episode, as the public code does. Decisions come turn by turn, so that interrupted grading resumes with what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluation.grading.credit import Credit, default_rules
from evaluation.grading.decided import Decided, Known, judged
from evaluation.grading.evidence import GraderScriptSource, TurnEvidence, run_script
from evaluation.grading.items import GradedItem, completeness, items_of
from evaluation.grading.judges import ModelChecklistJudge
from evaluation.grading.rule import FINAL_ONLY, RuleError, RuleEvidence, check_rule
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from studio.domain.task import ExactCheck, TaskSpec


@dataclass(frozen=True)
class Checklist:
    """What is graded, and on what."""

    task: TaskSpec
    script: GraderScriptSource
    turns: Sequence[TurnEvidence]
    """In compat, all conversations of the run must be over."""
    mode: ScoringMode
    protocol: ProtocolName
    every_turn: bool = False
    """Whether every item is judged in each turn, in strict under the release also after it was met."""

    @property
    def on_work(self) -> bool:
        """Whether judges see all of the work, and grader scripts find the workspace."""
        return self.protocol == ProtocolName.PAPER

    @property
    def items(self) -> tuple[GradedItem, ...]:
        return items_of(self.task, self.script.keys)


@dataclass(frozen=True)
class SessionGrade:
    items: tuple[tuple[GradedItem, Credit], ...]
    comp: float | None
    ungraded: int


def decide_checklist(checklist: Checklist, judge: ModelChecklistJudge | None, known: Known) -> Iterator[list[Decided]]:
    """Decide what is not known yet: the items of each turn, then the keys of the grader script over all of them. Each
    list is to be stored before the next is asked for. ``judge``: without one, rubric criteria stay undecided. Raises
    InfrastructureError.
    """
    met: dict[int, dict[int, bool | None]] = defaultdict(dict)
    for (_, turn, index), value in known.items():
        met[index][turn] = value
    for evidence in checklist.turns:
        due = [item for item in checklist.items if _is_due(checklist, item, evidence, met[item.index])]
        if decided := [*_judge_rubric(checklist, judge, evidence, due), *_check_rules(checklist, evidence, due)]:
            for each in decided:
                met[each.index][each.turn] = each.met
            yield decided
    keyed = [item for item in checklist.items if item.script]
    last = checklist.turns[-1].number if checklist.turns else 0
    if last and any(last not in met[item.index] for item in keyed):
        decided = _run_script(checklist, keyed)
        yield [each for each in decided if each.turn not in met[each.index]]


def _is_due(checklist: Checklist, item: GradedItem, evidence: TurnEvidence, met: Mapping[int, bool | None]) -> bool:
    if evidence.number in met:
        return False
    if checklist.every_turn:
        return True
    if checklist.on_work:
        return item.grader == "rule" or evidence is checklist.turns[-1]
    return checklist.mode == ScoringMode.COMPAT or True not in met.values()


def grade(checklist: Checklist, known: Known) -> SessionGrade:
    by_item: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    for (_, turn, index), met in sorted(known.items(), key=lambda row: row[0][1]):
        by_item[index].append((turn, met))
    rule = default_rules(checklist.protocol)[checklist.mode]
    graded = tuple((item, rule.credit([by_item[item.index]])) for item in checklist.items)
    comp = completeness([(item.weight, credit.value) for item, credit in graded])
    return SessionGrade(graded, comp, sum(credit.value is None for _, credit in graded))


def _judge_rubric(
    checklist: Checklist, judge: ModelChecklistJudge | None, evidence: TurnEvidence, due: Sequence[GradedItem]
) -> Iterator[Decided]:
    rubric = [item for item in due if item.grader == "rubric"]
    if rubric and judge is not None:
        criteria = [(item.index, item.criterion) for item in rubric]
        decisions, call = judge(checklist.task, evidence, checklist.mode, criteria)
        for item, decision in zip(rubric, decisions, strict=True):
            label = "" if item.uid else item.criterion
            yield judged(("checklist", evidence.number, item.index), decision, call, uid=item.uid, label=label)


def _check_rules(checklist: Checklist, evidence: TurnEvidence, due: Sequence[GradedItem]) -> Iterator[Decided]:
    rules = [item.rule for item in checklist.items if item.rule is not None]
    last = evidence is checklist.turns[-1]
    for item in due:
        final_only = item.rule is not None and item.rule.kind in FINAL_ONLY
        if item.grader == "rule" and not item.script and (last or not final_only):
            reply = "\n".join(evidence.replies) if checklist.on_work else evidence.reply
            yield _check_rule(item, evidence, reply, rules)


def _check_rule(item: GradedItem, evidence: TurnEvidence, reply: str, rules: Sequence[ExactCheck]) -> Decided:
    decided = _by_rule(item, evidence.number)
    if item.rule is None:
        return replace(decided, error="The item should be checked by a rule but has none.")
    seen = RuleEvidence(reply, evidence.calls, evidence.read, evidence.made, rules)
    try:
        result = check_rule(item.rule, seen)
    except RuleError as error:
        return replace(decided, error=str(error))
    return replace(decided, met=result.met, quote=result.quote, reason=result.reason, supported=bool(result.quote))


def _run_script(checklist: Checklist, keyed: Sequence[GradedItem]) -> list[Decided]:
    """Run the grader script over all turns in one sandbox.

    If a call raises, every key is 0 in compat, as in the format, and the turn is ungraded in strict. If a call had to
    be stopped, the turn is ungraded in both.
    """
    script = checklist.script
    if script.keys is None:
        return [replace(_by_rule(keyed[0], checklist.turns[-1].number), error=script.problem)]
    decided = []
    results = run_script(script, checklist.turns, with_files=checklist.on_work)
    for turn, result in zip(checklist.turns, results, strict=True):
        unknown = result.broken or (result.problem and checklist.mode == ScoringMode.STRICT)
        for item in keyed:
            value = result.values[item.key]
            met, reason = (None, "") if unknown else (bool(value), f"The script gave {int(value)}.")
            decided.append(replace(_by_rule(item, turn.number), met=met, reason=reason, error=result.problem))
    return decided


def _by_rule(item: GradedItem, turn: int) -> Decided:
    """Ungraded, so far."""
    return Decided("checklist", turn, item.index, "rule", None, uid=item.uid, label="" if item.uid else item.criterion)

"""What came of each intent and criterion in each session, as the rounds that score the pilots decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evaluation.grading.credit import CreditRule, TurnValues
from evaluation.grading.intents import IntentStatus
from evaluation.judging.judgings import rules_of, scoring_choices
from evaluation.metrics.items import ItemDecision, ItemKey
from evaluation.metrics.sessions import SessionRow
from evaluation.models import Pilot, Session, SessionIntent, Verdict
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.results.pilot_report import load_pilot
from evaluation.results.session_rows import TaskFacts, facts_of_tasks, judged_anew, with_origins


@dataclass(frozen=True)
class CriterionValues:
    """The decisions on one criterion in one session."""

    index: int
    label: str
    samples: Sequence[TurnValues]


Criteria = Mapping[int, Sequence[CriterionValues]]


@dataclass(frozen=True)
class Decisions:
    """Of the pilots' finished sessions."""

    rows: Mapping[int, SessionRow]
    """By session."""
    revisions: Mapping[int, int]
    tasks: Mapping[int, TaskFacts]
    """By revision."""
    statuses: Mapping[int, Mapping[int, IntentStatus]]
    """By session and the intent's index; open intents have none."""
    rounds: Mapping[int, int]
    """That score, by pilot."""
    rules: Mapping[int, Mapping[ScoringMode, CreditRule]]
    """By pilot."""

    def task(self, session: int) -> TaskFacts:
        return self.tasks[self.revisions[session]]

    def uid(self, session: int, criterion: CriterionValues) -> str:
        """Its own, or its key in the grader script."""
        criteria = self.task(session).criteria
        return criteria[criterion.index - 1][0] if criterion.index <= len(criteria) else criterion.label

    def weight(self, session: int, criterion: CriterionValues) -> float:
        criteria = self.task(session).criteria
        return criteria[criterion.index - 1][1] if criterion.index <= len(criteria) else 1.0

    def rule(self, session: int, mode: ScoringMode) -> CreditRule:
        return self.rules[self.rows[session].run[0]][mode]

    def intent_decisions(self) -> list[ItemDecision]:
        """Whether each intent was covered; those provided from the start were not to be found out."""
        return [
            ItemDecision(
                key,
                row.agent,
                ItemKey(row.persona, row.result.task_id, "intent", intent.uid),
                (status := self.statuses[key].get(index)) is not None and status.status in COVERED,
            )
            for key, row in self.rows.items()
            for index, intent in enumerate(self.task(key).hidden, start=1)
            if not intent.provided
        ]

    def criterion_decisions(self, criteria: Criteria, mode: ScoringMode) -> list[ItemDecision]:
        """Whether each criterion was met; ungraded ones are left out."""
        decisions = []
        for key, row in self.rows.items():
            rule = self.rule(key, mode)
            for values in criteria.get(key, ()):
                met = rule.credit(values.samples).value
                if met is not None:
                    item = ItemKey(row.persona, row.result.task_id, "criterion", self.uid(key, values))
                    decisions.append(ItemDecision(key, row.agent, item, met))
        return decisions


def load_decisions(pilots: Sequence[Pilot], rows: Sequence[SessionRow]) -> Decisions:
    """In a few queries. ``rows`` are sessions of the pilots."""
    pilots = with_origins(pilots)
    finished = {row.key: row for row in rows if row.result.outcome == "finished"}
    revisions = dict(Session.objects.filter(run__pilot__in=pilots).values_list("pk", "revision"))
    tasks = facts_of_tasks({revisions[key] for key in finished})
    choices = scoring_choices(pilots)
    return Decisions(
        finished,
        revisions,
        tasks,
        defaultdict(dict, load_statuses(pilots)),
        {pilot: choice.round_id for pilot, choice in choices.items()},
        {pilot: rules_of(choice) for pilot, choice in choices.items()},
    )


def load_statuses(pilots: Sequence[Pilot]) -> dict[int, dict[int, IntentStatus]]:
    """By session and index. As the conversations recorded them, unless another round scores or people corrected."""
    anew = judged_anew(pilots)
    statuses: dict[int, dict[int, IntentStatus]] = defaultdict(dict)
    recorded = SessionIntent.objects.filter(session__run__pilot__in=[row for row in pilots if row.pk not in anew])
    for session, index, status, turn in recorded.order_by().values_list("session", "index", "status", "turn"):
        statuses[session][index] = IntentStatus(status, turn)
    for pilot in pilots:
        if pilot.pk in anew:
            for session, judged in load_pilot(pilot).judged.items():
                statuses[session] = dict(judged.statuses)
    return statuses


def load_criteria(rounds: Collection[int], mode: ScoringMode) -> dict[int, list[CriterionValues]]:
    """By session, in the order of the task."""
    rows = Verdict.objects.filter(
        judging__round__in=rounds, judging__scoring=mode.value, kind=Verdict.Kind.CHECKLIST
    ).order_by("judging__session", "index", "judging__sample", "turn")
    found: dict[tuple[int, int], tuple[str, dict[int, list[tuple[int, bool | None]]]]] = {}
    for session, index, sample, turn, label, met in rows.decisions(
        "judging__session", "index", "judging__sample", "turn", "label"
    ):
        if (session, index) not in found:
            found[session, index] = (label, defaultdict(list))
        found[session, index][1][sample].append((turn, met))
    criteria: dict[int, list[CriterionValues]] = defaultdict(list)
    for (session, index), (label, samples) in found.items():
        criteria[session].append(CriterionValues(index, label, list(samples.values())))
    return criteria

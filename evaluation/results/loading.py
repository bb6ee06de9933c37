"""Pilots with what their rounds decided, session by session: what every figure is made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Prefetch

from evaluation.grading.credit import CreditRule
from evaluation.grading.items import GradedItem, items_of
from evaluation.judging.judged import JudgedSession, comp_of, load_judged, ungraded_items
from evaluation.judging.judgings import Rules, rules_of, scoring_choice
from evaluation.metrics.labels import labels_of
from evaluation.metrics.scores import Outcome, TaskResult, task_result
from evaluation.metrics.sessions import SessionRow
from evaluation.models import JudgingRound, Pilot, Session
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import may_be_ranked
from studio.domain.task import TaskSpec
from studio.models import PersonaRevision, Revision

State = Session.State
_SHARED = (
    Prefetch("run__persona_revision", PersonaRevision.objects.select_related("persona").defer("spec")),
    Prefetch("run__pilot", Pilot.objects.defer("scores")),
)
"""Of a pilot's sessions: each is one object for all of them, where a join would make as many as there are sessions."""


@dataclass(frozen=True)
class JudgedPilot:
    """All sessions of a pilot, with what one round decided of them; those taken over, with what scores them there."""

    pilot: Pilot
    rounds: Sequence[JudgingRound]
    """The one that decided, then those of the pilots from which sessions were taken over."""
    rules: Rules
    sessions: list[Session]
    specs: Mapping[int, TaskSpec]
    """By revision."""
    judged: Mapping[int, JudgedSession]
    """By session; so is ``results``."""
    results: Mapping[int, TaskResult]

    def task(self, session: Session) -> TaskSpec:
        return self.specs[session.revision_id]

    def ungraded(self, session: Session) -> int:
        return ungraded_items(session, self.task(session), self.judged[session.pk], self.rules)

    def rows(self, agent: str) -> list[SessionRow]:
        """Of the sessions, in their order."""
        labels = {revision: labels_of(task) for revision, task in self.specs.items()}
        return [
            SessionRow(
                key=session.pk,
                agent=agent,
                persona=session.run.persona_revision.persona.user_id,
                run=(self.pilot.pk, session.run.number),
                result=self.results[session.pk],
                labels=labels[session.revision_id],
                statuses=Counter(status.status for status in self.judged[session.pk].statuses.values()),
                turns=session.turn_count,
                tokens=session.total_tokens,
                cost=float(session.cost),
                unpriced=session.unpriced,
            )
            for session in self.sessions
        ]


@dataclass(frozen=True)
class DecidedSession:
    """A finished session, with what came of its intents and criteria."""

    row: SessionRow
    revision: int
    task: TaskSpec
    judged: JudgedSession
    rules: Rules

    def criteria(self, mode: ScoringMode, rule: CreditRule | None = None) -> list[tuple[GradedItem, bool | None]]:
        """Those that a judging decided, and whether they were met; None: ungraded."""
        rules = {**self.rules, mode: rule} if rule else self.rules
        return [
            (item, self.judged.credit(mode, item.index, rules).value)
            for item in items_of(self.task, self.judged.keys)
            if (mode, item.index) in self.judged.items
        ]


def load_pilot(pilot: Pilot, judging_round: JudgingRound | None = None, rules: Rules | None = None) -> JudgedPilot:
    """By the chosen round and rules, or as if these were. In a few queries regardless of the number of sessions."""
    choice = scoring_choice(pilot)
    judging_round, rules = judging_round or choice.round, rules or rules_of(choice)
    sessions = list(
        Session.objects.of(pilot)
        .prefetch_related(*_SHARED)
        .order_by(
            "run__persona_revision__persona__position",
            "run__persona_revision__persona",
            "run__number",
            "position",
            "run__arm",
            "pk",  # a session that was taken over may stand where one of its own does
        )
    )
    stored = Revision.objects.filter(pk__in={session.revision_id for session in sessions}).order_by()
    specs = {pk: TaskSpec.model_validate(spec) for pk, spec in stored.values_list("pk", "spec")}
    judged = load_judged(judging_round, [row for row in sessions if row.run.pilot_id == pilot.pk])
    rounds = [judging_round]
    for other, taken in _taken_over(pilot, sessions).items():
        rounds.append(scoring_choice(other).round)
        judged |= load_judged(rounds[-1], taken)
    results = {row.pk: _result(row, specs[row.revision_id], judged[row.pk], rules) for row in sessions}
    return JudgedPilot(pilot, rounds, rules, sessions, specs, judged, results)


def _taken_over(pilot: Pilot, sessions: Sequence[Session]) -> dict[Pilot, list[Session]]:
    taken: dict[Pilot, list[Session]] = defaultdict(list)
    for session in sessions:
        if session.run.pilot_id != pilot.pk:
            taken[session.pilot].append(session)
    return taken


def _result(session: Session, task: TaskSpec, judged: JudgedSession, rules: Rules) -> TaskResult:
    statuses = (status.status for status in judged.statuses.values())
    comp = comp_of(session, task, judged, rules)
    return task_result(task, _outcome(session), statuses, comp, blocked=bool(session.blocked))


def _outcome(session: Session) -> Outcome:
    """A finished conversation counts even before it is graded."""
    if session.state == State.FAILED:
        return "failed"
    return "finished" if session.ended_at else "missing"


def agent_names(pilots: Collection[Pilot]) -> dict[int, str]:
    """By pilot: its agent's name; where one name stood for several models, the model as well; the mode, unless it ran
    whole episodes; who submitted it, if it came from outside; and where pilots ran under different terms, these:
    results of different ones are never one line."""
    frozen = {pilot.pk: (pilot.agent_name, pilot.endpoint("agent").model) for pilot in pilots}
    models: dict[str, set[str]] = defaultdict(set)
    for name, model in frozen.values():
        models[name].add(model)
    modes = {pilot.pk: "" if pilot.mode == PilotMode.EPISODE else f" · {pilot.mode}" for pilot in pilots}
    came = {pilot.pk: f" · {row}" for pilot in pilots if (row := getattr(pilot, "submission", None))}
    terms = {} if may_be_ranked(pilot.terms for pilot in pilots) else {row.pk: _terms(row, pilots) for row in pilots}
    return {
        pk: (name if len(models[name]) == 1 else f"{name} ({model})") + modes[pk] + came.get(pk, "") + terms.get(pk, "")
        for pk, (name, model) in frozen.items()
    }


def _terms(pilot: Pilot, among: Collection[Pilot]) -> str:
    loops = {other.agent_loop for other in among if other.protocol == pilot.protocol}
    return f" · {pilot.protocol}" + (f", loop {pilot.agent_loop}" if len(loops) > 1 else "")

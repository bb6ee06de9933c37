"""Results of a pilot, for commands, the API and pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Prefetch

from evaluation.judging.judged import JudgedSession, comp_of, load_judged, session_items, ungraded_items
from evaluation.judging.judgings import Rules, rules_of, rules_to_json, scoring_choice
from evaluation.metrics.ablation import AblatedSession, ablation_json
from evaluation.metrics.scores import Outcome, Score, TaskResult, benchmark_score, mean, persona_score, proc, spread
from evaluation.metrics.sessions import METRICS
from evaluation.models import JudgingRound, ModelCall, Pilot, Session, Turn
from evaluation.models.sessions import PARTS
from evaluation.protocol.modes import Arm, PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.session import COVERED
from evaluation.protocol.voice import UserStyle
from evaluation.results.model_answers import model_answers
from evaluation.results.tool_servers import frozen_servers
from evaluation.store.usage import Use, as_ran, use_by_part
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
    round: JudgingRound
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
        )
    )
    stored = Revision.objects.filter(pk__in={session.revision_id for session in sessions}).order_by()
    specs = {pk: TaskSpec.model_validate(spec) for pk, spec in stored.values_list("pk", "spec")}
    judged = load_judged(judging_round, [row for row in sessions if row.run.pilot_id == pilot.pk])
    for other, taken in _taken_over(pilot, sessions).items():
        judged |= load_judged(scoring_choice(other).round, taken)
    results = {row.pk: task_result(row, specs[row.revision_id], judged[row.pk], rules) for row in sessions}
    return JudgedPilot(pilot, judging_round, rules, sessions, specs, judged, results)


def _taken_over(pilot: Pilot, sessions: Iterable[Session]) -> dict[Pilot, list[Session]]:
    taken: dict[Pilot, list[Session]] = defaultdict(list)
    for session in sessions:
        if session.run.pilot_id != pilot.pk:
            taken[session.pilot].append(session)
    return taken


def task_result(session: Session, task: TaskSpec, judged: JudgedSession, rules: Rules) -> TaskResult:
    return TaskResult(
        task_id=task.task_id,
        outcome=outcome_of(session.state, has_ended=session.ended_at is not None),
        intents=len(task.intents),
        covered=sum(status.status in COVERED for status in judged.statuses.values()),
        comp=comp_of(session, task, judged, rules),
        setup=task.is_setup,
        depends_on=tuple(dependency.task_id for dependency in task.depends_on),
        blocked=bool(session.blocked),
    )


def outcome_of(state: str, *, has_ended: bool) -> Outcome:
    """A finished conversation counts even before it is graded."""
    if state == State.FAILED:
        return "failed"
    return "finished" if has_ended else "missing"


def pilot_report(pilot: Pilot) -> dict[str, Any]:
    loaded = load_pilot(pilot)
    calls = ModelCall.objects.filter(session__run__pilot=pilot)
    by_run: dict[Any, dict[str, TaskResult]] = defaultdict(dict)
    for session in loaded.sessions:
        by_run[_run_key(session)][loaded.results[session.pk].task_id] = loaded.results[session.pk]
    return {
        "pilot": pilot.pk,
        "number": pilot.number,
        "benchmark": pilot.benchmark.slug,
        "agent": pilot.agent_name,
        "kind": pilot.agent_kind.kind,
        "mode": pilot.mode,
        "protocol": pilot.protocol,
        "agent_loop": pilot.agent_loop,
        "base": pilot.base.number if pilot.base else None,
        "tool_servers": frozen_servers(pilot),
        "state": pilot.state,
        "scripted": pilot.scripted,
        "drafts": pilot.drafts,
        "agent_judges_itself": pilot.agent_judges_itself,
        "user_style": pilot.user_style,
        "said_verbatim": answers_said_verbatim(pilot),
        "judging": judging_json(loaded.round, loaded.rules),
        "sessions": [_session(loaded, session, by_run[_run_key(session)]) for session in loaded.sessions],
        "scores": scores_json(loaded),
        "use": {part: _use(use) for part, use in use_by_part(as_ran(calls)).items()},
    }


def _use(use: Use) -> dict[str, Any]:
    tokens = use.tokens
    told = {"prompt": tokens.prompt, "cached": tokens.cached, "completion": tokens.completion}
    return {"calls": use.calls, **told, "cost": str(use.cost), "unpriced": use.unpriced}


def ablation_rows(scores: Mapping[str, Any] | None) -> list[tuple[str, list[tuple[str, Any]]]]:
    """By scoring mode and metric, in the order of other tables; what is stored as JSON has none."""
    pairs = (scores or {}).get("ablation", {})
    modes = [mode for mode in ScoringMode if mode in pairs]
    return [(mode.value, [(name, pairs[mode][name]) for name in METRICS]) for mode in modes]


def answers_said_verbatim(pilot: Pilot) -> int:
    """Of a user who speaks in the persona's voice: answers of which no phrasing held."""
    return Turn.objects.filter(session__run__pilot=pilot, next_style=UserStyle.VERBATIM).count()


def _run_key(session: Session) -> tuple[int, int, str]:
    """Chains of one run count together, the arms of an ablation apart."""
    return session.run.persona_revision.persona_id, session.run.number, session.run.arm


def judging_json(judging_round: JudgingRound, rules: Rules) -> dict[str, Any]:
    """What scores: judge, prompts, samples and credit rules."""
    judge = {key: judging_round.judge.get(key) for key in ("name", "model", "effort", "params")}
    return {
        "round": judging_round.number,
        "purpose": judging_round.purpose,
        "protocol": judging_round.protocol,
        "judge": judge,
        "prompts": judging_round.prompts,
        "samples": judging_round.samples,
        "rules": rules_to_json(rules),
    }


def _session(loaded: JudgedPilot, session: Session, run: Mapping[str, TaskResult]) -> dict[str, Any]:
    task, result, judged = loaded.task(session), loaded.results[session.pk], loaded.judged[session.pk]
    items = session_items(task, session.state, judged, loaded.rules)
    comp = comp_of(session, task, judged, loaded.rules)
    resolved = judged.statuses
    said = session.pilot.said_in_request(session.run.persona_revision.persona.user_id, task.task_id)
    failed = session.state == State.FAILED
    value, modes = proc(result, run, ScoringMode.STRICT), loaded.pilot.terms.modes
    return {
        "session": session.pk,
        "persona": session.run.persona_revision.persona.user_id,
        "task": task.task_id,
        "run": session.run.number,
        "arm": session.run.arm,
        "taken_from": session.pilot.number if session.run.pilot_id != loaded.pilot.pk else None,
        "state": session.state,
        "reason": session.reason,
        "blocked": session.blocked,
        "setup": task.is_setup,
        "turns": session.turn_count,
        "intents": [
            {
                "index": index,
                "status": resolved[index].status if index in resolved else "open",
                "turn": (resolved[index].turn or None) if index in resolved else None,
                "in_request": index in said,
            }
            for index in range(1, len(task.intents) + 1)
        ],
        "items": [
            {
                "index": item.index,
                "grader": item.grader,
                **{mode.value: graded[mode].value for mode in modes},
                "turn": graded[ScoringMode.STRICT].turn or graded[ScoringMode.COMPAT].turn,
                "regressed": graded[ScoringMode.STRICT].regressed,
            }
            for item, graded in items
        ],
        "ungraded": loaded.ungraded(session),
        "proc": None if task.is_setup else value,
        "comp": {mode.value: _comp_said(comp[mode], mode, failed=failed and bool(items)) for mode in modes},
        "tokens": session.tokens,
        "judge_tokens": {mode: getattr(session, f"{mode}_tokens") for mode in modes},
    }


def _comp_said(value: float | None, mode: ScoringMode, *, failed: bool) -> float | None:
    """Of a session that the agent failed: 0 in strict, left out in compat."""
    if failed:
        return 0.0 if mode == ScoringMode.STRICT else None
    return value


def scores_json(loaded: JudgedPilot) -> dict[str, Any]:
    """By scoring mode: the mean over personas per run, then mean and deviation over runs."""
    sessions, results = [row for row in loaded.sessions if row.run.arm != Arm.WITHOUT], loaded.results
    tasks: dict[str, dict[int, list[TaskResult]]] = defaultdict(lambda: defaultdict(list))
    for session in sessions:
        tasks[session.run.persona_revision.persona.user_id][session.run.number].append(results[session.pk])
    numbers = sorted({session.run.number for session in sessions})
    scores: dict[str, Any] = {}
    personas: dict[str, dict[str, Any]] = {user: {} for user in tasks}
    modes = loaded.pilot.terms.modes
    for mode in modes:
        by_persona = {user: {k: persona_score(runs[k], mode) for k in numbers} for user, runs in tasks.items()}
        scores[mode] = _over_runs({k: benchmark_score(scored[k] for scored in by_persona.values()) for k in numbers})
        for user, scored in by_persona.items():
            personas[user][mode] = _over_runs(scored)
    if loaded.pilot.mode == PilotMode.ABLATION:
        ablated = (
            AblatedSession(
                row.pk,
                row.run.persona_revision.persona.user_id,
                row.run.number,
                row.run.arm != Arm.WITHOUT,
                results[row.pk],
            )
            for row in loaded.sessions
        )
        scores["ablation"] = ablation_json(ablated, modes)
    own = [row for row in loaded.sessions if row.run.pilot_id == loaded.pilot.pk]
    return scores | {
        "mode": loaded.pilot.mode,
        "protocol": loaded.pilot.protocol,
        "agent_loop": loaded.pilot.agent_loop,
        "personas": personas,
        "runs": len(numbers),
        "ungraded": sum(loaded.ungraded(session) for session in sessions),
        "judge_tokens": {mode: sum(getattr(row, f"{mode}_tokens") for row in own) for mode in modes},
        "tokens": {part: sum(row.tokens[part] for row in own) for part in PARTS},
        "cost": str(sum((session.cost for session in own), start=0)),
        "model": asdict(model_answers(session.pk for session in own)),
        "scripted": loaded.pilot.scripted,
    }


def _over_runs(scores: Mapping[int, Score]) -> dict[str, Any]:
    """``n``, ``failed``, ``missing`` and ``blocked`` count scored sessions over all runs."""
    rows = list(scores.values())
    return {
        "proc": mean(row.proc for row in rows),
        "proc_std": spread(row.proc for row in rows),
        "comp": mean(row.comp for row in rows),
        "comp_std": spread(row.comp for row in rows),
        "n": sum(row.n for row in rows),
        "failed": sum(row.failed for row in rows),
        "missing": sum(row.missing for row in rows),
        "blocked": sum(row.blocked for row in rows),
        "runs": [{"run": number, **asdict(score)} for number, score in scores.items()],
    }

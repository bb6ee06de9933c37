"""Results of a pilot, for commands, the API and pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluation.grading.items import GradedItem, ItemGrade, grade_over_turns, items_of
from evaluation.metrics.scores import Outcome, Score, TaskResult, benchmark_score, mean, persona_score, proc, spread
from evaluation.models import Pilot, Session, Verdict
from evaluation.protocol.scoring import ScoringMode
from studio.domain.task import TaskSpec

State = Session.State
Verdicts = Mapping[tuple[str, int], Sequence[tuple[int, bool | None]]]
"""Turn and value, by mode and item."""


def pilot_report(pilot: Pilot) -> dict[str, Any]:
    sessions = _sessions(pilot)
    specs = _specs(sessions)
    results = {session.pk: task_result(session, specs[session.revision_id]) for session in sessions}
    by_run = _by_run(sessions, results)
    verdicts, keys = _verdicts(pilot)
    return {
        "pilot": pilot.pk,
        "number": pilot.number,
        "benchmark": pilot.benchmark.slug,
        "agent": pilot.agent_name,
        "state": pilot.state,
        "scripted": pilot.scripted,
        "drafts": pilot.drafts,
        "sessions": [
            _session(
                session,
                specs[session.revision_id],
                results[session.pk],
                by_run[session.run_id],
                verdicts[session.pk],
                keys.get(session.pk),
            )
            for session in sessions
        ],
        "scores": _scores(pilot, sessions, results),
    }


def pilot_scores(pilot: Pilot) -> dict[str, Any]:
    """Both scorings, in three queries regardless of the number of sessions."""
    sessions = _sessions(pilot)
    specs = _specs(sessions)
    return _scores(pilot, sessions, {row.pk: task_result(row, specs[row.revision_id]) for row in sessions})


def task_result(session: Session, task: TaskSpec) -> TaskResult:
    """A finished conversation counts even before it is graded."""
    outcome: Outcome = (
        "failed" if session.state == State.FAILED else "finished" if session.ended_at is not None else "missing"
    )
    return TaskResult(
        task_id=task.task_id,
        outcome=outcome,
        intents=len(task.intents),
        covered=session.covered or 0,
        comp={ScoringMode.COMPAT: session.comp_compat, ScoringMode.STRICT: session.comp_strict},
        setup=task.is_setup,
        depends_on=tuple(dependency.task_id for dependency in task.depends_on),
    )


def session_items(
    task: TaskSpec, state: str, verdicts: Verdicts, keys: Sequence[str] | None
) -> list[tuple[GradedItem, dict[ScoringMode, ItemGrade]]]:
    """Each item's value in both modes. A failed session meets nothing in strict, and is ungraded in compat."""
    graded: list[tuple[GradedItem, dict[ScoringMode, ItemGrade]]] = []
    for item in items_of(task, keys):
        values: dict[ScoringMode, ItemGrade] = {
            mode: grade_over_turns(verdicts.get((mode, item.index), ())) for mode in ScoringMode
        }
        if state == State.FAILED:
            values = {ScoringMode.COMPAT: ItemGrade(None), ScoringMode.STRICT: ItemGrade(False)}
        graded.append((item, values))
    return graded


def _sessions(pilot: Pilot) -> list[Session]:
    return list(
        Session.objects.filter(run__pilot=pilot)
        .select_related("revision", "run__persona_revision__persona")
        .prefetch_related("intents")
        .order_by("run__persona_revision__persona__position", "run__persona_revision", "run__number", "position")
    )


def _specs(sessions: Sequence[Session]) -> dict[int, TaskSpec]:
    revisions = {session.revision_id: session.revision for session in sessions}
    return {pk: TaskSpec.model_validate(revision.spec) for pk, revision in revisions.items()}


def _by_run(sessions: Sequence[Session], results: Mapping[int, TaskResult]) -> dict[int, dict[str, TaskResult]]:
    runs: dict[int, dict[str, TaskResult]] = defaultdict(dict)
    for session in sessions:
        result = results[session.pk]
        runs[session.run_id][result.task_id] = result
    return runs


def _verdicts(pilot: Pilot) -> tuple[dict[int, Verdicts], dict[int, list[str]]]:
    by_session: dict[int, Any] = defaultdict(lambda: defaultdict(list))
    labels: dict[int, dict[int, str]] = defaultdict(dict)
    rows = Verdict.objects.filter(session__run__pilot=pilot, kind=Verdict.Kind.CHECKLIST).order_by("turn", "index")
    for pk, mode, index, turn, met, label, uid in rows.values_list(
        "session", "scoring", "index", "turn", "met", "label", "uid"
    ):
        by_session[pk][mode, index].append((turn, met))
        if uid is None:
            labels[pk][index] = label.removeprefix("[tools] ")
    keys = {pk: [label for _, label in sorted(by_index.items())] for pk, by_index in labels.items()}
    return by_session, keys


def _session(
    session: Session,
    task: TaskSpec,
    result: TaskResult,
    run: Mapping[str, TaskResult],
    verdicts: Verdicts,
    keys: Sequence[str] | None,
) -> dict[str, Any]:
    items = session_items(task, session.state, verdicts, keys)
    resolved = {row.index: row for row in session.intents.all()}
    failed = session.state == State.FAILED
    value = proc(result, run, ScoringMode.STRICT)
    return {
        "session": session.pk,
        "persona": session.run.persona_revision.persona.user_id,
        "task": task.task_id,
        "run": session.run.number,
        "state": session.state,
        "reason": session.reason,
        "setup": task.is_setup,
        "turns": session.turn_count,
        "intents": [
            {
                "index": index,
                "status": resolved[index].status if index in resolved else "open",
                "turn": (resolved[index].turn or None) if index in resolved else None,
            }
            for index in range(1, len(task.intents) + 1)
        ],
        "items": [
            {
                "index": item.index,
                "grader": item.grader,
                "compat": graded[ScoringMode.COMPAT].value,
                "strict": graded[ScoringMode.STRICT].value,
                "turn": graded[ScoringMode.STRICT].turn or graded[ScoringMode.COMPAT].turn,
            }
            for item, graded in items
        ],
        "ungraded": session.ungraded,
        "proc": None if task.is_setup else value,
        "comp": {"compat": session.comp_compat, "strict": 0.0 if failed and items else session.comp_strict},
        "tokens": {part: session.tokens.get(part, 0) for part in ("agent", "user", "judge")},
        "judge_tokens": {mode: session.tokens.get(f"judge_{mode}", 0) for mode in ScoringMode},
    }


def _scores(pilot: Pilot, sessions: Sequence[Session], results: Mapping[int, TaskResult]) -> dict[str, Any]:
    """By scoring mode: the mean over personas per run, then mean and deviation over runs."""
    tasks: dict[str, dict[int, list[TaskResult]]] = defaultdict(lambda: defaultdict(list))
    for session in sessions:
        tasks[session.run.persona_revision.persona.user_id][session.run.number].append(results[session.pk])
    numbers = sorted({session.run.number for session in sessions})
    scores: dict[str, Any] = {}
    personas: dict[str, dict[str, Any]] = {user: {} for user in tasks}
    for mode in ScoringMode:
        by_persona = {user: {k: persona_score(runs[k], mode) for k in numbers} for user, runs in tasks.items()}
        scores[mode] = _over_runs({k: benchmark_score(scored[k] for scored in by_persona.values()) for k in numbers})
        for user, scored in by_persona.items():
            personas[user][mode] = _over_runs(scored)
    return scores | {
        "personas": personas,
        "runs": len(numbers),
        "ungraded": sum(session.ungraded for session in sessions),
        "judge_tokens": {
            mode: sum(session.tokens.get(f"judge_{mode}", 0) for session in sessions) for mode in ScoringMode
        },
        "tokens": {
            part: sum(session.tokens.get(part, 0) for session in sessions) for part in ("agent", "user", "judge")
        },
        "cost": str(sum((session.cost for session in sessions), start=0)),
        "scripted": pilot.scripted,
    }


def _over_runs(scores: Mapping[int, Score]) -> dict[str, Any]:
    """``n``, ``failed`` and ``missing`` count scored sessions over all runs."""
    rows = list(scores.values())
    return {
        "proc": mean(row.proc for row in rows),
        "proc_std": spread(row.proc for row in rows),
        "comp": mean(row.comp for row in rows),
        "comp_std": spread(row.comp for row in rows),
        "n": sum(row.n for row in rows),
        "failed": sum(row.failed for row in rows),
        "missing": sum(row.missing for row in rows),
        "runs": [{"run": number, **asdict(score)} for number, score in scores.items()],
    }

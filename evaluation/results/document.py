"""The results as one JSON document, for the page, the API and the command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import studio
from evaluation.judging.judgings import rules_of, scoring_choices
from evaluation.metrics.labels import LABELS
from evaluation.metrics.leaderboard import COUNTED, estimates_document, scores_document, status_counts
from evaluation.metrics.sessions import METRICS
from evaluation.models import Pilot, ScoringChoice, Session
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import UNGROUPED, Results, category_names
from evaluation.results.figures.figure import Figure
from evaluation.results.pilot_report import judging_json

SCHEMA = "pi-bench-studio/results/1"


def results_document(results: Results) -> dict[str, Any]:
    """As JSON; scores are shares between 0 and 1, None where unknown."""
    return {
        **origin(results),
        "leaderboard": [row for mode in results.modes for row in _board(results, mode)],
        "models": [{"agent": agent} | asdict(answers) for agent, answers in results.models.items()],
        "statuses": [{"agent": agent} | counts for agent, counts in status_counts(results.rows).items()],
        "categories": _breakdown(results, "category", category_names(results.benchmark)),
        "breakdowns": {label: _breakdown(results, label, {}) for label in LABELS if label != "category"},
        "sessions": _sessions(results),
    }


def figure_document(results: Results, figure: Figure, scoring: str) -> dict[str, Any]:
    return {**origin(results), "scoring": str(scoring), "figure": figure.document()}


INTERVALS = (
    "95 %; rescaled bootstrap (Rao and Wu 1988) of dependency groups with all their runs, within each persona, with "
    "Student's t"
)


def origin(results: Results) -> dict[str, Any]:
    """What the numbers come from."""
    choices = scoring_choices(results.pilots)
    tasks = _tasks(results.pilots)
    return {
        "schema": SCHEMA,
        "studio": studio.__version__,
        "benchmark": results.benchmark.slug,
        "terms": results.terms,
        "scorings": [mode.value for mode in results.modes],
        "pilots": [
            _pilot(pilot, results.agents[pilot.pk], choices[pilot.pk]) | {"tasks": tasks[pilot.pk]}
            for pilot in results.pilots
        ],
        "intervals": INTERVALS,
        "counted": COUNTED,
    }


def _tasks(pilots: Sequence[Pilot]) -> dict[int, list[dict[str, Any]]]:
    """Of each pilot: the frozen tasks it ran."""
    tasks: dict[int, list[dict[str, Any]]] = {pilot.pk: [] for pilot in pilots}
    rows = (
        Session.objects.filter(run__pilot__in=pilots)
        .order_by("run__pilot", "run__persona_revision__persona__position", "position", "revision")
        .values_list(
            "run__pilot", "run__persona_revision__persona__user_id", "revision__task__task_id", "revision__number",
            "revision__sha256", "position",
        )
        .distinct()
    )  # fmt: skip
    for pilot, persona, task, number, digest, _ in rows:
        row = {"persona": persona, "task": task, "revision": number, "sha256": digest}
        if row not in tasks[pilot][-1:]:
            tasks[pilot].append(row)
    return tasks


def _pilot(pilot: Pilot, agent: str, choice: ScoringChoice) -> dict[str, Any]:
    roles = {}
    for role in ("agent", "user_model", "judge"):
        endpoint = pilot.endpoint(role)
        roles[role] = {
            "name": endpoint.label,
            "model": endpoint.model,
            "effort": endpoint.effort,
            "learned": (pilot.config.get("learned") or {}).get(role, {}),
            "params": endpoint.params,
        }
    return {
        "number": pilot.number,
        "label": agent,
        "kind": pilot.agent_kind.kind,
        "params": dict(pilot.agent_kind.params),
        "mode": pilot.mode,
        "protocol": pilot.protocol,
        "agent_loop": pilot.agent_loop,
        "state": pilot.state,
        "scripted": pilot.scripted,
        "submitted": submitted_json(pilot),
        "drafts": pilot.drafts,
        "runs": pilot.runs_wanted,
        "limits": pilot.limits,
        "prompts": pilot.config.get("prompts"),
        "judging": judging_json(choice.round, rules_of(choice)),
        "started": pilot.created_at.isoformat(),
        "finished": pilot.finished_at.isoformat() if pilot.finished_at else None,
        **roles,
    }


def submitted_json(pilot: Pilot) -> dict[str, Any] | None:
    """Of results that came from outside."""
    row = getattr(pilot, "submission", None)
    if row is None:
        return None
    by, verified_by = (person and str(person) for person in (pilot.created_by, row.verified_by))
    return {"release": row.release.version, "by": by, "verified_by": verified_by}


def _board(results: Results, mode: ScoringMode) -> list[dict[str, Any]]:
    board = results.whole_board(mode)
    marks = {metric: results.marks_that_stand(board, metric, mode) for metric in METRICS}
    return [
        {
            "agent": agent.agent,
            "scoring": mode.value,
            **scores_document(agent),
            "scripted": agent.agent in results.scripted_agents,
            "runs": agent.runs,
            "marks": {metric: standing.get(agent.agent, "") for metric, standing in marks.items()},
        }
        for agent in board
    ]


def _breakdown(results: Results, label: str, names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            label: value or UNGROUPED,
            "name": names.get(value, value or UNGROUPED),
            "agent": agent,
            "scoring": mode.value,
            "tasks": cell.tasks,
            **estimates_document(cell.scores),
        }
        for mode in results.modes
        for value, cells in results.breakdown(label, mode).items()
        for agent, cell in cells.items()
    ]


def _sessions(results: Results) -> list[dict[str, Any]]:
    numbers = {pilot.pk: pilot.number for pilot in results.pilots}
    scored = {(item.row.run, item.row.key): item for item in results.scored}
    return [
        {
            "session": row.key,
            "pilot": numbers[row.run[0]],
            "run": row.run[1],
            "agent": row.agent,
            "persona": row.persona,
            "task": row.result.task_id,
            "outcome": row.result.outcome,
            "blocked": row.result.blocked,
            "setup": row.result.setup,
            "group": scored[row.run, row.key].group if (row.run, row.key) in scored else None,
            "weight": scored[row.run, row.key].weight if (row.run, row.key) in scored else None,
            "proc": _by_mode(results, scored[row.run, row.key].proc if (row.run, row.key) in scored else {}),
            "comp": _by_mode(results, scored[row.run, row.key].comp if (row.run, row.key) in scored else {}),
            "intents": row.result.intents,
            "covered": row.result.covered,
            "statuses": dict(row.statuses),
            "turns": row.turns,
            "tokens": row.tokens,
            "cost": row.cost,
            **row.labels,
            **{label: [value for value in row.values_of(label) if value] for label in ("tools", "tag")},
        }
        for row in results.rows
    ]


def _by_mode(results: Results, values: Mapping[ScoringMode, float | None]) -> dict[str, float | None]:
    return {mode.value: values.get(mode) for mode in results.modes}

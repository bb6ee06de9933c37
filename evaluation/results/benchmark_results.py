"""Results of a benchmark over a choice of pilots: one document for the page, the API and the command."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import studio
from evaluation.grading.judgings import rules_of, scoring_choices
from evaluation.metrics.comparison import Comparison, compare
from evaluation.metrics.leaderboard import AgentScores, Cell, breakdown, leaderboard, status_counts
from evaluation.metrics.sessions import METRICS, Metric, ScoredSession, SessionRow, score_sessions
from evaluation.models import Pilot, ScoringChoice
from evaluation.protocol.modes import PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.pilot_report import judging_json
from evaluation.results.scores import refresh_scores, score_keys
from evaluation.results.session_rows import LABELS, agent_names, session_rows
from studio.domain.bounded_cache import BoundedCache
from studio.models import Benchmark, Category

SCHEMA = "pi-bench-studio/results/1"
UNGROUPED = "none given"


def _size_of(value: object) -> int:
    """Objects take some three times as much as their pickle."""
    return 3 * len(pickle.dumps(value))


T = TypeVar("T")
_computed: BoundedCache[tuple[str, ...], Any] = BoundedCache(32_000_000, size_of=_size_of)


class ResultsError(ValueError):
    """Results that cannot be computed; the message says why and what to do."""


@dataclass(frozen=True)
class Results:
    """Everything the tables and exports show. What was computed from the same verdicts is remembered."""

    benchmark: Benchmark
    pilots: Sequence[Pilot]
    key: str
    """Of all that the pilots' scores follow from."""
    agents: Mapping[int, str]
    """By pilot."""
    rows: Sequence[SessionRow]
    scored: Sequence[ScoredSession]

    def board(self, mode: ScoringMode) -> list[AgentScores]:
        return self._once(("board", mode.value), lambda: leaderboard(self.rows, self.scored, mode))

    def breakdown(self, label: str, mode: ScoringMode) -> dict[str, dict[str, Cell]]:
        return self._once((label, mode.value), lambda: breakdown(self.scored, label, mode))

    def of_agent(self, agent: str) -> list[ScoredSession]:
        return [item for item in self.scored if item.row.agent == agent]

    def comparison(self, first: str, second: str, metric: Metric, mode: ScoringMode) -> Comparison:
        return self._once(
            ("compare", first, second, metric, mode.value),
            lambda: compare(self.of_agent(first), self.of_agent(second), metric, mode),
        )

    def comparisons(self, first: str, second: str, mode: ScoringMode) -> list[Comparison]:
        return [self.comparison(first, second, metric, mode) for metric in METRICS]

    def _once(self, part: tuple[str, ...], compute: Callable[[], T]) -> T:
        return _once((self.key, *part), compute)

    @property
    def scripted_agents(self) -> set[str]:
        return {self.agents[pilot.pk] for pilot in self.pilots if pilot.scripted}


def choose_pilots(benchmark: Benchmark, pilots: Collection[Pilot], numbers: Collection[int] = ()) -> list[Pilot]:
    """Those with the numbers. Without any: all by real models, or all if only scripted models ran; of these, those of
    whole episodes, or all if there are none. Raises ResultsError for a number that is not among ``pilots``."""
    if missing := sorted(set(numbers) - {pilot.number for pilot in pilots}):
        known = ", ".join(str(pilot.number) for pilot in sorted(pilots, key=lambda pilot: pilot.number)) or "none yet"
        raise ResultsError(f"{benchmark} has no pilot {missing[0]}. Its pilots: {known}.")
    if numbers:
        chosen = [pilot for pilot in pilots if pilot.number in set(numbers)]
    else:
        chosen = [pilot for pilot in pilots if not pilot.scripted] or list(pilots)
        chosen = [pilot for pilot in chosen if pilot.mode == PilotMode.EPISODE] or chosen
    return sorted(chosen, key=lambda pilot: pilot.number)


def compute_results(benchmark: Benchmark, pilots: Sequence[Pilot]) -> Results:
    pilots = refresh_scores(pilots)
    keys = score_keys([pilot.pk for pilot in pilots])
    key = hashlib.sha256(json.dumps(sorted(keys.items())).encode()).hexdigest()
    rows, scored = _once((key, "sessions"), lambda: _scored_rows(pilots))
    return Results(benchmark, pilots, key, agent_names(pilots), rows, scored)


def _scored_rows(pilots: Sequence[Pilot]) -> tuple[list[SessionRow], list[ScoredSession]]:
    rows = session_rows(pilots)
    return rows, score_sessions(rows)


def _once(key: tuple[str, ...], compute: Callable[[], T]) -> T:
    value: T | None = _computed.get_many([key]).get(key)
    if value is None:
        value = compute()
        _computed.put(key, value)
    return value


def results_document(results: Results) -> dict[str, Any]:
    """As JSON; scores are shares between 0 and 1, None where unknown."""
    scripted = results.scripted_agents
    choices = scoring_choices(results.pilots)
    return {
        "schema": SCHEMA,
        "studio": studio.__version__,
        "benchmark": results.benchmark.slug,
        "pilots": [_pilot(pilot, results.agents[pilot.pk], choices[pilot.pk]) for pilot in results.pilots],
        "intervals": INTERVALS,
        "leaderboard": [
            _agent(agent, mode, scripted=agent.agent in scripted)
            for mode in ScoringMode
            for agent in results.board(mode)
        ],
        "statuses": [{"agent": agent} | counts for agent, counts in status_counts(results.rows).items()],
        "categories": _breakdown(results, "category", category_names(results.benchmark)),
        "breakdowns": {label: _breakdown(results, label, {}) for label in LABELS if label != "category"},
        "sessions": _sessions(results),
    }


INTERVALS = (
    "95 %; rescaled bootstrap (Rao and Wu 1988) of dependency groups with all their runs, within each persona, with "
    "Student's t"
)


def _pilot(pilot: Pilot, agent: str, choice: ScoringChoice) -> dict[str, Any]:
    roles = {}
    for role in ("agent", "user_model", "judge"):
        endpoint = pilot.endpoint(role)
        roles[role] = {"name": endpoint.name, "model": endpoint.model, "params": endpoint.params}
    return {
        "number": pilot.number,
        "label": agent,
        "kind": pilot.agent_kind.kind,
        "params": dict(pilot.agent_kind.params),
        "mode": pilot.mode,
        "state": pilot.state,
        "scripted": pilot.scripted,
        "drafts": pilot.drafts,
        "runs": pilot.runs_wanted,
        "limits": pilot.limits,
        "prompts": pilot.config.get("prompts"),
        "judging": judging_json(choice.round, rules_of(choice)),
        "started": pilot.created_at.isoformat(),
        "finished": pilot.finished_at.isoformat() if pilot.finished_at else None,
        **roles,
    }


def _agent(agent: AgentScores, mode: ScoringMode, *, scripted: bool) -> dict[str, Any]:
    return {
        "agent": agent.agent,
        "scoring": mode.value,
        **_scores(agent.scores),
        "personas": {name: _scores(scores) for name, scores in agent.personas.items()},
        "scripted": scripted,
        "runs": agent.runs,
        "sessions": agent.sessions,
        "scored": agent.scored,
        "failed": agent.failed,
        "missing": agent.missing,
        "turns": agent.turns,
        "tokens": agent.tokens,
        "cost": agent.cost,
    }


def _scores(scores: Mapping[Metric, Any]) -> dict[str, Any]:
    return {metric: asdict(scores[metric]) for metric in METRICS}


def _breakdown(results: Results, label: str, names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            label: value or UNGROUPED,
            "name": names.get(value, value or UNGROUPED),
            "agent": agent,
            "scoring": mode.value,
            "tasks": cell.tasks,
            **_scores(cell.scores),
        }
        for mode in ScoringMode
        for value, cells in results.breakdown(label, mode).items()
        for agent, cell in cells.items()
    ]


def category_names(benchmark: Benchmark) -> dict[str, str]:
    return dict(Category.objects.filter(taxonomy=benchmark.taxonomy_id).values_list("code", "name"))


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
            "setup": row.result.setup,
            "group": scored[row.run, row.key].group if (row.run, row.key) in scored else None,
            "weight": scored[row.run, row.key].weight if (row.run, row.key) in scored else None,
            "proc": _by_mode(scored[row.run, row.key].proc if (row.run, row.key) in scored else {}),
            "comp": _by_mode(scored[row.run, row.key].comp if (row.run, row.key) in scored else {}),
            "intents": row.result.intents,
            "covered": row.result.covered,
            "statuses": dict(row.statuses),
            "turns": row.turns,
            "tokens": row.tokens,
            "cost": row.cost,
            **row.labels,
        }
        for row in results.rows
    ]


def _by_mode(values: Mapping[ScoringMode, float | None]) -> dict[str, float | None]:
    return {mode.value: values.get(mode) for mode in ScoringMode}

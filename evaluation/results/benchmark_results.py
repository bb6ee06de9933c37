"""Results of a benchmark over a choice of pilots."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar, cast
from urllib.parse import urlencode

from django.core.cache import caches

from evaluation.metrics.comparison import Comparison, compare
from evaluation.metrics.leaderboard import AgentScores, Cell, breakdown, leaderboard, marks
from evaluation.metrics.sessions import METRICS, Metric, ScoredSession, SessionRow, score_sessions
from evaluation.models import Pilot, Session
from evaluation.protocol.modes import Arm, PilotMode
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import may_be_ranked
from evaluation.results.loading import DecidedSession, JudgedPilot, agent_names, load_pilot
from evaluation.results.model_answers import ModelAnswers, model_answers
from evaluation.results.scores import refreshed
from studio.models import Benchmark, Category, Persona

UNGROUPED = "none given"
SOURCES = (
    ("evaluation/results", "*.py"),
    ("evaluation/metrics", "*.py"),
    ("evaluation/grading", "*.py"),
    ("evaluation/judging", "*.py"),
    ("templates/evaluation/results", "*.html"),
)
T = TypeVar("T")


class ResultsError(ValueError):
    """Results that cannot be computed; the message says why and what to do."""


@dataclass(frozen=True)
class Results:
    """Everything the tables and exports show. What was computed from the same verdicts is kept for all processes."""

    benchmark: Benchmark
    pilots: Sequence[Pilot]
    key: str
    """Of all that the pilots' scores follow from."""
    agents: Mapping[int, str]
    """By pilot."""

    @property
    def terms(self) -> list[str]:
        """In words: one entry, unless they are compared."""
        return sorted({str(pilot.terms) for pilot in self.pilots})

    @property
    def modes(self) -> list[ScoringMode]:
        """In which all of the pilots are scored."""
        return [mode for mode in ScoringMode if all(mode in pilot.terms.modes for pilot in self.pilots)]

    @cached_property
    def loaded(self) -> Sequence[JudgedPilot]:
        return [load_pilot(pilot) for pilot in self.pilots]

    @cached_property
    def played(self) -> Sequence[tuple[JudgedPilot, Session, SessionRow]]:
        return [
            (each, session, row)
            for each in self.loaded
            for session, row in zip(each.sessions, each.rows(self.agents[each.pilot.pk]), strict=True)
        ]

    @cached_property
    def rows(self) -> Sequence[SessionRow]:
        """Without those of ``alone``."""
        return self.once(("rows",), lambda: [row for _, session, row in self.played if session.run.arm != Arm.WITHOUT])

    @cached_property
    def alone(self) -> Sequence[SessionRow]:
        """Sessions of ablated tasks without their earlier sessions: part of no score."""
        return self.once(("alone",), lambda: [row for _, session, row in self.played if session.run.arm == Arm.WITHOUT])

    @cached_property
    def decisions(self) -> Mapping[int, DecidedSession]:
        """Of all finished sessions, by key."""
        return {
            row.key: DecidedSession(row, session.revision_id, each.task(session), each.judged[row.key], each.rules)
            for each, session, row in self.played
            if row.result.outcome == "finished"
        }

    @cached_property
    def scored(self) -> Sequence[ScoredSession]:
        return score_sessions(self.rows)

    @property
    def models(self) -> Mapping[str, ModelAnswers]:
        """By agent."""
        return self.once(("models",), self._models)

    def _models(self) -> dict[str, ModelAnswers]:
        sessions: dict[str, list[int]] = {}
        for row in self.rows:
            sessions.setdefault(row.agent, []).append(row.key)
        return {agent: model_answers(sessions[agent]) for agent in sorted(sessions)}

    def board(self, mode: ScoringMode) -> list[AgentScores]:
        """Personas without their intervals."""
        return self.once(
            ("board", mode.value), lambda: leaderboard(self.rows, self.scored, mode, persona_intervals=False)
        )

    def whole_board(self, mode: ScoringMode) -> list[AgentScores]:
        return self.once(("whole board", mode.value), lambda: leaderboard(self.rows, self.scored, mode))

    def breakdown(self, label: str, mode: ScoringMode, *, intervals: bool = True) -> dict[str, dict[str, Cell]]:
        return self.once(
            ("breakdown", label, mode.value, str(intervals)),
            lambda: breakdown(self.scored, label, mode, intervals=intervals),
        )

    @property
    def sides(self) -> dict[str, list[int]]:
        """What can be compared: agents with their pilots, and pilots by themselves where there are several."""
        sides: dict[str, list[int]] = {agent: [] for agent in sorted(set(self.agents.values()))}
        for pilot in self.pilots:
            sides[self.agents[pilot.pk]].append(pilot.pk)
        if len(self.pilots) > 1:
            sides |= {f"{pilot} · {self.agents[pilot.pk]}": [pilot.pk] for pilot in self.pilots}
        return sides

    def pilots_of(self, side: str) -> list[Pilot]:
        keys = self.sides[side]
        return [pilot for pilot in self.pilots if pilot.pk in keys]

    def label_of(self, side: str) -> str:
        return f"{side} (scripted)" if any(pilot.scripted for pilot in self.pilots_of(side)) else side

    def of_side(self, side: str) -> list[ScoredSession]:
        keys = set(self.sides[side])
        return [item for item in self.scored if item.row.run[0] in keys]

    def comparison(self, first: str, second: str, metric: Metric, mode: ScoringMode) -> Comparison:
        return self.once(
            ("compare", first, second, metric, mode.value),
            lambda: compare(self.of_side(first), self.of_side(second), metric, mode),
        )

    def marks_that_stand(self, board: Sequence[AgentScores], metric: Metric, mode: ScoringMode) -> dict[str, str]:
        """``best`` and ``second`` by agent, only where the difference from the next agent is more than noise."""
        values = {agent.agent: agent.scores[metric].mean for agent in board}
        known = {name: value for name, value in values.items() if value is not None}
        standing = {}
        for name, rank in marks(values).items():
            lower = [other for other in known if known[other] < known[name]]
            if lower and self.comparison(max(lower, key=known.__getitem__), name, metric, mode).stands:
                standing[name] = rank
        return standing

    def comparisons(self, first: str, second: str, mode: ScoringMode) -> list[Comparison]:
        return [self.comparison(first, second, metric, mode) for metric in METRICS]

    def once(self, part: tuple[str, ...], compute: Callable[[], T]) -> T:
        named = json.dumps([_code(), self.key, *part])
        return cast("T", caches["results"].get_or_set(hashlib.sha256(named.encode()).hexdigest(), compute))

    @property
    def scripted_agents(self) -> set[str]:
        return {self.agents[pilot.pk] for pilot in self.pilots if pilot.scripted}


def choose_pilots(
    benchmark: Benchmark,
    pilots: Collection[Pilot],
    numbers: Collection[int] = (),
    mode: PilotMode = PilotMode.EPISODE,
) -> list[Pilot]:
    """Those with the numbers. Without any: all by real models, or all if only scripted models ran; of these, those
    that ``rankable`` keeps. Raises ResultsError for a number that is not among ``pilots``."""
    if missing := sorted(set(numbers) - {pilot.number for pilot in pilots}):
        known = ", ".join(str(pilot.number) for pilot in sorted(pilots, key=lambda pilot: pilot.number)) or "none yet"
        raise ResultsError(f"{benchmark} has no pilot {missing[0]}. Its pilots: {known}.")
    if numbers:
        chosen = [pilot for pilot in pilots if pilot.number in set(numbers)]
    else:
        chosen = rankable([pilot for pilot in pilots if not pilot.scripted] or list(pilots), mode)
    return sorted(chosen, key=lambda pilot: pilot.number)


def mode_of(results: Results, wanted: str) -> ScoringMode:
    """Strict, where the pilots are not scored as wanted."""
    return next((mode for mode in results.modes if mode == wanted), ScoringMode.STRICT)


def rankable(pilots: Sequence[Pilot], mode: PilotMode = PilotMode.EPISODE) -> list[Pilot]:
    """Those that may stand in one ranking: of ``mode``, or of the newest's if none is; of these, under the newest's
    terms; of these, over the same tasks as the one that ran most."""
    alike = [pilot for pilot in pilots if pilot.mode == mode] or _like_newest(pilots, lambda pilot: pilot.mode)
    alike = _like_newest(alike, lambda pilot: pilot.terms)
    tasks = _tasks_of(alike) if len(alike) > 1 else {}
    most = max((len(names) for names in tasks.values()), default=0)
    widest = [pilot for pilot in alike if len(tasks.get(pilot.pk, ())) == most]
    return _like_newest(widest, lambda pilot: tasks.get(pilot.pk))


def _like_newest(pilots: Sequence[Pilot], what: Callable[[Pilot], object]) -> list[Pilot]:
    newest = max(pilots, key=lambda pilot: pilot.number, default=None)
    return [pilot for pilot in pilots if newest and what(pilot) == what(newest)]


def _tasks_of(pilots: Sequence[Pilot]) -> dict[int, frozenset[int]]:
    """Keys of the tasks of each, those of sessions that it took over included."""
    played = Session.objects.filter(run__pilot__in=pilots).order_by().values_list("run__pilot", "revision__task")
    taken = Pilot.taken_sessions.through.objects.filter(pilot__in=pilots).order_by()
    found: dict[int, set[int]] = {pilot.pk: set() for pilot in pilots}
    for rows in (played, taken.values_list("pilot", "session__revision__task")):
        for pilot, task in rows.distinct():
            found[pilot].add(int(task))
    return {pilot: frozenset(tasks) for pilot, tasks in found.items()}


def require_rankable(pilots: Sequence[Pilot], mode: PilotMode = PilotMode.EPISODE) -> None:
    """Raises ResultsError."""
    kept = rankable(pilots, mode)
    if other := next((pilot for pilot in pilots if pilot not in kept), None):
        raise ResultsError(f"{why_apart(other, kept[-1])}: they are never ranked together. Choose pilots of one kind.")


def why_apart(pilot: Pilot, other: Pilot) -> str:
    """Why two pilots are not ranked together."""
    if pilot.mode != other.mode:
        return f"{pilot} ran in mode {pilot.mode}, {other} in mode {other.mode}"
    if not may_be_ranked((pilot.terms, other.terms)):
        return f"{pilot} ran under the {pilot.terms}, {other} under the {other.terms}"
    ours, theirs = (len(tasks) for tasks in _tasks_of((pilot, other)).values())
    return f"{pilot} ran {ours if ours != theirs else 'other'} tasks, {other} {theirs}"


def address_of(pilots: Iterable[Pilot], mode: ScoringMode) -> str:
    """The choice as a query string."""
    return urlencode([("pilot", number) for number in sorted(pilot.number for pilot in pilots)] + [("scoring", mode)])


def compute_results(benchmark: Benchmark, pilots: Sequence[Pilot]) -> Results:
    """What is stored of them, or what is computed as it is asked for."""
    pilots, keys = refreshed(pilots)
    personas = Persona.objects.filter(benchmark=benchmark).order_by("position", "pk").values_list("pk", "user_id")
    agents = agent_names(pilots)
    named = [benchmark.slug, list(personas), sorted(keys.items()), sorted(agents.items())]
    key = hashlib.sha256(json.dumps(named).encode()).hexdigest()
    return Results(benchmark, pilots, key, agents)


@cache
def _code() -> str:
    """Of what computes them: other code may compute otherwise."""
    here = Path(__file__).resolve().parents[2]
    files = sorted(path for folder, kind in SOURCES for path in (here / folder).rglob(kind))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def category_names(benchmark: Benchmark) -> dict[str, str]:
    return dict(Category.objects.filter(taxonomy=benchmark.taxonomy_id).values_list("code", "name"))

"""How reliable an agent is: the share of intents, and of whole tasks, that it achieves in all of k runs.

pass^k of tau-bench (Yao et al. 2024, arXiv 2406.12045): of something achieved in c of n runs, the share of all choices
of k runs in which it was achieved every time is C(c, k) / C(n, k), which estimates without bias the probability of k
successes in a row. The mean is over intents, or tasks, as they are; each counts alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum

from evaluation.metrics.scores import Outcome
from evaluation.protocol.session import COVERED
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class Reliability:
    k: int
    share: float
    n: int
    """Intents or tasks with at least ``k`` runs."""


@dataclass(frozen=True)
class Played:
    """A session that ran."""

    task: Hashable
    achieved: Mapping[int, bool]
    """Of its hidden intents that the request does not say, by index."""
    comp: float | None
    """None: it is not scored."""


def played(key: Hashable, task: TaskSpec, statuses: Mapping[int, str], outcome: Outcome, comp: float | None) -> Played:
    """``statuses`` of intents by index; one that has none is open. What a failed session did counts as nothing."""
    failed = outcome == "failed"
    achieved = {
        index: not failed and statuses.get(index) in COVERED
        for index, intent in enumerate(task.intents, start=1)
        if intent.initial_status != "provided"
    }
    return Played(key, achieved, None if task.is_setup else 0.0 if failed else comp)


def agent_reliability(sessions: Iterable[Played]) -> dict[str, list[Reliability]]:
    """Of one agent's ``intents``, and of its whole ``tasks``: all of whose criteria are met."""
    intents: dict[object, list[bool]] = defaultdict(list)
    tasks: dict[object, list[bool]] = defaultdict(list)
    for session in sessions:
        for index, achieved in session.achieved.items():
            intents[session.task, index].append(achieved)
        if session.comp is not None:
            tasks[session.task].append(session.comp == 1.0)
    return {"intents": reliability(intents), "tasks": reliability(tasks)}


def pass_all(achieved: int, runs: int, k: int) -> float:
    """Of one thing, achieved in so many of its runs. Raises ValueError with fewer than ``k`` runs."""
    if not 0 < k <= runs:
        raise ValueError(f"{k} of {runs} runs cannot be chosen")
    return comb(achieved, k) / comb(runs, k)


def reliability(outcomes: Mapping[object, Sequence[bool]]) -> list[Reliability]:
    """For each k, from 1 to the most runs that anything has. ``outcomes``: of each thing, whether it was achieved, run
    by run; without runs that say nothing of it."""
    most = max(map(len, outcomes.values()), default=0)
    return [_of(outcomes.values(), k) for k in range(1, most + 1)]


def _of(outcomes: Iterable[Sequence[bool]], k: int) -> Reliability:
    shares = [pass_all(sum(runs), len(runs), k) for runs in outcomes if len(runs) >= k]
    return Reliability(k, fsum(shares) / len(shares), len(shares))

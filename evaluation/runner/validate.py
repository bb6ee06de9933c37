"""Whether a pack's tasks are earned by their reference solutions, and by nothing that takes no work: played again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.feasibility.kinds import Outcome, kinds_for
from evaluation.feasibility.packed import PackedSolutions, UnreadableSolutionError, read_solutions
from evaluation.feasibility.seats import given_turn
from evaluation.feasibility.turns import decide_turn
from evaluation.llm import Endpoint
from evaluation.protocol.participants import InfrastructureError
from evaluation.runner.errors import PibenchError
from evaluation.runner.packs import Pack, pack_of, read_files
from studio.domain.episode import EpisodeSpec, Split
from studio.domain.phrases import count_of
from studio.domain.task import TaskSpec
from studio.domain.tool_servers import ToolServerPolicy


@dataclass(frozen=True)
class Chosen:
    """What is tried; of what is empty, all."""

    personas: Collection[str] = ()
    tasks: Collection[str] = ()
    splits: Collection[Split] = ()


@dataclass(frozen=True)
class TriedTask:
    episode: EpisodeSpec
    task: TaskSpec
    solved: bool
    """Whether the pack has a reference solution of it."""
    outcomes: Sequence[Outcome]

    @property
    def valid(self) -> bool | None:
        """None: something stays undecided, or there is no solution."""
        passed = [outcome.passed for outcome in self.outcomes]
        return False if False in passed else None if None in passed or not self.solved else True

    def to_json(self) -> dict[str, Any]:
        return {
            "persona": self.episode.persona.user_id,
            "task": self.task.task_id,
            "split": self.episode.split_of(self.task.task_id).value,
            "solution": self.solved,
            "valid": self.valid,
            "probes": [
                {
                    "kind": outcome.kind.name,
                    "earned": outcome.earned,
                    "passed": outcome.passed,
                    "items": [asdict(item) for item in outcome.items],
                }
                for outcome in self.outcomes
            ],
        }


@dataclass(frozen=True)
class Replayed:
    pack: Pack
    judge: Endpoint | None
    tasks: Sequence[TriedTask]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.pack.name,
            "version": self.pack.version,
            "sha256": self.pack.sha256,
            "judge": self.judge and self.judge.name,
            "tasks": [each.to_json() for each in self.tasks],
        }


def solutions_of(path: Path, files: Mapping[str, bytes]) -> PackedSolutions:
    """Raises PibenchError."""
    try:
        return read_solutions(files)
    except UnreadableSolutionError as error:
        raise PibenchError(f"{path} cannot be used. {error}") from None


def replay(path: Path, chosen: Chosen, policy: ToolServerPolicy, judge: Endpoint | None, jobs: int) -> Replayed:
    """Raises PibenchError."""
    files, sha256 = read_files(path)
    pack, solutions = pack_of(path, files, sha256), solutions_of(path, files)
    limits = pack.manifest.get("validation", {}).get("limits", {})
    wanted = _wanted(pack, chosen)

    def contents(sha256s: Sequence[str]) -> dict[str, bytes]:
        return pack.read(sha256s) | {name: solutions.contents[name] for name in sha256s if name in solutions.contents}

    def tried(episode: EpisodeSpec, task: TaskSpec) -> TriedTask:
        own = solutions.turns.get(episode.persona.user_id, {})
        outcomes = []
        for kind in kinds_for(task, episode):
            turn = None if kind.asks else given_turn(kind.name, task, episode, own, contents)
            if turn is not None:
                items = decide_turn(task, episode, turn, own, contents, policy, judge)
                outcomes.append(Outcome(kind, items, limits))
        return TriedTask(episode, task, task.task_id in own, outcomes)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return Replayed(pack, judge, list(pool.map(tried, *zip(*wanted, strict=True))))
        except InfrastructureError as error:
            pool.shutdown(cancel_futures=True)
            raise PibenchError(str(error)) from None


def _wanted(pack: Pack, chosen: Chosen) -> list[tuple[EpisodeSpec, TaskSpec]]:
    """Raises PibenchError if there is nothing."""
    found = [
        (episode, task)
        for episode in pack.episodes
        for task in episode.tasks
        if not task.is_setup
        and (not chosen.personas or episode.persona.user_id in chosen.personas)
        and (not chosen.tasks or task.task_id in chosen.tasks)
        and (not chosen.splits or episode.split_of(task.task_id) in chosen.splits)
    ]
    if not found:
        raise PibenchError("There is no such task that scores.", f"`pibench show {pack.path}` lists them.")
    return found


def told(replayed: Replayed) -> Iterator[str]:
    """Lines for people: first what is amiss, then what was tried."""
    for each in replayed.tasks:
        for outcome in each.outcomes:
            if outcome.passed is False:
                name = f"{each.episode.persona.user_id} · {each.task.task_id}"
                amiss = "Not earned:" if outcome.kind.limit.at_least else "Without work, it earns:"
                yield f"{name}: {outcome.kind.who} earns {outcome.earned:.0%}. {amiss}"
                for item in outcome.troubling:
                    yield f"  {item.index}. {item.text}" + (f" ({item.why})" if item.why else "")
    solved = [each for each in replayed.tasks if each.solved]
    items = [item for each in replayed.tasks for outcome in each.outcomes for item in outcome.items]
    earned = sum(each.outcomes[0].passed is True for each in solved)
    asked = f"judged by {replayed.judge.name}" if replayed.judge else "without a model"
    yield f"{count_of(len(replayed.tasks), 'scored task')}, {len(solved)} with a reference solution, {asked}."
    if solved:
        yield f"Earning every item: {earned} of {count_of(len(solved), 'reference solution')}."
    undecided = [item for item in items if item.met is None]
    if undecided and replayed.judge:
        why = next(
            (item.why for item in undecided if item.why), "its answers decide nothing, or a grader script is gone"
        )
        yield f"{len(undecided)} of {count_of(len(items), 'decision')} stay open: {why}"
    elif undecided:
        yield f"{len(undecided)} of {count_of(len(items), 'decision')} are for a judge: name one with --judge MODEL."

"""A pack as a task of Inspect: a sample is a persona's episode, an epoch one run of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter, to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import span
from pydantic import TypeAdapter

from evaluation.llm import Endpoint
from evaluation.llm.endpoint import SCRIPTED
from evaluation.metrics.leaderboard import leaderboard
from evaluation.metrics.sessions import METRICS, ScoredSession, SessionRow, score_sessions
from evaluation.metrics.texts import percent
from evaluation.protocol.scoring import ScoringMode
from evaluation.runner.board import Board
from evaluation.runner.errors import PibenchError
from evaluation.runner.packs import Pack, read_pack
from evaluation.runner.play import chains_of
from evaluation.runner.results import Results, SessionResult
from evaluation.runner.run import PlannedRun, RunOptions, Seats, gather, plan
from pi_bench_studio.model import Seat
from studio.domain.episode import Split
from studio.domain.opening_message import text_of

STRICT = ScoringMode.STRICT
ROWS = "sessions"
"""In a sample's store: how its sessions ended, from which it is scored."""
AT_ONCE = 500
"""Episodes that one process plays; each waits for models most of its time."""
_ROWS = TypeAdapter(list[SessionRow])
_METRICS = [mean(), stderr(), grouped(mean(), "persona", all=False)]
_LATER = Endpoint("not known yet", SCRIPTED, "")
"""In place of the models while a run is only planned."""


@task
def pack(
    path: str,
    persona: str | list[str] = "",
    tasks: str | list[str] = "",
    split: str | list[str] = "",
    agent: str = "react",
) -> Task:
    """``path``: of a release, zip or folder. ``persona``, ``tasks`` and ``split`` choose as those of `pibench run`,
    several with commas between; ``agent`` is the kind of agent. User and judge are the model roles ``user`` and
    ``judge``. Raises PibenchError."""
    if agent == "endpoint":
        raise PibenchError("In Inspect a model is sent whole conversations: there is no agent “endpoint”.")
    found = read_pack(Path(path))
    options = RunOptions(personas=_words(persona), tasks=_words(tasks), splits=_splits(split))
    planned = plan(found, Seats(_LATER, _LATER, _LATER, agent), options)
    return Task(
        dataset=list(_samples(planned)),
        solver=sessions(found, options, agent),
        scorer=proc_and_comp(),
        version=found.version or 0,
        metadata=planned.document.model_dump(
            mode="json", include={"pack", "protocol", "agent_loop", "prompts", "splits"}
        ),
    )


@solver
def sessions(found: Pack, options: RunOptions, agent: str) -> Solver:
    """The engine's sessions of the sample's persona, in order, each with its grading."""
    limiter = CapacityLimiter(AT_ONCE)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        user, judge = (Seat(get_model(role=role, required=True)) for role in ("user", "judge"))
        tested = Seat(get_model())
        own = replace(options, personas=[str(state.sample_id)], tasks=_chosen_in(found, str(state.sample_id), options))
        planned = plan(found, Seats(tested.endpoint, user.endpoint, judge.endpoint, agent), own)
        with tempfile.TemporaryDirectory() as folder:
            players = gather(planned, Path(folder), Board(0, quiet=True))
            try:
                for chain in chains_of(players):
                    for session in chain.sessions:
                        async with span(session.task, type="session"):
                            problem = await to_thread.run_sync(chain.play_next, session, limiter=limiter)
                        if problem:
                            raise tested.failure or user.failure or judge.failure or PibenchError(problem)
            finally:
                _tell(state, Results(players.results.folder, players.results.run, players.results.tasks))
        return state

    return solve


@scorer(metrics=dict.fromkeys(METRICS, _METRICS))
def proc_and_comp() -> Scorer:
    """What was not over when a limit ended the sample counts as failed."""

    async def score(state: TaskState, target: Target) -> Score:
        rows = _ROWS.validate_python(state.store.get(ROWS))
        scored = score_sessions(rows)
        [board] = leaderboard(rows, scored, STRICT, persona_intervals=False)
        means = {metric: board.scores[metric].mean for metric in METRICS}
        return Score(
            value={metric: float("nan") if value is None else value for metric, value in means.items()},
            explanation="\n".join(map(_line, scored)),
            metadata={"sessions": [_facts(each) for each in scored]},
        )

    return score


def _words(given: str | list[str]) -> list[str]:
    """What Inspect's command line splits at commas is a list."""
    texts = given if isinstance(given, list) else [given]
    return [word for text in texts for each in str(text).split(",") if (word := each.strip())]


def _splits(given: str | list[str]) -> list[Split]:
    words = _words(given)
    if unknown := set(words) - set(Split):
        raise PibenchError(f"“{min(unknown)}” is no split; these are {', '.join(Split)}.")
    return [Split(word) for word in words]


def _chosen_in(found: Pack, persona: str, options: RunOptions) -> list[str]:
    episode = found.episode(persona)
    return [name for name in options.tasks if episode and episode.task(name)]


def _samples(planned: PlannedRun) -> Iterator[Sample]:
    for name in dict.fromkeys(session.persona for session in planned.sessions):
        tasks = [session.task for session in planned.sessions if session.persona == name]
        yield Sample(
            id=name, input=f"The episode of {name}: {', '.join(tasks)}", metadata={"persona": name, "tasks": tasks}
        )


def _tell(state: TaskState, results: Results) -> None:
    """To the log: the conversations, what was decided, and what is scored."""
    state.store.set(ROWS, _ROWS.dump_python([_row(at, each) for at, each in enumerate(results.sessions)], mode="json"))
    state.messages = [message for session in results.sessions for message in _messages(session)]
    for session in results.sessions:
        transcript().info(_decided(session), source=session.planned.task)


def _row(at: int, session: SessionResult) -> SessionRow:
    row = session.row(at, "")
    return row if session.state == "finished" else replace(row, result=replace(row.result, outcome="failed"))


def _messages(session: SessionResult) -> Iterator[ChatMessage]:
    for turn in session.kept.turns:
        yield ChatMessageUser(content=text_of(turn.taken.message), metadata={"task": session.planned.task})
        yield ChatMessageAssistant(content=turn.taken.reply.text)


def _decided(session: SessionResult) -> dict[str, Any]:
    items = session.task.scored_items
    return {
        "state": session.state,
        "reason": session.reason,
        "intents": [
            {"intent": each.content, "status": each.status, "turn": each.turn}
            for each in session.kept.intents(session.task)
        ],
        "checklist": [
            {
                "criterion": items[each.index - 1].criterion if each.index <= len(items) else each.label,
                "turn": each.turn,
                "met": each.met,
                "why": " ".join(filter(None, (each.quote, each.reason, each.error))),
            }
            for each in sorted(session.kept.decided[STRICT].values(), key=lambda each: (each.index, each.turn))
        ],
    }


def _facts(scored: ScoredSession) -> dict[str, Any]:
    row = scored.row
    return {
        "task": row.result.task_id,
        "proc": scored.proc[STRICT],
        "comp": scored.comp[STRICT],
        "intents": dict(row.statuses),
        "turns": row.turns,
    }


def _line(scored: ScoredSession) -> str:
    return f"{scored.row.result.task_id}: Proc {percent(scored.proc[STRICT])}, Comp {percent(scored.comp[STRICT])}"

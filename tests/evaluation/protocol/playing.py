"""Conversations without an engine, for tests of the rules alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluation.protocol.participants import Agent, IntentJudge
from evaluation.protocol.session import MAX_TURNS, Progress, TurnTaken, resolve_turn
from evaluation.protocol.voice import User


def play(
    progress: Progress,
    agent: Agent,
    judge: IntentJudge,
    read_files: Callable[[], Mapping[str, str]] = dict,
    max_turns: int = MAX_TURNS,
    user: User | None = None,
) -> tuple[Progress, list[TurnTaken]]:
    turns: list[TurnTaken] = []
    while progress.ending is None:
        reply = agent.reply(progress.message)
        taken, progress = resolve_turn(progress, reply, judge, read_files, max_turns=max_turns, user=user)
        turns.append(taken)
    return progress, turns

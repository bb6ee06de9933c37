"""Plays the sessions of a run: chains side by side, the sessions of a chain in order, as pilots do."""

from __future__ import annotations

import threading
import traceback
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from evaluation.engine.budgets import BudgetSpentError, Purse
from evaluation.engine.conversation import converse
from evaluation.engine.folder import FolderStore, Found, SessionHeldError, UnreadableLineError
from evaluation.engine.grading import grade_session
from evaluation.engine.plan import SessionPlan
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.runner.board import Board
from evaluation.runner.document import PlannedSession
from evaluation.runner.results import FILES, Results, write_stopped
from evaluation.workspaces.manifests import MissingContentError


@dataclass(frozen=True)
class Patience:
    """With failures that are not the agent's."""

    first_pause: float = 2.0
    """Seconds; each pause is twice as long as the one before."""
    longest_pause: float = 60.0
    outage: float = 600.0
    """Seconds after which a service that does not answer stops the session."""
    attempts: int = 3
    """For what may not pass by itself."""


@dataclass(frozen=True)
class Players:
    """What a run is played with."""

    results: Results
    plans: Mapping[str, SessionPlan]
    """By folder of the session."""
    purse: Purse
    board: Board
    """Is told how it goes, from many threads."""
    patience: Patience = field(default_factory=Patience)


def play(players: Players, jobs: int) -> dict[str, str]:
    """What stands still, by folder of its session, and why. Anything that is there is gone on with."""
    stopped: dict[str, str] = {}
    write_stopped(players.results.folder, stopped)
    with ThreadPoolExecutor(jobs, thread_name_prefix="session") as pool:
        for failures in pool.map(Chain.play, chains_of(players)):
            stopped |= failures
    write_stopped(players.results.folder, stopped)
    return stopped


def chains_of(players: Players) -> list[Chain]:
    chains: dict[tuple[str, int, int], list[PlannedSession]] = defaultdict(list)
    for planned in players.results.run.sessions:
        chains[planned.persona, planned.run, planned.chain].append(planned)
    return [Chain(players, sessions) for sessions in chains.values()]


class Chain:
    """Sessions that share a workspace."""

    def __init__(self, players: Players, sessions: Sequence[PlannedSession]) -> None:
        self.sessions = sessions
        self._players = players
        self._found = Found()
        self._ended: list[tuple[PlannedSession, Found]] = []

    def play(self) -> dict[str, str]:
        """Why it stands still, by the folder of the session that does."""
        for planned in self.sessions:
            if problem := self.play_next(planned):
                return {planned.folder: problem}
        return self._grade_at_the_end(self._ended, self._found)

    def play_next(self, planned: PlannedSession) -> str:
        """The session after those that were played; why it stands still."""
        left, problem = self._patiently(planned, self._found)
        if left is None:
            self._players.board.played(planned, "stopped", problem)
            return problem
        self._ended.append((planned, self._found))
        self._found = left
        return ""

    def _grade_at_the_end(self, ended: Sequence[tuple[PlannedSession, Found]], final: Found) -> dict[str, str]:
        """compat looks at the files as they are when all conversations are over."""
        if ScoringMode.COMPAT not in self._players.results.run.terms.modes:
            return {}
        for planned, before in ended:
            _, problem = self._patiently(planned, before, final)
            if problem:
                return {planned.folder: problem}
        return {}

    def _patiently(self, planned: PlannedSession, found: Found, final: Found | None = None) -> tuple[Found | None, str]:
        """What the session leaves, or None and why it stands still."""
        patience, pause, waited, attempts = self._players.patience, self._players.patience.first_pause, 0.0, 0
        while True:
            try:
                return self._work(planned, found, final), ""
            except InfrastructureError as error:
                attempts += not error.retryable
                if error.hopeless or attempts >= patience.attempts or waited >= patience.outage:
                    return None, str(error)
                pause = max(pause, error.retry_after or 0.0)
            except (BudgetSpentError, MissingContentError, SessionHeldError, UnreadableLineError) as error:
                return None, str(error)
            except Exception as error:  # a defect of ours: the other sessions go on
                with (self._players.results.folder / "defects.log").open("a") as log:
                    log.write(f"{planned.name}\n{traceback.format_exc()}\n")
                return None, f"Internal error: {type(error).__name__}: {error} (see defects.log)"
            threading.Event().wait(pause)
            waited, pause = waited + pause, min(2 * pause, patience.longest_pause)

    def _work(self, planned: PlannedSession, found: Found, final: Found | None) -> Found:
        players = self._players
        results, plan = players.results, players.plans[planned.folder]
        store = FolderStore(results.folder / planned.folder, results.folder / FILES, found, players.purse)
        try:
            mode = ScoringMode.STRICT if final is None else ScoringMode.COMPAT
            if not store.is_ended:
                converse(plan, store, store.standing(plan))
            if store.kept.ending != "failed" and mode not in store.kept.grades:
                played = store.played(plan, mode, final.files if final else None)
                store.finish({mode: grade_session(plan, store, mode, played)})
            if final is None:
                state = "failed" if store.kept.ending == "failed" else "finished"
                players.board.played(planned, state, str((store.kept.end or {}).get("reason") or ""))
            return store.left
        finally:
            store.close()

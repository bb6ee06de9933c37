"""Tells on the terminal how a run goes."""

from __future__ import annotations

import sys
import threading
from contextlib import AbstractContextManager
from decimal import Decimal
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from evaluation.engine.budgets import Spent
from evaluation.runner.document import PlannedSession
from evaluation.runner.tables import plain


class Board(AbstractContextManager["Board"]):
    """A bar in a terminal, a line a session elsewhere, nothing if ``quiet``."""

    def __init__(self, sessions: int, *, quiet: bool = False) -> None:
        console = Console(file=sys.stderr, quiet=quiet, highlight=False)
        self._console = console
        self._sessions = sessions
        self._done = 0
        self._used = Spent()
        self._lock = threading.Lock()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[used]}"),
            TimeElapsedColumn(),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self._task: TaskID = self._progress.add_task("Sessions", total=sessions, used="")

    def __enter__(self) -> Board:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def played(self, session: PlannedSession, state: str, reason: str) -> None:
        with self._lock:
            self._done += 1
            why = f": {reason}" if reason else ""
            self._progress.advance(self._task)
            if state != "finished" or not self._console.is_terminal:
                line = escape(plain(f"{self._done}/{self._sessions} {session.name}: {state}{why}"))
                self._progress.console.print(line, soft_wrap=True)

    def spent(self, spent: Spent) -> None:
        with self._lock:
            self._used += spent
            cost = f" · ${self._used.cost:.2f}" if self._used.cost > Decimal(0) else ""
            self._progress.update(self._task, used=f"{self._used.calls:,} calls · {self._used.tokens:,} tokens{cost}")

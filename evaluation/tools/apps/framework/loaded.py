"""States of apps that this process read or wrote lately, by their content."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from evaluation.tools.apps.framework.state import AppState


class LoadedStates:
    """The least recently used are dropped beyond ``limit`` bytes of content."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._states: OrderedDict[tuple[str, bytes], AppState] = OrderedDict()
        self._lock = Lock()
        self.size = 0
        """Bytes of content."""

    def find(self, app: str, content: bytes) -> AppState | None:
        """A state of one's own to change."""
        with self._lock:
            state = self._states.get((app, content))
            if state is None:
                return None
            self._states.move_to_end((app, content))
            return state.copy()

    def add(self, app: str, content: bytes, state: AppState) -> None:
        if len(content) > self._limit:
            return
        with self._lock:
            if (app, content) not in self._states:
                self._states[app, content] = state.copy()
                self.size += len(content)
            while self.size > self._limit:
                (_, oldest), _ = self._states.popitem(last=False)
                self.size -= len(oldest)

    def clear(self) -> None:
        with self._lock:
            self._states.clear()
            self.size = 0


LOADED = LoadedStates(limit=24_000_000)

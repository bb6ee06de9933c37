"""States of apps that this process read or wrote lately, by their content."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from evaluation.tools.apps.framework.state import AppState


class LoadedStates:
    """The least recently used are dropped beyond ``limit`` bytes of content."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._states: OrderedDict[_Content, AppState] = OrderedDict()
        self._lock = Lock()
        self.size = 0
        """Bytes of content."""

    def find(self, app: str, content: bytes) -> AppState | None:
        """A state of one's own to change."""
        wanted = _Content(app, content)
        with self._lock:
            state = self._states.get(wanted)
            if state is None:
                return None
            self._states.move_to_end(wanted)
            return state.copy()

    def add(self, app: str, content: bytes, state: AppState) -> None:
        if len(content) > self._limit:
            return
        added = _Content(app, content)
        with self._lock:
            if added not in self._states:
                self._states[added] = state.copy()
                self.size += len(content)
            while self.size > self._limit:
                oldest, _ = self._states.popitem(last=False)
                self.size -= len(oldest.content)

    def clear(self) -> None:
        with self._lock:
            self._states.clear()
            self.size = 0


class _Content:
    """Compared byte by byte; megabytes are not hashed for it."""

    __slots__ = ("_hash", "app", "content")

    def __init__(self, app: str, content: bytes) -> None:
        self.app = app
        self.content = content
        self._hash = hash((app, len(content), content[-400:]))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and (self.app, self.content) == (other.app, other.content)


LOADED = LoadedStates(limit=24_000_000)

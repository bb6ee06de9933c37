"""What time it is in a session. It never is what the machine's clock says, so that a session played again asks the
same."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from studio.domain.app_data import DEFAULT_START


@dataclass(frozen=True)
class Pace:
    """How time goes on in a session, with each turn and each tool call."""

    turn: timedelta = timedelta()
    """Calls of a turn never take longer, however many they are."""
    call: timedelta = timedelta()


STANDING = Pace()
"""As in the protocol ``release``: whatever is done, the clock stands where a session begins."""
MOVING = Pace(turn=timedelta(minutes=15), call=timedelta(seconds=4))


class Clock:
    """Of one session: whoever plays it moves it, and all who tell the time share it."""

    def __init__(self, start: datetime = DEFAULT_START, pace: Pace = STANDING) -> None:
        self.start = start
        self.pace = pace
        self._turn, self._calls = 1, 0

    @property
    def moves(self) -> bool:
        return self.pace != STANDING

    @property
    def now(self) -> datetime:
        return self.start + (self._turn - 1) * self.pace.turn + min(self._calls * self.pace.call, self.pace.turn)

    def begin(self, turn: int, calls: int = 0) -> None:
        """``turn``: from 1. ``calls`` were made in it already."""
        self._turn, self._calls = turn, calls

    def step(self) -> None:
        """A tool is called."""
        self._calls += 1


def spoken(moment: datetime) -> str:
    """Monday, 13 April 2026, 09:00"""
    return f"{moment:%A}, {moment.day} {moment:%B %Y, %H:%M}"

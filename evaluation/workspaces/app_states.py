"""What the simulated apps of an episode hold: the persona's data at first, then what each turn leaves, by content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.protocol.clock import STANDING, Clock, Pace
from evaluation.protocol.participants import InfrastructureError
from evaluation.tools import World
from evaluation.workspaces.manifests import Keep, MissingContentError, Read
from studio.domain.app_data import CLOCK, ClockError, EpisodeTimes, path_of, read_times
from studio.domain.persona import PersonaSpec

AppHashes = Mapping[str, str]
"""App → sha256 of its state."""


class ClockUnreadableError(InfrastructureError):
    """The persona's clock cannot be read."""


@dataclass(frozen=True)
class Moment:
    """Which session of an episode it is."""

    task_id: str
    position: int = 1
    """From 1."""
    pace: Pace = STANDING
    brief_lists: bool = False

    def clock(self, times: EpisodeTimes) -> Clock:
        """At its beginning."""
        return Clock(times.start(self.task_id, 1 if self.pace == STANDING else self.position), self.pace)


@dataclass
class AppStates:
    hashes: AppHashes
    contents: Mapping[str, bytes]
    clock: Clock
    brief_lists: bool = False

    def open(self) -> World:
        """As a session finds them. Raises AppDataError."""
        return World(self.contents, self.clock, brief_lists=self.brief_lists)

    def store(self, contents: Mapping[str, bytes], keep: Keep) -> AppHashes:
        """Hashes after a turn. An app that is as it was costs nothing."""
        changed = [app for app, content in contents.items() if content is not self.contents.get(app)]
        shas = keep([contents[app] for app in changed]) if changed else []
        self.hashes = {**self.hashes, **dict(zip(changed, shas, strict=True))}
        self.contents = dict(contents)
        return self.hashes


def initial_apps(persona: PersonaSpec) -> dict[str, str]:
    return {app: file.sha256 for app, file in persona.app_data.items() if app != CLOCK}


def load_apps(hashes: AppHashes, persona: PersonaSpec, moment: Moment, read: Read) -> AppStates:
    """With the clock where the session begins. Raises MissingContentError and ClockUnreadableError."""
    stored = read(list(hashes.values())) if hashes else {}
    for app, sha in hashes.items():
        if sha not in stored:
            raise MissingContentError(f"The data of the app {app} is not stored.")
    contents = {app: stored[sha] for app, sha in hashes.items()}
    return AppStates(dict(hashes), contents, clock_at(moment, persona, read), moment.brief_lists)


def clock_at(moment: Moment, persona: PersonaSpec, read: Read) -> Clock:
    """Raises ClockUnreadableError."""
    file = persona.app_data.get(CLOCK)
    try:
        times = read_times(read([file.sha256]).get(file.sha256, b"")) if file else EpisodeTimes()
    except ClockError as error:
        raise ClockUnreadableError(f"The persona's {path_of(CLOCK)} cannot be read. {error}") from None
    return moment.clock(times)

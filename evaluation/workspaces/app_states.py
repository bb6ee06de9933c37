"""What the simulated apps of an episode hold: the persona's data at first, then what each turn leaves, by content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from evaluation.models import ReadyAppData, Session
from evaluation.protocol.participants import InfrastructureError
from evaluation.workspaces.snapshots import MissingContentError, snapshot_after
from studio.domain.app_data import CLOCK, ClockError, path_of, read_clock
from studio.domain.persona import PersonaSpec
from studio.models import Blob

FORM = 1
"""To be raised when apps complete or write their data in another way, so that nothing older is read."""
MOST_KNOWN = 10_000
_ready: dict[tuple[str, str], str] = {}
"""App and sha256 of a persona's data → sha256 of it made ready (``evaluation.pilots.preparation``)."""

AppHashes = Mapping[str, str]
"""App → sha256 of its state."""


class ClockUnreadableError(InfrastructureError):
    """The persona's clock cannot be read."""


@dataclass
class AppStates:
    hashes: dict[str, str]
    contents: dict[str, bytes]
    now: datetime | None = None
    """Where the clock stands; None where the persona's data does not say."""
    _stored: dict[str, bytes] = field(default_factory=dict)

    def store(self, contents: Mapping[str, bytes]) -> dict[str, str]:
        """Hashes after a turn. An app that is as it was costs nothing."""
        changed = [app for app, content in contents.items() if content is not self.contents.get(app)]
        shas = Blob.objects.store([contents[app] for app in changed]) if changed else []
        self.hashes = self.hashes | dict(zip(changed, shas, strict=True))
        self.contents = dict(contents)
        return self.hashes


def initial_apps(persona: PersonaSpec) -> dict[str, str]:
    return {app: file.sha256 for app, file in persona.app_data.items() if app != CLOCK}


def apps_before(session: Session, persona: PersonaSpec) -> dict[str, str]:
    """The apps to resume from: those after the run's last turn, up to this session's, or at the run's start."""
    seeds = initial_apps(persona)
    if not seeds and not any("__" in name for name in persona.tools):
        return {}
    found = snapshot_after(session)
    return seeds | (found.apps if found else {})


def load_apps(hashes: AppHashes, persona: PersonaSpec, task_id: str) -> AppStates:
    """With the clock where it stands for the task, or for the episode. Raises MissingContentError and
    ClockUnreadableError."""
    clock = persona.app_data.get(CLOCK)
    ready = _made_ready(hashes, initial_apps(persona))
    wanted = [*(ready.get(app, sha) for app, sha in hashes.items()), *([clock.sha256] if clock else [])]
    stored = Blob.objects.read(wanted) if wanted else {}
    stored |= {hashes[app]: stored[sha] for app, sha in ready.items() if sha in stored}
    if gone := [sha for app, sha in hashes.items() if sha not in stored]:
        stored |= Blob.objects.read(gone)
    for app, sha in hashes.items():
        if sha not in stored:
            raise MissingContentError(f"The data of the app {app} is not stored.")
    try:
        now = read_clock(stored.get(clock.sha256, b""), task_id) if clock else None
    except ClockError as error:
        raise ClockUnreadableError(f"The persona's {path_of(CLOCK)} cannot be read. {error}") from None
    return AppStates(dict(hashes), {app: stored[sha] for app, sha in hashes.items()}, now)


def _made_ready(hashes: AppHashes, seeds: AppHashes) -> dict[str, str]:
    """App → sha256 of what to read in place of the persona's data, for the apps that still are as it says."""
    asked = [(app, sha) for app, sha in hashes.items() if seeds.get(app) == sha]
    if unknown := [sha for app, sha in asked if (app, sha) not in _ready]:
        if len(_ready) > MOST_KNOWN:
            _ready.clear()
        rows = ReadyAppData.objects.filter(seed__in=unknown, form=FORM).values_list("app", "seed", "state")
        _ready.update({(app, sha): state for app, sha, state in rows})
    return {app: _ready[app, sha] for app, sha in asked if (app, sha) in _ready}

"""The evidence map: each hidden intent against where an agent can recover it and what scores it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from studio.domain.task import HiddenIntent, Recovery, RecoveryKind, TaskSpec

SOURCE_KINDS: tuple[RecoveryKind, ...] = ("profile", "session", "file", "tool", "memory", "question")
"""The columns of the map, from what lies nearest to what costs the user a turn."""


@dataclass(frozen=True)
class ScriptKey:
    """One check of the grader script, as ``metadata.grader_keys`` describes it."""

    name: str
    about: str
    follows_from: tuple[int, ...]
    """1-based intents."""


@dataclass(frozen=True)
class IntentEvidence:
    """One row of the map."""

    number: int
    intent: HiddenIntent
    places: tuple[Recovery, ...]
    unknown: tuple[Recovery, ...]
    """Places of ``places`` that name an earlier session, a file or a tool that is not there."""
    items: tuple[int, ...]
    """1-based checklist items that follow from it."""
    keys: tuple[str, ...]
    """Checks of the grader script that follow from it."""

    @property
    def kinds(self) -> frozenset[RecoveryKind]:
        return frozenset(place.kind for place in self.places if place not in self.unknown)

    @property
    def is_recoverable(self) -> bool:
        return bool(self.kinds)

    @property
    def is_scored(self) -> bool:
        return bool(self.items or self.keys)


@dataclass(frozen=True)
class EvidenceMap:
    rows: tuple[IntentEvidence, ...]
    loose_items: tuple[int, ...]
    """1-based items with a criterion that follow from no intent. Not a fault by itself: the request may ask for it."""
    loose_keys: tuple[str, ...]
    """Likewise of the script's checks."""
    is_setup: bool
    """Nothing is scored in this task, so an intent without an item is no gap."""

    @property
    def lost(self) -> tuple[int, ...]:
        """Intents that nothing lets an agent recover."""
        return tuple(row.number for row in self.rows if not row.is_recoverable)

    @property
    def unscored(self) -> tuple[int, ...]:
        """Intents that change no score; none in a setup task."""
        return () if self.is_setup else tuple(row.number for row in self.rows if not row.is_scored)


def build_evidence_map(
    task: TaskSpec, *, earlier: Collection[str] | None = None, tools: Collection[str] | None = None
) -> EvidenceMap:
    """The map of a task. ``earlier`` are ids of the sessions before it and ``tools`` the names of the persona's;
    None: not known, so nothing is said against a place that names one."""
    files = {file.path for file in task.assets}
    rows = []
    keys = tuple(script_keys(task))
    followers: dict[str, list[int]] = {}
    for place, item in enumerate(task.checklist, 1):
        for uid in dict.fromkeys(item.follows_from) if item.criterion.strip() else ():
            followers.setdefault(uid, []).append(place)
    for number, intent in enumerate(task.intents, 1):
        unknown = tuple(
            place
            for place in intent.recoverable_from
            if place.ref.strip() and not _is_there(place, files=files, earlier=earlier, tools=tools)
        )
        own = tuple(key.name for key in keys if number in key.follows_from)
        items = tuple(followers.get(intent.uid, ()))
        rows.append(IntentEvidence(number, intent, intent.recoverable_from, unknown, items, own))
    uids = {intent.uid for intent in task.intents}
    return EvidenceMap(
        rows=tuple(rows),
        loose_items=tuple(
            place
            for place, item in enumerate(task.checklist, 1)
            if item.criterion.strip() and not uids.intersection(item.follows_from)
        ),
        loose_keys=tuple(key.name for key in keys if not any(0 < at <= len(task.intents) for at in key.follows_from)),
        is_setup=task.is_setup,
    )


def script_keys(task: TaskSpec) -> Iterator[ScriptKey]:
    """What ``metadata.grader_keys`` says of the script's checks; nothing where it is not as it should be."""
    described = task.metadata.get("grader_keys")
    if not task.grader_script or not isinstance(described, dict):
        return
    for name, value in described.items():
        about = value.get("says", "") if isinstance(value, dict) else value
        follows = value.get("follows_from", ()) if isinstance(value, dict) else ()
        numbers = follows if isinstance(follows, list) else ()
        yield ScriptKey(
            str(name),
            about if isinstance(about, str) else "",
            tuple(one for one in numbers if isinstance(one, int) and not isinstance(one, bool)),
        )


def _is_there(
    place: Recovery,
    *,
    files: Collection[str],
    earlier: Collection[str] | None,
    tools: Collection[str] | None,
) -> bool:
    """A file that an earlier session leaves cannot be told from one that is missing: only bare names of this task's
    folder are looked for where no earlier session could have written it."""
    if place.kind == "session":
        return earlier is None or place.ref in earlier
    if place.kind == "tool":
        return tools is None or place.ref.split(".")[0] in tools
    if place.kind == "file":
        return place.ref in files or earlier is None or bool(earlier)
    return True

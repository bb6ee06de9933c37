"""The evidence map: where an agent can recover each hidden intent, and what scores it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from studio.domain.task import HiddenIntent, Recovery, RecoveryKind, TaskSpec


@dataclass(frozen=True)
class ScriptKey:
    """A check of the grader script as described in ``metadata.grader_keys``."""

    name: str
    about: str
    follows_from: tuple[int, ...]
    """1-based intents."""


@dataclass(frozen=True)
class IntentEvidence:
    number: int
    intent: HiddenIntent
    sources: tuple[Recovery, ...]
    missing: tuple[Recovery, ...]
    """Those of ``sources`` that name an earlier task, file or tool that does not exist."""
    items: tuple[int, ...]
    """1-based checklist items that follow from it."""
    keys: tuple[str, ...]
    """Names of the grader script's checks that follow from it."""

    @property
    def kinds(self) -> frozenset[RecoveryKind]:
        return frozenset(source.kind for source in self.sources if source not in self.missing)

    @property
    def is_recoverable(self) -> bool:
        return bool(self.kinds)

    @property
    def is_scored(self) -> bool:
        return bool(self.items or self.keys)


@dataclass(frozen=True)
class EvidenceMap:
    rows: tuple[IntentEvidence, ...]
    unlinked_items: tuple[int, ...]
    """1-based items with a criterion that follow from no intent. Not always a fault: the request may ask for it."""
    unlinked_keys: tuple[str, ...]
    """Likewise for the grader script's checks."""
    is_setup: bool
    """Nothing is scored in this task, so an intent without an item is not a gap."""

    @property
    def unrecoverable(self) -> tuple[int, ...]:
        return tuple(row.number for row in self.rows if not row.is_recoverable)

    @property
    def unscored(self) -> tuple[int, ...]:
        """1-based intents without an effect on the score; none in a setup task."""
        return () if self.is_setup else tuple(row.number for row in self.rows if not row.is_scored)


def build_evidence_map(
    task: TaskSpec, *, earlier: Collection[str] | None = None, tools: Collection[str] | None = None
) -> EvidenceMap:
    """``earlier`` are the ids of the tasks before it, ``tools`` the names of the persona's tools. None means unknown:
    sources that name one are then assumed to exist."""
    files = {file.path for file in task.assets}
    rows = []
    keys = tuple(script_keys(task))
    items_by_intent: dict[str, list[int]] = {}
    for position, item in enumerate(task.checklist, 1):
        for uid in dict.fromkeys(item.follows_from) if item.criterion.strip() else ():
            items_by_intent.setdefault(uid, []).append(position)
    for number, intent in enumerate(task.intents, 1):
        missing = tuple(
            source
            for source in intent.recoverable_from
            if source.ref.strip() and not _exists(source, files=files, earlier=earlier, tools=tools)
        )
        key_names = tuple(key.name for key in keys if number in key.follows_from)
        items = tuple(items_by_intent.get(intent.uid, ()))
        rows.append(IntentEvidence(number, intent, intent.recoverable_from, missing, items, key_names))
    uids = {intent.uid for intent in task.intents}
    return EvidenceMap(
        rows=tuple(rows),
        unlinked_items=tuple(
            position
            for position, item in enumerate(task.checklist, 1)
            if item.criterion.strip() and not uids.intersection(item.follows_from)
        ),
        unlinked_keys=tuple(key.name for key in keys if not any(0 < n <= len(task.intents) for n in key.follows_from)),
        is_setup=task.is_setup,
    )


def script_keys(task: TaskSpec) -> Iterator[ScriptKey]:
    """The checks described in ``metadata.grader_keys``; malformed metadata is ignored."""
    descriptions = task.metadata.get("grader_keys")
    if not task.grader_script or not isinstance(descriptions, dict):
        return
    for name, value in descriptions.items():
        about = value.get("says", "") if isinstance(value, dict) else value
        follows = value.get("follows_from", ()) if isinstance(value, dict) else ()
        numbers = follows if isinstance(follows, list) else ()
        yield ScriptKey(
            str(name),
            about if isinstance(about, str) else "",
            tuple(number for number in numbers if isinstance(number, int) and not isinstance(number, bool)),
        )


def _exists(
    source: Recovery,
    *,
    files: Collection[str],
    earlier: Collection[str] | None,
    tools: Collection[str] | None,
) -> bool:
    """A file counts as missing only if there is no earlier task that could have written it."""
    if source.kind == "session":
        return earlier is None or source.ref in earlier
    if source.kind == "tool":
        return tools is None or source.ref.split(".")[0] in tools
    if source.kind == "file":
        return source.ref in files or earlier is None or bool(earlier)
    return True

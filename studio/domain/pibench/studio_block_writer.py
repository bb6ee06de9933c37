"""Writes the ``studio:`` block: facts π-Bench v2 has no field for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studio.domain.episode import GroupSpec, Split
from studio.domain.persona import PersonaSpec
from studio.domain.pibench.artifacts import encode_artifacts
from studio.domain.pibench.encoding import Encoded, get_key, pairs_of, remove_key, set_key
from studio.domain.pibench.studio_block import KEY, PERSONA_KEYS
from studio.domain.task import TaskSpec


def task_block(spec: TaskSpec, *, uids: bool) -> dict[str, Encoded]:
    positions = {intent.uid: position for position, intent in enumerate(spec.intents, 1)}
    trigger: dict[str, Encoded] = {}
    if spec.trigger.kind not in ("user_message", "webhook") or spec.trigger.payload:
        trigger = _without_defaults({"kind": spec.trigger.kind, "payload": spec.trigger.payload})
    intents = [
        _without_defaults(
            {
                "uid": intent.uid if uids else "",
                "scope": intent.scope if intent.scope != "session_local" else "",
                "recoverable_from": [_without_defaults(source.to_json()) for source in intent.recoverable_from],
            }
        )
        if uids or intent.recoverable_from or intent.scope != "session_local"
        else {}
        for intent in spec.intents
    ]
    items = [
        _without_defaults(
            {
                "uid": item.uid if uids else "",
                "grader": item.grader if item.grader != "rubric" else "",
                "rule": _without_defaults(item.rule.to_json()) if item.rule else {},
                "evidence": list(item.evidence),
                "follows_from": [positions[uid] for uid in item.follows_from if uid in positions],
            }
        )
        if uids or item.rule or item.evidence or item.follows_from or item.grader != "rubric"
        else {}
        for item in spec.checklist
    ]
    return _without_defaults(
        {
            "category": spec.category,
            "group": spec.group,
            "trigger": trigger,
            "intents": _with_positions(intents),
            "checklist": _with_positions(items),
            "carries_over": _without_defaults({d.task_id: d.carries_over for d in spec.depends_on}),
            "assets": _without_defaults({file.path: file.description for file in spec.assets}),
            "tools": list(spec.tools),
            "skills": list(spec.skills),
            "reference_workflow": spec.reference_workflow,
            "expected_artifacts": encode_artifacts(spec.expected_artifacts),
        }
    )


def persona_block(spec: PersonaSpec) -> dict[str, Encoded]:
    return _without_defaults({key: getattr(spec, key) for key in PERSONA_KEYS})


def episode_block(groups: Sequence[GroupSpec], splits: Mapping[str, Split]) -> dict[str, Encoded]:
    return _without_defaults(
        {
            "groups": {group.name: group.carries_over for group in groups},
            "splits": {name: split.value for name, split in splits.items()},
        }
    )


def set_block(raw: Encoded, facts: Mapping[str, Any], known: Sequence[str]) -> Encoded:
    """Replaces the known facts of a document's block; unknown keys are preserved."""
    block = get_key(raw, KEY)
    block = block if pairs_of(block) is not None else {}
    for key in known:
        if key in facts:
            block = set_key(block, key, facts[key])
        elif any(name == key for name, _ in pairs_of(block) or []):
            block = remove_key(block, key)
    return set_key(raw, KEY, block) if block else remove_key(raw, KEY)


def has_uids(source: Encoded) -> bool:
    """Documents with uids keep them; others are written without."""
    block = get_key(source, KEY)
    return any(
        get_key(entry, "uid") is not None for key in ("intents", "checklist") for entry in (get_key(block, key) or [])
    )


def _without_defaults(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value not in ("", [], {}, None)}


def _with_positions(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"position": position, **entry} for position, entry in enumerate(entries, 1) if entry]

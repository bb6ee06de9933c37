"""Reads and writes the ``studio:`` block: facts π-Bench v2 has no field for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast, get_args

from pydantic import ValidationError

from studio.domain.base import Spec
from studio.domain.episode import GroupSpec, Split
from studio.domain.persona import PersonaSpec
from studio.domain.pibench.artifacts import encode_artifacts, read_artifacts
from studio.domain.pibench.encoding import Encoded, get_key, pairs_of, remove_key, set_key
from studio.domain.pibench.nodes import ID_LENGTH, Node, node_of
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    GraderKind,
    HiddenIntent,
    Recovery,
    Scope,
    TaskSpec,
    Trigger,
    TriggerKind,
)
from studio.domain.uids import uid_of

KEY = "studio"
PERSONA_TEXTS = ("name", "occupation", "routines", "working_style")
PERSONA_KEYS = (*PERSONA_TEXTS, "attributes")
TASK_KEYS = (
    *("category", "group", "trigger", "intents", "checklist", "carries_over", "assets", "tools", "skills"),
    *("reference_workflow", "expected_artifacts"),
)
EPISODE_KEYS = ("groups", "splits")

SpecT = TypeVar("SpecT", bound=Spec)


def apply_task_block(spec: TaskSpec, root: Node) -> TaskSpec:
    """The task with its block's facts, except what is added once dependencies, assets and references are known."""
    block = root.mapping(KEY)
    block.warn_unknown(*TASK_KEYS, where=KEY)
    entries = _entries_by_position(block, "intents", spec.intents, "scope", "recoverable_from")
    intents = tuple(_intent(intent, entries.get(n)) for n, intent in enumerate(spec.intents, 1))
    entries = _entries_by_position(block, "checklist", spec.checklist, "grader", "rule", "evidence", "follows_from")
    return spec.model_copy(
        update={
            "intents": intents,
            "category": block.text("category", "studio.category", 20).strip(),
            "group": block.text("group", "studio.group", ID_LENGTH),
            "trigger": _trigger(spec.trigger, block),
            "checklist": tuple(_item(item, entries.get(n), intents) for n, item in enumerate(spec.checklist, 1)),
            "tools": block.texts("tools", "studio.tools"),
            "skills": block.texts("skills", "studio.skills"),
            "reference_workflow": block.text("reference_workflow", "studio.reference_workflow"),
            "expected_artifacts": read_artifacts(block),
        }
    )


def apply_dependency_and_asset_notes(spec: TaskSpec, root: Node) -> TaskSpec:
    """``carries_over`` and the descriptions of assets, for a task that has its dependencies and assets."""
    block = node_of(get_key(root.value, KEY))
    carries, about = block.mapping("carries_over"), block.mapping("assets")
    needs = (Dependency(task_id=d.task_id, carries_over=carries.text(d.task_id)) for d in spec.depends_on)
    assets = (file.model_copy(update={"description": about.text(file.path)}) for file in spec.assets)
    return spec.model_copy(update={"depends_on": tuple(needs), "assets": tuple(assets)})


def apply_persona_block(spec: PersonaSpec, root: Node) -> PersonaSpec:
    block = root.mapping(KEY)
    block.warn_unknown(*PERSONA_KEYS, where=KEY)
    longest = {"name": ID_LENGTH}
    texts = {key: block.text(key, f"studio.{key}", longest.get(key)) for key in PERSONA_TEXTS}
    return spec.model_copy(update={**texts, "attributes": block.free_mapping("attributes")})


def read_episode_block(root: Node) -> tuple[tuple[GroupSpec, ...], dict[str, Split]]:
    """Groups, and splits by task id, without public tasks. A split that is not understood is an error: it may have held
    a task out."""
    block = root.mapping(KEY)
    block.warn_unknown(*EPISODE_KEYS, where=KEY)
    node = block.mapping("groups", "studio.groups")
    groups = {}
    for key in node.keys:
        name = key.as_text("studio.groups", ID_LENGTH)
        groups[name] = node.text(name, f"studio.groups.{name}")
    splits = {}
    for key, value in block.mapping("splits", "studio.splits").pairs:
        name = key.as_text("studio.splits", ID_LENGTH)
        if value.value not in tuple(Split):
            value.error(f"studio.splits: the split of “{name}” is unknown.", f"Write one of: {', '.join(Split)}.")
        elif value.value != Split.PUBLIC:
            splits[name] = Split(value.value)
    return tuple(GroupSpec(name=name, carries_over=text) for name, text in groups.items() if text), splits


def _entries_by_position(block: Node, key: str, rows: Sequence[Spec], *known: str) -> dict[int, Node]:
    entries: dict[int, Node] = {}
    for index, entry in enumerate(block.sequence(key, f"studio.{key}"), 1):
        name = f"studio.{key}[{index}]"
        entry = entry.as_mapping(name)
        entry.warn_unknown("position", "uid", *known, where=name)
        node = entry.get("position")
        position = index if node is None else node.value
        if type(position) is not int or not 1 <= position <= len(rows):
            message = f"{name} refers to position “{position}”, and there are {len(rows)} entries."
            (node or entry).error(message, "Give the 1-based position of the entry it belongs to.")
        elif position in entries:
            (node or entry).error(f"{name} refers to position {position} again.", "Put both into one entry.")
        else:
            entries[position] = entry
    return entries


def _intent(intent: HiddenIntent, entry: Node | None) -> HiddenIntent:
    if entry is None:
        return intent
    sources = [_parse_model(Recovery, node, "recoverable_from") for node in entry.sequence("recoverable_from")]
    return intent.model_copy(
        update={
            "uid": _uid(intent.uid, entry),
            "scope": entry.choice("scope", get_args(Scope)),
            "recoverable_from": tuple(source for source in sources if source is not None),
        }
    )


def _item(item: ChecklistItem, entry: Node | None, intents: Sequence[HiddenIntent]) -> ChecklistItem:
    if entry is None:
        return item
    rule = entry.given("rule")
    return item.model_copy(
        update={
            "uid": _uid(item.uid, entry),
            "grader": entry.choice("grader", get_args(GraderKind)),
            "rule": _parse_model(ExactCheck, rule, "rule") if rule else None,
            "evidence": entry.texts("evidence"),
            "follows_from": _followed_intents(entry, intents),
        }
    )


def _followed_intents(entry: Node, intents: Sequence[HiddenIntent]) -> tuple[str, ...]:
    known = [intent.uid for intent in intents]
    uids = set()
    for node in entry.sequence("follows_from"):
        value = node.value
        if type(value) is int and 1 <= value <= len(known):
            uids.add(known[value - 1])
        elif isinstance(value, str) and uid_of(value) in known:
            uids.add(uid_of(value))
        else:
            node.error(f"follows_from names “{value}”, which is no intent.", "Give the intent's 1-based position.")
    return tuple(uid for uid in known if uid in uids)


def _trigger(trigger: Trigger, block: Node) -> Trigger:
    entry = block.mapping("trigger", "studio.trigger")
    entry.warn_unknown("kind", "payload", where="studio.trigger")
    if entry.get("kind") is None and entry.get("payload") is None:
        return trigger
    kind = entry.choice("kind", get_args(TriggerKind)) if entry.get("kind") else trigger.kind
    return Trigger(kind=cast(TriggerKind, kind), payload=entry.free_mapping("payload"))


def _uid(uid: str, entry: Node) -> str:
    written = entry.text("uid").strip()
    return uid_of(written) if written else uid


def _parse_model(model: type[SpecT], node: Node, name: str) -> SpecT | None:
    try:
        return model.model_validate(node.value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        node.error(f"{name} cannot be read: {where}: {first['msg']}.", "Correct or remove the entry.")
        return None


def task_block(spec: TaskSpec, *, uids: bool) -> dict[str, Encoded]:
    positions = {intent.uid: position for position, intent in enumerate(spec.intents, 1)}
    trigger: dict[str, Encoded] = {}
    if spec.trigger.kind not in ("user_message", "webhook") or spec.trigger.payload:
        trigger = _without_defaults({"kind": spec.trigger.kind, "payload": spec.trigger.payload})
    intents = [
        {
            "uid": intent.uid if uids else "",
            "scope": intent.scope if intent.scope != "session_local" else "",
            "recoverable_from": [_without_defaults(source.to_json()) for source in intent.recoverable_from],
        }
        for intent in spec.intents
    ]
    items = [
        {
            "uid": item.uid if uids else "",
            "grader": item.grader if item.grader != "rubric" else "",
            "rule": _without_defaults(item.rule.to_json()) if item.rule else {},
            "evidence": list(item.evidence),
            "follows_from": [positions[uid] for uid in item.follows_from if uid in positions],
        }
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
    notes = {group.name: group.carries_over for group in groups}
    return _without_defaults({"groups": notes, "splits": {name: split.value for name, split in splits.items()}})


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


def _with_positions(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    told = enumerate(map(_without_defaults, entries), 1)
    return [{"position": position, **entry} for position, entry in told if entry]

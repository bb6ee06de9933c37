"""Reads the ``studio:`` block: facts π-Bench v2 has no field for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast, get_args

from pydantic import ValidationError

from studio.domain.base import FileRef, Spec
from studio.domain.episode import GroupSpec, Split
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import fields
from studio.domain.pibench.artifacts import (
    read_artifacts,
    with_placeholder_references,
    with_references,
)
from studio.domain.pibench.nodes import Node
from studio.domain.problems import Report
from studio.domain.task import (
    ChecklistItem,
    Dependency,
    ExactCheck,
    HiddenIntent,
    Recovery,
    TaskSpec,
    Trigger,
    TriggerKind,
)
from studio.domain.uids import uid_of

KEY = "studio"
PERSONA_TEXTS = ("name", "occupation", "routines", "working_style")
PERSONA_KEYS = (*PERSONA_TEXTS, "attributes")
TASK_KEYS = (
    "category",
    "group",
    "trigger",
    "intents",
    "checklist",
    "carries_over",
    "assets",
    "tools",
    "skills",
    "reference_workflow",
    "expected_artifacts",
)
EPISODE_KEYS = ("groups", "splits")
INTENT_KEYS = ("position", "uid", "scope", "recoverable_from")
ITEM_KEYS = ("position", "uid", "grader", "rule", "evidence", "follows_from")

SpecT = TypeVar("SpecT", bound=Spec)

RowT = TypeVar("RowT", HiddenIntent, ChecklistItem)


def apply_task_block(spec: TaskSpec, root: Node, report: Report) -> TaskSpec:
    """The task with its block's facts, except what is added once dependencies, assets and references are known."""
    block = fields.mapping_at(root, KEY, report)
    fields.warn_unknown(block, TASK_KEYS, report, where=KEY)
    intents = _entries_by_position(block, "intents", spec.intents, INTENT_KEYS, report)
    spec = spec.model_copy(
        update={"intents": tuple(_intent(intent, intents.get(n), report) for n, intent in enumerate(spec.intents, 1))}
    )
    items = _entries_by_position(block, "checklist", spec.checklist, ITEM_KEYS, report)
    return spec.model_copy(
        update={
            "category": fields.text_at(block, "category", report, name="studio.category", longest=20).strip(),
            "group": fields.text_at(block, "group", report, name="studio.group", longest=fields.ID_LENGTH),
            "trigger": _trigger(spec.trigger, block, report),
            "checklist": tuple(
                _item(item, items.get(n), spec.intents, report) for n, item in enumerate(spec.checklist, 1)
            ),
            "tools": fields.text_list(block, "tools", report, name="studio.tools"),
            "skills": fields.text_list(block, "skills", report, name="studio.skills"),
            "reference_workflow": fields.text_at(block, "reference_workflow", report, name="studio.reference_workflow"),
            "expected_artifacts": read_artifacts(block, report),
        }
    )


def apply_dependency_and_asset_notes(spec: TaskSpec, root: Node) -> TaskSpec:
    """``carries_over`` and the descriptions of assets, for a task that has its dependencies and assets."""
    quiet = Report("")
    block = fields.mapping_at(root, KEY, quiet)
    carries = fields.mapping_at(block, "carries_over", quiet)
    about = fields.mapping_at(block, "assets", quiet)
    return spec.model_copy(
        update={
            "depends_on": tuple(
                Dependency(task_id=d.task_id, carries_over=fields.text_at(carries, d.task_id, quiet))
                for d in spec.depends_on
            ),
            "assets": tuple(
                file.model_copy(update={"description": fields.text_at(about, file.path, quiet)}) for file in spec.assets
            ),
        }
    )


def with_listed_references(spec: TaskSpec, root: Node) -> TaskSpec:
    """Marks references as the block lists them, without their contents."""
    return with_placeholder_references(spec, fields.mapping_at(root, KEY, Report("")))


def attach_references(spec: TaskSpec, root: Node, files: Mapping[str, FileRef], report: Report) -> TaskSpec:
    return with_references(spec, fields.mapping_at(root, KEY, Report("")), files, report)


def apply_persona_block(spec: PersonaSpec, root: Node, report: Report) -> PersonaSpec:
    block = fields.mapping_at(root, KEY, report)
    fields.warn_unknown(block, PERSONA_KEYS, report, where=KEY)
    longest = {"name": fields.ID_LENGTH}
    return spec.model_copy(
        update={
            **{
                key: fields.text_at(block, key, report, name=f"studio.{key}", longest=longest.get(key))
                for key in PERSONA_TEXTS
            },
            "attributes": fields.free_mapping(block, "attributes", report),
        }
    )


def read_groups(root: Node, report: Report) -> tuple[GroupSpec, ...]:
    block = fields.mapping_at(root, KEY, report)
    fields.warn_unknown(block, EPISODE_KEYS, report, where=KEY)
    node = fields.mapping_at(block, "groups", report, name="studio.groups")
    groups = {}
    for key in node.key_nodes():
        name = fields.node_text(key, "studio.groups", report, longest=fields.ID_LENGTH)
        groups[name] = fields.text_at(node, name, report, name=f"studio.groups.{name}")
    return tuple(GroupSpec(name=name, carries_over=text) for name, text in groups.items() if text)


def read_splits(root: Node, report: Report) -> dict[str, Split]:
    """By task id, without public tasks. What is not understood is an error: it may have held a task out."""
    node = fields.mapping_at(fields.mapping_at(root, KEY, Report("")), "splits", report, name="studio.splits")
    splits = {}
    for key, value in node.pairs:
        name = fields.node_text(key, "studio.splits", report, longest=fields.ID_LENGTH)
        if value.value not in tuple(Split):
            choices = ", ".join(Split)
            value.error(report, f"studio.splits: the split of “{name}” is unknown.", f"Write one of: {choices}.")
        elif value.value != Split.PUBLIC:
            splits[name] = Split(value.value)
    return splits


def _entries_by_position(
    block: Node, key: str, rows: Sequence[object], known: Sequence[str], report: Report
) -> dict[int, Node]:
    entries: dict[int, Node] = {}
    for index, entry in enumerate(fields.sequence_at(block, key, report, name=f"studio.{key}"), 1):
        name = f"studio.{key}[{index}]"
        entry = fields.as_mapping(entry, report, name)
        fields.warn_unknown(entry, known, report, where=name)
        node = entry.get("position")
        position = index if node is None else node.value
        if type(position) is not int or not 1 <= position <= len(rows):
            (node or entry).error(
                report,
                f"{name} refers to position “{position}”, and there are {len(rows)} entries.",
                "Give the 1-based position of the entry it belongs to.",
            )
        elif position in entries:
            (node or entry).error(report, f"{name} refers to position {position} again.", "Put both into one entry.")
        else:
            entries[position] = entry
    return entries


def _intent(intent: HiddenIntent, entry: Node | None, report: Report) -> HiddenIntent:
    if entry is None:
        return intent
    sources = [
        _parse_model(Recovery, node, report, "recoverable_from")
        for node in fields.sequence_at(entry, "recoverable_from", report)
    ]
    return intent.model_copy(
        update={
            "uid": _uid(intent, entry, report),
            "scope": _choice(entry, "scope", ("session_local", "persistent"), report),
            "recoverable_from": tuple(source for source in sources if source is not None),
        }
    )


def _item(item: ChecklistItem, entry: Node | None, intents: Sequence[HiddenIntent], report: Report) -> ChecklistItem:
    if entry is None:
        return item
    rule = entry.get("rule")
    return item.model_copy(
        update={
            "uid": _uid(item, entry, report),
            "grader": _choice(entry, "grader", ("rubric", "rule"), report),
            "rule": None if rule is None or rule.is_null else _parse_model(ExactCheck, rule, report, "rule"),
            "evidence": fields.text_list(entry, "evidence", report),
            "follows_from": _followed_intents(entry, intents, report),
        }
    )


def _followed_intents(entry: Node, intents: Sequence[HiddenIntent], report: Report) -> tuple[str, ...]:
    known = {intent.uid for intent in intents}
    uids = set()
    for node in fields.sequence_at(entry, "follows_from", report):
        value = node.value
        if type(value) is int and 1 <= value <= len(intents):
            uids.add(intents[value - 1].uid)
        elif isinstance(value, str) and uid_of(value) in known:
            uids.add(uid_of(value))
        else:
            node.error(
                report, f"follows_from names “{value}”, which is no intent.", "Give the intent's 1-based position."
            )
    return tuple(intent.uid for intent in intents if intent.uid in uids)


def _trigger(trigger: Trigger, block: Node, report: Report) -> Trigger:
    entry = fields.mapping_at(block, "trigger", report, name="studio.trigger")
    fields.warn_unknown(entry, ("kind", "payload"), report, where="studio.trigger")
    if entry.get("kind") is None and entry.get("payload") is None:
        return trigger
    kind = _choice(entry, "kind", get_args(TriggerKind), report) if entry.get("kind") else trigger.kind
    return Trigger(kind=cast(TriggerKind, kind), payload=fields.free_mapping(entry, "payload", report))


def _uid(item: RowT, entry: Node, report: Report) -> str:
    uid_text = fields.text_at(entry, "uid", report).strip()
    return uid_of(uid_text) if uid_text else item.uid


def _choice(entry: Node, key: str, allowed: Sequence[str], report: Report) -> str:
    """The value at ``key``; the first of ``allowed`` if absent or invalid."""
    node = entry.get(key)
    value = fields.text_at(entry, key, report).strip() or allowed[0]
    if value not in allowed:
        (node or entry).error(report, f"“{key}” is “{value}”.", f"Use one of {', '.join(allowed)}.")
        return allowed[0]
    return value


def _parse_model(model: type[SpecT], node: Node, report: Report, name: str) -> SpecT | None:
    try:
        return model.model_validate(node.value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        node.error(report, f"{name} cannot be read: {where}: {first['msg']}.", "Correct or remove the entry.")
        return None

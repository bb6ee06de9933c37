"""Writes episodes as folders of a π-Bench release: the imported documents with the changes made since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studio.domain.base import FileRef, is_same
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench.artifacts import reference_folder
from studio.domain.pibench.encoding import Encoded, encode_mapping, get_key, pairs_of, remove_key, set_key
from studio.domain.pibench.nodes import node_of
from studio.domain.pibench.persona_reader import read_episode, read_profile, read_tools
from studio.domain.pibench.studio_block import (
    EPISODE_KEYS,
    PERSONA_KEYS,
    TASK_KEYS,
    apply_dependency_and_asset_notes,
    episode_block,
    has_uids,
    persona_block,
    set_block,
    task_block,
)
from studio.domain.pibench.task_reader import TRIGGER_KINDS, read_task, read_tool_evidence
from studio.domain.pibench.yaml_writer import dump_yaml
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec, ToolEvidence

TEXTS = ("environment_id", "title", "description", "task_type")


def write_persona(episode: EpisodeSpec, contents: Mapping[str, bytes], *, root: str = "data/") -> dict[str, bytes]:
    """The persona's folder as bytes by path below ``root``. ``contents`` are file contents by sha256."""
    persona = episode.persona
    base = f"{root}{persona.user_id}/"
    files: dict[str, bytes] = {}

    def add_files(folder: str, refs: tuple[FileRef, ...]) -> None:
        for ref in refs:
            files[f"{base}{folder}{ref.path}"] = contents[ref.sha256]

    add_files("", persona.files)
    add_files("", persona.scripts)
    for skill in persona.skills:
        add_files(f"skills/{skill.name}/", skill.files)
    for task in (*episode.tasks, *episode.unplaced):
        add_files(f"tasks/{task.task_id}/", task.assets)
        add_files(reference_folder(task.task_id), task.references)
        files[f"{base}tasks/{task.task_id}/task.yaml"] = dump_yaml(task_document(task, persona.user_id))
    files[f"{base}profile.yaml"] = dump_yaml(profile_document(persona))
    files[f"{base}episode.yaml"] = dump_yaml(episode_document(episode))
    tools = tools_document(persona)
    if tools is not None:
        files[f"{base}tools.yaml"] = dump_yaml(tools)
    return dict(sorted(files.items()))


def profile_document(persona: PersonaSpec) -> Encoded:
    raw: Encoded = persona.profile_source or {
        "schema_version": "v2",
        "user_id": persona.user_id,
        "role": "",
        "preferences": {},
        "long_term_goals": [],
    }
    old = read_profile(node_of(raw), persona=persona.user_id)
    if old.role_text != persona.role_text:
        role = get_key(raw, "role")
        in_mapping = pairs_of(role) is not None
        raw = set_key(raw, "role", set_key(role, "role_text", persona.role_text) if in_mapping else persona.role_text)
    if not is_same(old.preferences, persona.preferences):
        raw = set_key(raw, "preferences", persona.preferences)
    if not is_same(list(old.long_term_goals), list(persona.long_term_goals)):
        raw = set_key(raw, "long_term_goals", list(persona.long_term_goals))
    facts = persona_block(persona)
    if facts != persona_block(old):
        raw = set_block(raw, facts, PERSONA_KEYS)
    return raw


def tools_document(persona: PersonaSpec) -> Encoded | None:
    raw = persona.tools_source
    if raw is None:
        return {"tool_names": list(persona.tools)} if persona.tools else None
    if read_tools(node_of(raw)) == persona.tools:
        return raw
    return list(persona.tools) if isinstance(raw, list) else set_key(raw, "tool_names", list(persona.tools))


def episode_document(episode: EpisodeSpec) -> Encoded:
    """Unchanged entries are preserved, skipped ones included."""
    user_id = episode.persona.user_id
    raw: Encoded = episode.source or {
        "schema_version": "v2",
        "episode_id": episode.episode_id,
        "user_id": user_id,
        "tasks": [],
    }
    old = read_episode(node_of(raw), persona=user_id)
    if old.episode_id != episode.episode_id:
        raw = set_key(raw, "episode_id", episode.episode_id)
    if old.docker_image_id != episode.docker_image_id:
        raw = set_key(raw, "runtime", set_key(get_key(raw, "runtime"), "docker_image_id", episode.docker_image_id))
    wanted = [(task.task_id, [d.task_id for d in task.depends_on]) for task in episode.tasks]
    names = {task.task_id.strip(): task.task_id for task in episode.tasks}
    current = [
        (names.get(entry.task_id, entry.task_id), [names.get(name, name) for name, _ in entry.depends_on])
        for entry in old.entries
    ]
    if current != wanted:
        entries = get_key(raw, "tasks")
        raw = set_key(raw, "tasks", _merge_entries(entries if isinstance(entries, list) else [], wanted, names))
    if (old.groups, old.splits) != (episode.groups, episode.splits):
        raw = set_block(raw, episode_block(episode.groups, episode.splits), EPISODE_KEYS)
    return raw


def _merge_entries(raw: list[Encoded], wanted: list[tuple[str, list[str]]], names: Mapping[str, str]) -> list[Encoded]:
    """The wanted entries; entries without a task stay after the one they followed."""
    by_task: dict[str, Encoded] = {}
    followers: dict[str, list[Encoded]] = {}
    last = ""
    for entry in raw:
        task_id = get_key(entry, "task_id")
        if pairs_of(entry) is not None and task_id is not None:
            last = names.get(str(task_id).strip(), str(task_id).strip())
            by_task.setdefault(last, entry)
        else:
            followers.setdefault(last, []).append(entry)
    entries = followers.pop("", [])
    for task_id, needed in wanted:
        entry = by_task.get(task_id, {"task_id": task_id, "depends_on": []})
        current = [names.get(str(name).strip(), str(name).strip()) for name in get_key(entry, "depends_on") or []]
        entries.append(entry if current == needed else set_key(entry, "depends_on", needed))
        entries += followers.pop(task_id, [])
    return entries + [entry for rest in followers.values() for entry in rest]


def task_document(spec: TaskSpec, persona: str) -> Encoded:
    """A raw value is preserved as long as reading it gives the current one."""
    raw: Encoded = spec.source or _skeleton(spec, persona)
    root = node_of(raw)
    old = read_task(root, persona=persona, task_id=spec.task_id)
    old = old.model_copy(update={"depends_on": spec.depends_on, "assets": spec.assets})
    old = apply_dependency_and_asset_notes(old, root)
    if old.user_id != spec.user_id and spec.user_id:
        raw = set_key(raw, "user_id", spec.user_id)
    for name in TEXTS:
        if getattr(old, name) != getattr(spec, name):
            raw = set_key(raw, name, getattr(spec, name))
    if old.trigger != spec.trigger:
        raw = _set_trigger(raw, spec)
    raw = _set_intent(raw, old, spec)
    raw = _set_objectives(raw, old, spec)
    if not is_same(old.metadata, spec.metadata):
        raw = set_key(raw, "metadata", spec.metadata)
    uids = not spec.source or has_uids(spec.source)
    block = task_block(spec, uids=uids)
    return set_block(raw, block, TASK_KEYS) if not is_same(block, task_block(old, uids=uids)) else raw


def _skeleton(spec: TaskSpec, persona: str) -> Encoded:
    return {
        "schema_version": "v2",
        "task_id": spec.task_id,
        "user_id": spec.user_id or persona,
        "environment_id": "",
        "title": "",
        "description": "",
        "task_type": "",
        "trigger": {"type": "user"},
        "intent": {"initial_input": "", "hidden_intent": []},
        **({"objectives": {}} if spec.checklist or spec.files_read or spec.tool_evidence or spec.grader_script else {}),
        "metadata": {},
    }


def _set_trigger(raw: Encoded, spec: TaskSpec) -> Encoded:
    """Only the format's own trigger type; kind and payload of a signal go into the ``studio`` block."""
    trigger = _mapping(raw, "trigger")
    by_user = spec.trigger.kind == "user_message"
    if (TRIGGER_KINDS.get(_text_at(trigger, "type").strip(), "user_message") == "user_message") == by_user:
        return raw
    return set_key(raw, "trigger", set_key(trigger, "type", "user" if by_user else "environmental_signal"))


def _set_intent(raw: Encoded, old: TaskSpec, spec: TaskSpec) -> Encoded:
    intent = _mapping(raw, "intent")
    if old.initial_request != spec.initial_request:
        intent = set_key(intent, "initial_input", spec.initial_request)
    if _intent_content(old.intents) != _intent_content(spec.intents):
        intent = set_key(intent, "hidden_intent", [_intent(item) for item in spec.intents])
    return set_key(raw, "intent", intent) if not is_same(intent, _mapping(raw, "intent")) else raw


def _intent_content(intents: Sequence[HiddenIntent]) -> list[tuple[Any, ...]]:
    return [(intent.content, intent.initial_status, repr(intent.source)) for intent in intents]


def _intent(intent: HiddenIntent) -> Encoded:
    raw: Encoded = intent.source or {"content": ""}
    if _text_at(raw, "content") != intent.content:
        raw = set_key(raw, "content", intent.content)
    status = get_key(raw, "status")
    if (str(status).strip() == "provided") != (intent.initial_status == "provided"):
        raw = set_key(raw, "status", intent.initial_status)
    return raw


def _set_objectives(raw: Encoded, old: TaskSpec, spec: TaskSpec) -> Encoded:
    objectives = before = _mapping(raw, "objectives")
    if _item_content(old.checklist) != _item_content(spec.checklist):
        objectives = _set_list(objectives, "checklist", [_item(item) for item in spec.checklist])
    if old.files_read != spec.files_read:
        objectives = _set_list(objectives, "files_read", list(spec.files_read))
    if repr(old.tool_evidence) != repr(spec.tool_evidence):
        objectives = _set_list(objectives, "tools", [_evidence(entry) for entry in spec.tool_evidence])
    if old.grader_script != spec.grader_script:
        key = "tools_evaluation_path"
        objectives = set_key(objectives, key, spec.grader_script) if spec.grader_script else remove_key(objectives, key)
    if is_same(objectives, before):
        return raw
    if get_key(raw, "objectives") is None and any(key == "metadata" for key, _ in pairs_of(raw) or []):
        raw = _insert_before(raw, "objectives", objectives, "metadata")
    return set_key(raw, "objectives", objectives)


def _item_content(items: Sequence[ChecklistItem]) -> list[tuple[Any, ...]]:
    return [(item.criterion, item.weight, repr(item.source)) for item in items]


def _item(item: ChecklistItem) -> Encoded:
    raw: Encoded = item.source or {"criterion": ""}
    if _text_at(raw, "criterion") != item.criterion:
        raw = set_key(raw, "criterion", item.criterion)
    if item.criterion.strip() and not _has_weight(get_key(raw, "weight"), item.weight):
        raw = set_key(raw, "weight", int(item.weight) if item.weight.is_integer() else item.weight)
    return raw


def _has_weight(raw: Encoded, weight: float) -> bool:
    if raw is None:
        return weight == 1
    try:
        return float(raw) == weight
    except (TypeError, ValueError):
        return False


def _evidence(entry: ToolEvidence) -> Encoded:
    """The imported form if it is still equivalent, otherwise the plain form."""
    if entry.source and read_tool_evidence(node_of({"tools": [entry.source]})) == (entry,):
        return entry.source
    return {entry.tool: {"call": list(entry.call), "result": list(entry.result)}}


def _set_list(mapping: Encoded, key: str, items: list[Encoded]) -> Encoded:
    return set_key(mapping, key, items) if items or get_key(mapping, key) is not None else mapping


def _insert_before(mapping: Encoded, key: str, value: Encoded, before: str) -> Encoded:
    pairs = [pair for pair in pairs_of(mapping) or [] if pair[0] != key]
    index = [name for name, _ in pairs].index(before)
    return encode_mapping([*pairs[:index], (key, value), *pairs[index:]])


def _text_at(raw: Encoded, key: str) -> str:
    return node_of(raw).text(key)


def _mapping(raw: Encoded, key: str) -> Encoded:
    value = get_key(raw, key)
    return value if pairs_of(value) is not None else {}

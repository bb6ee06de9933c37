"""Writes episodes as folders of a π-Bench release, preserving what was imported."""

from __future__ import annotations

from collections.abc import Mapping

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.pibench.artifacts import reference_folder
from studio.domain.pibench.encoding import Encoded, get_key, pairs_of, set_key
from studio.domain.pibench.nodes import node_of
from studio.domain.pibench.persona_reader import read_episode, read_profile, read_tools
from studio.domain.pibench.studio_block import EPISODE_KEYS, PERSONA_KEYS
from studio.domain.pibench.studio_block_writer import episode_block, persona_block, set_block
from studio.domain.pibench.task_writer import task_document
from studio.domain.pibench.yaml_writer import dump_yaml
from studio.domain.problems import Report


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
    old = read_profile(node_of(raw), Report(""), persona=persona.user_id)
    if old.role_text != persona.role_text:
        role = get_key(raw, "role")
        in_mapping = pairs_of(role) is not None
        raw = set_key(raw, "role", set_key(role, "role_text", persona.role_text) if in_mapping else persona.role_text)
    if differs(old.preferences, persona.preferences):
        raw = set_key(raw, "preferences", persona.preferences)
    if differs(list(old.long_term_goals), list(persona.long_term_goals)):
        raw = set_key(raw, "long_term_goals", list(persona.long_term_goals))
    facts = persona_block(persona)
    if facts != persona_block(old):
        raw = set_block(raw, facts, PERSONA_KEYS)
    return raw


def tools_document(persona: PersonaSpec) -> Encoded | None:
    raw = persona.tools_source
    if raw is None:
        return {"tool_names": list(persona.tools)} if persona.tools else None
    if read_tools(node_of(raw), Report("")) == persona.tools:
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
    old = read_episode(node_of(raw), Report(""), persona=user_id)
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


def differs(left: Encoded, right: Encoded) -> bool:
    """Also true if only the key order or the type of a number differs."""
    return repr(left) != repr(right)

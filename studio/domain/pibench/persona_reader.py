"""Reads ``profile.yaml``, ``tools.yaml`` and ``episode.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.domain.episode import GroupSpec, Split
from studio.domain.persona import PersonaSpec
from studio.domain.pibench import fields
from studio.domain.pibench.nodes import Node
from studio.domain.pibench.studio_block import apply_persona_block, read_groups, read_splits
from studio.domain.problems import Report

PROFILE_FILE_KEYS = ("schema_version", "user_id", "role", "preferences", "long_term_goals", "studio")
EPISODE_FILE_KEYS = ("schema_version", "episode_id", "user_id", "runtime", "tasks", "studio")


def read_profile(root: Node, report: Report, *, persona: str) -> PersonaSpec:
    """``persona`` is the folder's name. Tools and files are added by the caller."""
    if root.kind != "mapping":
        root.error(report, "The file is not a mapping.", "Start with “schema_version: v2” and the other keys below it.")
        return PersonaSpec(user_id=persona)
    fields.warn_unknown(root, PROFILE_FILE_KEYS, report)
    check_header(root, report, persona)
    role = root.get("role")
    if role is not None and role.kind == "mapping":
        fields.warn_unknown(role, ("role_text",), report, where="role")
        role_text = fields.text_at(role, "role_text", report, name="role.role_text")
    else:
        role_text = fields.text_at(root, "role", report)
    if not role_text.strip():
        (role or root).warn(report, "“role” is empty: nothing says who the user is.", "Describe the user in “role”.")
    spec = PersonaSpec(
        user_id=persona,
        role_text=role_text,
        preferences=fields.free_mapping(root, "preferences", report),
        long_term_goals=tuple(item.value for item in _goals(root, report)),
        profile_source=root.value,
    )
    return apply_persona_block(spec, root, report)


def read_tools(root: Node, report: Report) -> tuple[str, ...]:
    name = "tools.yaml"
    if root.kind == "mapping":
        fields.warn_unknown(root, ("tool_names", "schema_version", "user_id"), report)
        if root.get("tool_names") is None:
            root.warn(report, "“tool_names” is missing: the persona has no tools.", "List them under “tool_names”.")
        items, name = fields.sequence_at(root, "tool_names", report), "tool_names"
    elif root.kind == "sequence":
        items = root.items
    else:
        root.error(report, "The file is neither a list nor a mapping.", "List the tools under “tool_names”.")
        return ()
    tools: dict[str, None] = {}
    for position, item in enumerate(items, 1):
        tool = fields.node_text(item, f"{name}[{position}]", report, longest=fields.ID_LENGTH).strip()
        if not tool:
            item.warn(report, f"{name}[{position}] is empty; it is left out.", "Remove it.")
        elif tool in tools:
            item.warn(report, f"“{tool}” appears twice; it is used once.", "Remove one of the two.")
        else:
            tools[tool] = None
    return tuple(tools)


@dataclass(frozen=True)
class EpisodeEntry:
    """An entry of the episode: a task and its dependencies, trimmed, with their nodes."""

    task_id: str
    node: Node
    depends_on: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True)
class EpisodeFile:
    episode_id: str = ""
    docker_image_id: str = ""
    entries: tuple[EpisodeEntry, ...] = ()
    """Only entries with a task_id."""
    groups: tuple[GroupSpec, ...] = ()
    splits: Mapping[str, Split] = field(default_factory=dict)


def read_episode(root: Node, report: Report, *, persona: str) -> EpisodeFile:
    if root.kind != "mapping":
        root.error(report, "The file is not a mapping.", "Start with “schema_version: v2” and the other keys below it.")
        return EpisodeFile()
    fields.warn_unknown(root, EPISODE_FILE_KEYS, report)
    check_header(root, report, persona)
    runtime = fields.mapping_at(root, "runtime", report)
    if root.get("tasks") is None:
        root.warn(report, "“tasks” is missing: the episode is empty.", "List the tasks in the order they run.")
    entries = []
    for position, item in enumerate(fields.sequence_at(root, "tasks", report), 1):
        name = f"tasks[{position}]"
        if item.kind != "mapping":
            item.error(report, f"{name} is not a mapping.", "Write it as “- task_id: …”.")
        elif item.get("task_id") is None:
            item.warn(report, f"{name} has no task_id; it is kept and skipped.", "Name the task, or remove the entry.")
        else:
            entries.append(_entry(item, name, report))
    return EpisodeFile(
        episode_id=fields.text_at(root, "episode_id", report, longest=fields.ID_LENGTH),
        docker_image_id=fields.text_at(
            runtime, "docker_image_id", report, name="runtime.docker_image_id", longest=fields.PATH_LENGTH
        ),
        entries=tuple(entries),
        groups=read_groups(root, report),
        splits=read_splits(root, report),
    )


def _entry(item: Node, name: str, report: Report) -> EpisodeEntry:
    fields.warn_unknown(item, ("task_id", "depends_on"), report, where=name)
    task_id = fields.identifier_at(item, "task_id", report)
    node = item.get("task_id") or item
    if not task_id:
        node.error(report, f"{name}.task_id is empty.", "Name the task, or remove the line “task_id”.")
    dependencies = []
    for position, other in enumerate(fields.sequence_at(item, "depends_on", report, name=f"{name}.depends_on"), 1):
        value = fields.node_text(other, f"{name}.depends_on[{position}]", report, longest=fields.ID_LENGTH)
        if not value.strip():
            other.error(report, f"{name}.depends_on[{position}] is empty.", "Name the task, or remove the entry.")
        else:
            dependencies.append((value.strip(), other))
    return EpisodeEntry(task_id, node, tuple(dependencies))


def check_header(root: Node, report: Report, persona: str) -> None:
    """Odd values of ``schema_version`` and ``user_id`` are warnings, not errors."""
    version = root.get("schema_version")
    if version is None or version.value != "v2":
        (version or root).warn(report, "“schema_version” is not v2.", "Write “schema_version: v2”.")
    user_id = fields.identifier_at(root, "user_id", report)
    if user_id != persona.strip():
        (root.get("user_id") or root).warn(
            report,
            f"“user_id” is “{user_id}” and the folder is called “{persona}”; the folder's name is used.",
            "Make the two the same.",
        )


def _goals(root: Node, report: Report) -> Sequence[Node]:
    node = root.get("long_term_goals")
    if node is not None and node.kind != "sequence" and not node.is_null:
        node.warn(report, "“long_term_goals” is not a list; it is kept as one goal.", "Write it as a list.")
        return [node]
    return fields.sequence_at(root, "long_term_goals", report)

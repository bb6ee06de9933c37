"""Reads ``profile.yaml``, ``tools.yaml`` and ``episode.yaml``, and checks the order of an episode and its dependency
contract (PIBENCH.md, section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from studio.domain.episode import GroupSpec, Split
from studio.domain.persona import PersonaSpec
from studio.domain.pibench.nodes import ID_LENGTH, PATH_LENGTH, Node
from studio.domain.pibench.studio_block import KEY, apply_persona_block, read_episode_block
from studio.domain.pibench.task_reader import NO_MAPPING
from studio.domain.task import TaskSpec


def read_profile(root: Node, *, persona: str) -> PersonaSpec:
    """``persona`` is the folder's name. Tools and files are added by the caller."""
    if root.kind != "mapping":
        root.error(*NO_MAPPING)
        return PersonaSpec(user_id=persona)
    root.warn_unknown("schema_version", "user_id", "role", "preferences", "long_term_goals", KEY)
    _check_header(root, persona)
    role = root.get("role")
    if role is not None and role.kind == "mapping":
        role.warn_unknown("role_text", where="role")
        role_text = role.text("role_text", "role.role_text")
    else:
        role_text = root.text("role")
    if not role_text.strip():
        (role or root).warn("“role” is empty: nothing says who the user is.", "Describe the user in “role”.")
    spec = PersonaSpec(
        user_id=persona,
        role_text=role_text,
        preferences=root.free_mapping("preferences"),
        long_term_goals=tuple(item.value for item in _goals(root)),
        profile_source=root.value,
    )
    return apply_persona_block(spec, root)


def _goals(root: Node) -> Sequence[Node]:
    node = root.given("long_term_goals")
    if node is not None and node.kind != "sequence":
        node.warn("“long_term_goals” is not a list; it is kept as one goal.", "Write it as a list.")
        return [node]
    return root.sequence("long_term_goals")


def read_tools(root: Node) -> tuple[str, ...]:
    name = "tools.yaml"
    if root.kind == "mapping":
        root.warn_unknown("tool_names", "schema_version", "user_id")
        if root.get("tool_names") is None:
            root.warn("“tool_names” is missing: the persona has no tools.", "List them under “tool_names”.")
        items, name = root.sequence("tool_names"), "tool_names"
    elif root.kind == "sequence":
        items = root.items
    else:
        root.error("The file is neither a list nor a mapping.", "List the tools under “tool_names”.")
        return ()
    tools: dict[str, None] = {}
    for position, item in enumerate(items, 1):
        tool = item.as_text(f"{name}[{position}]", ID_LENGTH).strip()
        if not tool:
            item.warn(f"{name}[{position}] is empty; it is left out.", "Remove it.")
        elif tool in tools:
            item.warn(f"“{tool}” appears twice; it is used once.", "Remove one of the two.")
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


def read_episode(root: Node, *, persona: str) -> EpisodeFile:
    if root.kind != "mapping":
        root.error(*NO_MAPPING)
        return EpisodeFile()
    root.warn_unknown("schema_version", "episode_id", "user_id", "runtime", "tasks", KEY)
    _check_header(root, persona)
    runtime = root.mapping("runtime")
    if root.get("tasks") is None:
        root.warn("“tasks” is missing: the episode is empty.", "List the tasks in the order they run.")
    entries = []
    for position, item in enumerate(root.sequence("tasks"), 1):
        name = f"tasks[{position}]"
        if item.kind != "mapping":
            item.error(f"{name} is not a mapping.", "Write it as “- task_id: …”.")
        elif item.get("task_id") is None:
            item.warn(f"{name} has no task_id; it is kept and skipped.", "Name the task, or remove the entry.")
        else:
            entries.append(_entry(item, name))
    episode_id = root.text("episode_id", longest=ID_LENGTH)
    image = runtime.text("docker_image_id", "runtime.docker_image_id", PATH_LENGTH)
    return EpisodeFile(episode_id, image, tuple(entries), *read_episode_block(root))


def _entry(item: Node, name: str) -> EpisodeEntry:
    item.warn_unknown("task_id", "depends_on", where=name)
    task_id, node = item.identifier("task_id").strip(), item.get("task_id") or item
    if not task_id:
        node.error(f"{name}.task_id is empty.", "Name the task, or remove the line “task_id”.")
    dependencies = []
    for position, other in enumerate(item.sequence("depends_on", f"{name}.depends_on"), 1):
        where = f"{name}.depends_on[{position}]"
        if needed := other.as_text(where, ID_LENGTH).strip():
            dependencies.append((needed, other))
        else:
            other.error(f"{where} is empty.", "Name the task, or remove the entry.")
    return EpisodeEntry(task_id, node, tuple(dependencies))


def _check_header(root: Node, persona: str) -> None:
    """Odd values of ``schema_version`` and ``user_id`` are warnings, not errors."""
    version = root.get("schema_version")
    if version is None or version.value != "v2":
        (version or root).warn("“schema_version” is not v2.", "Write “schema_version: v2”.")
    user_id = root.identifier("user_id").strip()
    if user_id != persona.strip():
        message = f"“user_id” is “{user_id}” and the folder is called “{persona}”; the folder's name is used."
        (root.get("user_id") or root).warn(message, "Make the two the same.")


def check_contract(
    listed: EpisodeFile, tasks: Mapping[str, TaskSpec], broken: Set[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """The tasks in run order with their dependencies, by folder name; violations are reported as errors.

    What ``broken`` tasks score is unknown, so it is not checked.
    """
    folders = {task_id.strip(): task_id for task_id in tasks} | {task_id: task_id for task_id in tasks}
    positions: dict[str, int] = {}
    placements: list[tuple[str, EpisodeEntry]] = []
    for entry in listed.entries:
        folder = folders.get(entry.task_id)
        if folder is None and entry.task_id:
            fix = f"Add tasks/{entry.task_id}/task.yaml, correct the id, or remove the entry."
            entry.node.error(f"There is no task “{entry.task_id}”.", fix)
        elif folder in positions:
            entry.node.error(f"The task “{entry.task_id}” appears twice.", "Remove one of the two entries.")
        elif folder is not None:
            positions[folder] = len(placements)
            placements.append((folder, entry))
    return [(folder, _dependencies(folder, entry, positions, folders, tasks, broken)) for folder, entry in placements]


def _dependencies(
    folder: str,
    entry: EpisodeEntry,
    positions: Mapping[str, int],
    folders: Mapping[str, str],
    tasks: Mapping[str, TaskSpec],
    broken: Set[str],
) -> tuple[str, ...]:
    accepted: list[str] = []
    for name, node in entry.depends_on:
        other = folders.get(name)
        needs = f"“{folder}” depends on “{name}”"
        if other is None or other not in positions:
            node.error(f"{needs}, which the episode does not name.", "Name an earlier task.")
        elif other == folder:
            node.error(f"“{folder}” depends on itself.", "Remove this dependency.")
        elif other in accepted:
            node.error(f"{needs} twice.", "Remove one of the two.")
        elif positions[other] > positions[folder]:
            fix = "Move the entry of the one before the other, or remove this dependency."
            node.error(f"{needs}, which runs later.", fix)
        else:
            accepted.append(other)
            if other not in broken and not tasks[other].is_setup:
                fix = (
                    "A task that others build on has neither: move them to the task that depends on it, or remove this"
                )
                message = f"“{folder}” depends on “{other}”, which has criteria or a grader script of its own."
                node.error(message, f"{fix} dependency.")
    if accepted and folder not in broken and tasks[folder].is_setup:
        what = "depends on earlier tasks and has neither criteria nor a grader script: nothing scores it"
        entry.node.error(f"“{folder}” {what}.", "Add a checklist or a grader script, or remove its dependencies.")
    return tuple(accepted)

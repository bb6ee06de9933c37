"""Reads one persona's folder into an episode."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from studio.domain.base import FileRef
from studio.domain.episode import EpisodeSpec, Split, with_split
from studio.domain.persona import PersonaSpec, Skill
from studio.domain.pibench.artifacts import reference_folder, with_references
from studio.domain.pibench.nodes import ID_LENGTH, PATH_LENGTH, Node
from studio.domain.pibench.persona_reader import EpisodeFile, check_contract, read_episode, read_profile, read_tools
from studio.domain.pibench.reading import Reading
from studio.domain.pibench.studio_block import KEY, apply_dependency_and_asset_notes
from studio.domain.pibench.task_reader import read_task
from studio.domain.pibench.yaml_reader import parse_yaml
from studio.domain.plan import placed_task
from studio.domain.problems import Report
from studio.domain.splits import why_cut
from studio.domain.task import Dependency, TaskSpec

RUN_FOLDERS = (".history", ".result", ".eval_result")
"""Folders of a task left by earlier runs; never staged."""


class PersonaFolder:
    """``files`` are keyed by path below the persona's folder."""

    def __init__(
        self, persona: str, root: str, files: Mapping[str, bytes], reading: Reading, *, sound_only: bool = False
    ) -> None:
        self.persona = persona
        self.root = root
        self.files = files
        self.reading = reading
        self.sound_only = sound_only
        self.unassigned = set(files)
        """Paths not yet assigned a purpose."""

    def read(self) -> EpisodeSpec:
        self._check_names()
        profile_node, profile_report = self._document("profile.yaml", required=True)
        persona = PersonaSpec(user_id=self.persona)
        if profile_node is not None:
            persona = read_profile(profile_node, persona=self.persona)
        self.reading.add_report(profile_report)
        tools, tools_source = self._tools()
        episode_node, episode_report = self._document("episode.yaml", required=True)
        episode_file = EpisodeFile()
        if episode_node is not None:
            episode_file = read_episode(episode_node, persona=self.persona)
        tasks = self._tasks()
        if self.sound_only:
            episode_file = self._leave_out(tasks, episode_file)
        task_reports = {task_id: report for task_id, (_, _, report) in tasks.items()}
        run_order = check_contract(
            episode_file,
            {key: spec for key, (spec, _, _) in tasks.items()},
            {key for key, report in task_reports.items() if report.errors},
        )
        ordered = [
            _with_notes(
                tasks[key][0].model_copy(update={"depends_on": tuple(Dependency(task_id=name) for name in needed)}),
                tasks[key][1],
            )
            for key, needed in run_order
        ]
        unplaced = [
            _with_notes(spec, node) for key, (spec, node, _) in sorted(tasks.items()) if key not in dict(run_order)
        ]
        if episode_node is not None:
            for task in unplaced:
                task_reports[task.task_id].warn(
                    "No entry of episode.yaml names this task; it is kept and never runs.",
                    "Add it to the list of tasks in episode.yaml.",
                )
        skills = self._skills()
        scripts = self._assign(lambda path: path.startswith("scripts/") and path.endswith(".py"))
        self._check_scripts([*ordered, *unplaced], scripts, tasks)
        splits = _splits(episode_file, [*ordered, *unplaced], episode_report)
        for report in (episode_report, *task_reports.values()):
            self.reading.add_report(report)
        return EpisodeSpec(
            episode_id=episode_file.episode_id,
            docker_image_id=episode_file.docker_image_id,
            source=episode_node.value if episode_node is not None and episode_node.kind == "mapping" else {},
            persona=persona.model_copy(
                update={
                    "tools": tools,
                    "tools_source": tools_source,
                    "skills": skills,
                    "scripts": scripts,
                    "files": self._assign(),
                }
            ),
            tasks=tuple(ordered),
            unplaced=tuple(unplaced),
            groups=episode_file.groups,
            splits=splits,
        )

    def _leave_out(self, tasks: dict[str, tuple[TaskSpec, Node, Report]], listed: EpisodeFile) -> EpisodeFile:
        """Take the tasks with errors, and those that build on them, out of ``tasks`` and of the list."""
        folders = {task_id.strip(): task_id for task_id in tasks}
        out = {task_id for task_id, (_, _, report) in tasks.items() if report.errors}
        problems = [problem for task_id in sorted(out) for problem in tasks[task_id][2].errors]
        more = True
        while more:
            more = False
            for entry in listed.entries:
                task_id = folders.get(entry.task_id.strip(), entry.task_id)
                needed = next((name for name, _ in entry.depends_on if folders.get(name.strip(), name) in out), None)
                if needed and task_id not in out:
                    report = Report(f"{self.root}tasks/{task_id}/task.yaml")
                    report.error(f"It builds on “{needed}”, which is left out.", f"Correct “{needed}”.")
                    problems += report.errors
                    out.add(task_id)
                    more = True
        if not out:
            return listed
        self.reading.left_out += problems
        self.reading.tasks_left_out[self.persona] = out
        for task_id in out & tasks.keys():
            del tasks[task_id]
        trimmed = {task_id.strip() for task_id in out}
        return replace(
            listed,
            entries=tuple(entry for entry in listed.entries if entry.task_id.strip() not in trimmed),
            splits={name: split for name, split in listed.splits.items() if name.strip() not in trimmed},
        )

    def _check_names(self) -> None:
        report = Report(self.root)
        if len(self.persona) > ID_LENGTH:
            report.error(f"The folder's name has more than {ID_LENGTH} characters.", "Shorten it.")
        for path in self.files:
            if len(path) > PATH_LENGTH:
                report.error(f"The path “{path[:80]}…” has more than {PATH_LENGTH} characters.", "Shorten it.")
        self.reading.add_report(report)

    def _document(self, path: str, *, required: bool = False) -> tuple[Node | None, Report]:
        report = Report(self.root + path)
        self.unassigned.discard(path)
        if path in self.files:
            node = parse_yaml(self.files[path], report)
            if required and node is not None and node.kind == "mapping" and not node.pairs and not report.errors:
                node.error("The file is empty.", "Start with “schema_version: v2”.")
            return node, report
        if required:
            report.error("The file is missing.", "Add it; PIBENCH's layout needs it in every persona's folder.")
        return None, report

    def _tools(self) -> tuple[tuple[str, ...], object]:
        if not self.files.get("tools.yaml", b"").strip():
            report = Report(self.root + "tools.yaml")
            report.warn("There is no list of tools: the persona has none.", "List them in tools.yaml.")
            self.reading.add_report(report)
            return (), None
        node, report = self._document("tools.yaml")
        tools = read_tools(node) if node is not None else ()
        self.reading.add_report(report)
        return tools, node.value if node is not None else None

    def _tasks(self) -> dict[str, tuple[TaskSpec, Node, Report]]:
        folders: dict[str, list[str]] = {}
        for path in sorted(self.files):
            parts = path.split("/")
            if parts[0] == "tasks" and len(parts) >= 3:
                folders.setdefault(parts[1], []).append(path)
        tasks = {}
        for task_id, paths in folders.items():
            document = f"tasks/{task_id}/task.yaml"
            node, report = self._document(document)
            if document not in paths:
                report.warn("The folder has no task.yaml; its files are kept and not used.", "Add task.yaml.")
                self.reading.add_report(report)
                continue
            if len(task_id) > ID_LENGTH:
                report.error(f"The folder's name has more than {ID_LENGTH} characters.", "Shorten it.")
            if node is None:
                tasks[task_id] = (TaskSpec(task_id=task_id), Node("mapping", {}), report)
                continue
            spec = read_task(node, persona=self.persona, task_id=task_id)
            prefix = f"tasks/{task_id}/"
            assets = self._assign(partial(_belongs_to_task, prefix), prefix=prefix, among=paths)
            if assets:
                spec = spec.model_copy(update={"assets": assets})
            tasks[task_id] = (self._with_references(spec, node), node, report)
        return tasks

    def _with_references(self, spec: TaskSpec, node: Node) -> TaskSpec:
        """Unlisted files among the references are left to the persona's other files."""
        folder = reference_folder(spec.task_id)
        listed = {f"{folder}{path}" for path in spec.expected_paths}
        refs_by_path = {ref.path: ref for ref in self._refs(listed & self.unassigned)}
        spec = with_references(spec, node, {path.removeprefix(folder): ref for path, ref in refs_by_path.items()})
        self.unassigned.difference_update(f"{folder}{ref.path}" for ref in spec.references)
        for path in sorted(path for path in self.unassigned if path.startswith(folder)):
            unlisted = Report(self.root + path)
            unlisted.warn(
                f"The task “{spec.task_id}” does not list this reference; it is kept with the persona's other files.",
                "List it under “expected_artifacts” of the task's “studio” block, with “reference: true”.",
            )
            self.reading.add_report(unlisted)
        return spec

    def _skills(self) -> tuple[Skill, ...]:
        names = sorted(
            {path.split("/")[1] for path in self.unassigned if path.startswith("skills/") and path.count("/") > 1}
        )
        return tuple(Skill(name=name, files=self._assign(prefix=f"skills/{name}/")) for name in names)

    def _assign(
        self, matches: Callable[[str], bool] | None = None, *, prefix: str = "", among: Iterable[str] | None = None
    ) -> tuple[FileRef, ...]:
        """References to the unassigned files for which ``matches`` holds, by path below ``prefix``. ``among``: where
        they can be."""
        paths = self.unassigned if among is None else self.unassigned.intersection(among)
        assigned = sorted(path for path in paths if path.startswith(prefix) and (matches is None or matches(path)))
        self.unassigned.difference_update(assigned)
        return tuple(sorted(self._refs(assigned, prefix), key=lambda ref: ref.path))

    def _refs(self, paths: Iterable[str], prefix: str = "") -> Iterator[FileRef]:
        for path in paths:
            data = self.files[path]
            sha256 = hashlib.sha256(data).hexdigest()
            self.reading.contents[sha256] = data
            yield FileRef(path=path.removeprefix(prefix), sha256=sha256, size=len(data))

    def _check_scripts(
        self,
        tasks: Iterable[TaskSpec],
        scripts: Iterable[FileRef],
        tasks_read: Mapping[str, tuple[TaskSpec, Node, Report]],
    ) -> None:
        used = set()
        persona = PersonaSpec(user_id=self.persona, scripts=tuple(scripts))
        for task in tasks:
            if not task.grader_script:
                continue
            script = persona.script(task.grader_script)
            if script is None:
                root = tasks_read[task.task_id][1]
                objectives = root.get("objectives") or root
                message = f"The grader “{task.grader_script}” is not in the folder; its rule checks cannot be counted."
                fix = "Add the script, or remove “tools_evaluation_path”."
                (objectives.get("tools_evaluation_path") or objectives).warn(message, fix)
            else:
                used.add(script.path)
        for script in persona.scripts:
            if script.path not in used:
                report = Report(self.root + script.path)
                report.warn("No task names this grader.", "Name it in a task's “tools_evaluation_path”, or remove it.")
                self.reading.add_report(report)


def _splits(listed: EpisodeFile, tasks: Sequence[TaskSpec], report: Report) -> dict[str, Split]:
    """A name that fits no task is an error: it may have held one out."""
    folders = {task.task_id.strip(): task.task_id for task in tasks}
    splits: dict[str, Split] = {}
    for name, split in listed.splits.items():
        if (folder := folders.get(name.strip())) is None:
            report.error(
                f"studio.splits names “{name}”, and there is no such task.", "Correct the id, or remove the line."
            )
        else:
            splits[folder] = split
    if problem := why_cut(map(placed_task, tasks), splits, {}):
        report.error(f"studio.splits: {problem}", "Name all tasks of the group, with one split.")
    return with_split({}, splits)


def _with_notes(task: TaskSpec, root: Node) -> TaskSpec:
    return apply_dependency_and_asset_notes(task, root) if root.get(KEY) is not None else task


def _belongs_to_task(prefix: str, path: str) -> bool:
    return path.removeprefix(prefix).split("/")[0] not in RUN_FOLDERS

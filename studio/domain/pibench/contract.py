"""Checks the order of an episode and its dependency contract (PIBENCH.md, section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Set

from studio.domain.pibench.nodes import Node
from studio.domain.pibench.persona_reader import EpisodeEntry, EpisodeFile
from studio.domain.problems import Report
from studio.domain.task import TaskSpec


def check_contract(
    listed: EpisodeFile, tasks: Mapping[str, TaskSpec], broken: Set[str], report: Report
) -> list[tuple[str, tuple[str, ...]]]:
    """The tasks in run order with their dependencies, by folder name; violations are reported as errors.

    What ``broken`` tasks score is unknown, so it is not checked.
    """
    by_trimmed_id = {task_id.strip(): task_id for task_id in tasks}
    positions: dict[str, int] = {}
    placements: list[tuple[str, EpisodeEntry]] = []
    for entry in listed.entries:
        folder = entry.task_id if entry.task_id in tasks else by_trimmed_id.get(entry.task_id)
        if folder is None:
            if entry.task_id:
                entry.node.error(
                    report,
                    f"There is no task “{entry.task_id}”.",
                    f"Add tasks/{entry.task_id}/task.yaml, correct the id, or remove the entry.",
                )
        elif folder in positions:
            entry.node.error(report, f"The task “{entry.task_id}” appears twice.", "Remove one of the two entries.")
        else:
            positions[folder] = len(placements)
            placements.append((folder, entry))
    return [
        (folder, _dependencies(folder, entry, positions, by_trimmed_id, tasks, broken, report))
        for folder, entry in placements
    ]


def _dependencies(
    folder: str,
    entry: EpisodeEntry,
    positions: Mapping[str, int],
    by_trimmed_id: Mapping[str, str],
    tasks: Mapping[str, TaskSpec],
    broken: Set[str],
    report: Report,
) -> tuple[str, ...]:
    accepted: list[str] = []
    for name, node in entry.depends_on:
        other = name if name in tasks else by_trimmed_id.get(name)
        if other is None or other not in positions:
            node.error(
                report, f"“{folder}” depends on “{name}”, which the episode does not name.", "Name an earlier task."
            )
        elif other == folder:
            node.error(report, f"“{folder}” depends on itself.", "Remove this dependency.")
        elif other in accepted:
            node.error(report, f"“{folder}” depends on “{name}” twice.", "Remove one of the two.")
        elif positions[other] > positions[folder]:
            node.error(
                report,
                f"“{folder}” depends on “{name}”, which runs later.",
                "Move the entry of the one before the other, or remove this dependency.",
            )
        else:
            accepted.append(other)
            if other not in broken:
                _check_setup(folder, other, tasks[other], node, report)
    if accepted and folder not in broken and tasks[folder].is_setup:
        entry.node.error(
            report,
            f"“{folder}” depends on earlier tasks and has neither criteria nor a grader script: nothing scores it.",
            "Add a checklist or a grader script, or remove its dependencies.",
        )
    return tuple(accepted)


def _check_setup(folder: str, other: str, task: TaskSpec, node: Node, report: Report) -> None:
    if not task.is_setup:
        node.error(
            report,
            f"“{folder}” depends on “{other}”, which has criteria or a grader script of its own.",
            "A task that others build on has neither: move them to the task that depends on it, or remove this "
            "dependency.",
        )

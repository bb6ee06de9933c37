from collections.abc import Iterator

from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.dependencies import dependency_groups
from studio.domain.task import TaskSpec


@rule("too-many-groups", "warning")
def too_many_groups(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """An episode holds as many dependency groups as the benchmark's plan says. Told at each one's first task."""
    groups = dependency_groups(scene.episode.tasks)
    for group in groups[scene.plan.groups :]:
        if group[0] == task.task_id:
            yield Flaw(
                "depends_on",
                f"The episode has {len(groups)} dependency groups, and the plan is {scene.plan.groups}.",
                "Remove a group, or change the benchmark's plan.",
            )

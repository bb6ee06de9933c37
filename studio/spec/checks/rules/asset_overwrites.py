from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec


@rule("asset-overwrites", "warning")
def asset_overwrites(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Files are copied over an episode's workspace, and nothing is removed: a later file replaces an earlier one."""
    earlier = scene.earlier(task)
    for position, file in enumerate(task.assets, 1):
        for other in earlier:
            if any(file.path == there.path and file.sha256 != there.sha256 for there in other.assets):
                message = f"“{file.path}” replaces the file of the same name that “{other.task_id}” brought."
            elif file.path in (*other.expected_paths, *_written(other)):
                message = f"“{file.path}” replaces what the agent writes in “{other.task_id}”."
            else:
                continue
            yield Flaw(
                "assets",
                message,
                "Rename one of the two, unless that is meant.",
                position,
                words=file.path,
                other=other.task_id,
            )
            break


def _written(task: TaskSpec) -> Iterator[str]:
    """What judges read there and the task did not bring: the session writes it."""
    brought = {file.path for file in task.assets}
    yield from (path for path in task.files_read if path not in brought)

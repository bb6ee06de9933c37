from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec


@rule("asset-overwrites", "warning")
def asset_overwrites(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Files are copied over an episode's workspace, and nothing is removed: a later file replaces an earlier one."""
    for position, file in enumerate(task.assets, 1):
        for other in scene.earlier(task):
            if any(file.path == earlier.path and file.sha256 != earlier.sha256 for earlier in other.assets):
                yield Flaw(
                    "assets",
                    f"“{file.path}” replaces the file of the same name that “{other.task_id}” brought.",
                    "Rename one of the two, unless that is meant.",
                    position,
                    words=file.path,
                    other=other.task_id,
                )
                break

from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

RESERVED = {"task.yaml", ".history", ".result", ".eval_result"}


@rule("asset-reserved", "error")
def asset_reserved(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Some names in a task's folder belong to the format and are never copied into the workspace."""
    for position, file in enumerate(task.assets, 1):
        if file.path.split("/")[0] in RESERVED:
            yield Flaw(
                "assets",
                f"“{file.path}” is a name of the task's own files: the agent would never get it.",
                "Rename the file.",
                position,
                passage=file.path,
            )

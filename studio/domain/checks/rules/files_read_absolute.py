from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("files-read-absolute", "warning")
def files_read_absolute(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown files of the workspace; a path outside it is always missing."""
    for position, path in enumerate(task.files_read, 1):
        if path.startswith("/") or ".." in path.split("/"):
            yield Flaw(
                "files_read",
                f"“{path}” is not a path inside the workspace.",
                "Use the file's path inside the workspace, without a leading “/”.",
                position,
                passage=path,
            )

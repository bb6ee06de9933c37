from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("reference-is-input", "warning", across_tasks=True)
def reference_is_input(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A reference shows what has to be made; a file the assistant already has needs no work."""
    given = {file.sha256: (file.path, other) for other in (*context.earlier(task), task) for file in other.assets}
    for position, artifact in enumerate(task.expected_artifacts, 1):
        if not artifact.reference or artifact.reference.sha256 not in given:
            continue
        path, other = given[artifact.reference.sha256]
        where = "" if other is task else f" of “{other.task_id}”"
        yield Flaw(
            "expected_artifacts",
            f"The reference of “{artifact.path}” is the same as “{path}”{where}, which the assistant is given.",
            "Attach an example of a good result, or remove the file from the workspace.",
            position,
            passage=artifact.path,
            other="" if other is task else other.task_id,
        )

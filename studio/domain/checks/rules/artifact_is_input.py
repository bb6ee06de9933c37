from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("artifact-is-input", "warning")
def artifact_is_input(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that was there from the start is no evidence of work, unless a note or reference says what changes in
    it."""
    given = {file.path for file in task.assets}
    for position, artifact in enumerate(task.expected_artifacts, 1):
        if artifact.path in given and not artifact.note.strip() and not artifact.reference:
            yield Flaw(
                "expected_artifacts",
                f"“{artifact.path}” is in the workspace from the start, so leaving it behind shows nothing.",
                (
                    "Give the result another name; or, if it should be changed in "
                    "place, say in its note what it must contain."
                ),
                position,
                passage=artifact.path,
            )

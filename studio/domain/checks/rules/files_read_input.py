from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("files-read-input", "warning")
def files_read_input(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges take what they are shown for the agent's work, so an input file would count as done."""
    given = {file.path for file in task.assets}
    for position, path in enumerate(task.files_read, 1):
        if path in given and path not in task.expected_paths:
            yield Flaw(
                "files_read",
                f"“{path}” is given to the agent, so judges may mistake its content for the agent's work.",
                "Remove it, or list it as an output file with what must be changed in it.",
                position,
                passage=path,
            )

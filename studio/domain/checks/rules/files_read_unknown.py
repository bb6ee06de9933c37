from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("files-read-unknown", "warning", across_tasks=True)
def files_read_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file shown to judges comes from somewhere: it is an asset, or something asks for it."""
    if not task.files_read:
        return
    tasks = (*context.earlier(task), task)
    assets = {file.path for other in tasks for file in other.assets}
    mentions = "\n".join(
        text
        for other in tasks
        for text in (
            other.initial_request,
            other.reference_workflow,
            *other.expected_paths,
            *(intent.content for intent in other.intents),
            *(item.criterion for item in other.checklist),
        )
    )
    for position, path in enumerate(task.files_read, 1):
        name = path.rpartition("/")[2]
        if path not in assets and name not in mentions:
            yield Flaw(
                "files_read",
                f"“{path}” is not a file of this or an earlier task, and nothing asks for it.",
                "Correct the name, ask for the file in the request or an intent, or list it as an output file.",
                position,
                passage=path,
            )

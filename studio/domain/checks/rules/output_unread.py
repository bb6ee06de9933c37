from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import created_file_names, file_mentions, is_created_in
from studio.domain.task import TaskSpec

WRITERS = ("write_file", "edit_file")


@rule("output-unread", "warning", across_tasks=True)
def output_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges see only the files a task shows them, so what the session writes elsewhere is judged unseen."""
    if not any(item.grader == "rubric" for item in task.scored_items):
        return
    if any(entry.tool in WRITERS and entry.call for entry in task.tool_evidence):  # the call shows what is written
        return
    looked_at = {item.rule.path for item in task.checklist if item.rule}
    seen = {path.rpartition("/")[2] for path in (*task.files_read, *looked_at)}
    for position, path in enumerate(task.expected_paths, 1):
        if path.rpartition("/")[2] not in seen:
            seen.add(path.rpartition("/")[2])
            yield _flaw("expected_artifacts", position, path)
    given = {file.path.rpartition("/")[2] for other in (*context.earlier(task), task) for file in other.assets}
    for match in file_mentions(task.initial_request):
        name = match[0].rpartition("/")[2]
        if name not in seen | given and is_created_in(task, name):
            seen.add(name)
            yield _flaw("initial_request", None, match[0])
    for position, intent in enumerate(task.intents, 1):
        for name in created_file_names(intent.content) - seen - given:
            seen.add(name)
            yield _flaw("intents", position, name)


def _flaw(field: str, item: int | None, path: str) -> Flaw:
    return Flaw(
        field,
        f"The assistant should write “{path}”, but judges are not shown it.",
        "Add it to the files judges see.",
        item,
        passage=path,
    )

import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import created_file_names, file_mentions, is_created_in
from studio.domain.task import ChecklistItem, TaskSpec

REPLY = re.compile(r"\b(?:reply|replies|answers?|response|responds|message|chat|tells|asks)\b", re.IGNORECASE)
WRITERS = ("write_file", "edit_file")


@rule("output-unread", "warning", across_tasks=True)
def output_unread(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges see only the files a task shows them, so what the session writes elsewhere is judged unseen."""
    if not any(item.grader == "rubric" for item in task.scored_items):
        return
    if any(entry.tool in WRITERS and entry.call for entry in task.tool_evidence):  # the call shows what is written
        return
    seen = {path.rpartition("/")[2] for path in (*task.files_read, *_left_to_rules(task))}
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


def _left_to_rules(task: TaskSpec) -> set[str]:
    """Files that rules look at and no judge has to: every other item is about the reply or another file."""
    paths = {item.rule.path for item in task.scored_items if item.grader == "rule" and item.rule}
    judged = [item for item in task.scored_items if item.grader == "rubric"]
    return {path for path in paths if all(_is_about_something_else(item, path) for item in judged)}


def _is_about_something_else(item: ChecklistItem, path: str) -> bool:
    names = {match[0].rpartition("/")[2] for match in file_mentions(item.criterion)}
    names |= {source.rpartition("/")[2] for source in item.evidence}
    return path.rpartition("/")[2] not in names and (bool(names) or REPLY.search(item.criterion) is not None)


def _flaw(field: str, item: int | None, path: str) -> Flaw:
    return Flaw(
        field,
        f"The assistant should write “{path}”, but judges are not shown it.",
        "Add it to the files judges see.",
        item,
        passage=path,
        data=path,
    )

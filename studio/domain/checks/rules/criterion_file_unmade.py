from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import created_file_names, file_mentions, is_created_in
from studio.domain.task import ChecklistItem, TaskSpec


@rule("criterion-file-unmade", "warning", across_tasks=True)
def criterion_file_unmade(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An item about a file that nobody is told to make, and that is not there, fails by chance."""
    files = [(position, paths) for position, item in enumerate(task.checklist, 1) if (paths := _files_of(item))]
    if not files:
        return
    tasks = (*context.earlier(task), task)
    persona = context.episode.persona
    known = {
        path.rpartition("/")[2].casefold()
        for other in tasks
        for path in (*(file.path for file in other.assets), *other.expected_paths, *created_file_names(_wishes(other)))
    }
    known |= {file.path.rpartition("/")[2].casefold() for skill in persona.skills for file in skill.files}
    texts = "\n".join(_wishes(other) for other in tasks).casefold()
    for position, paths in files:
        for path in paths:
            name = path.rpartition("/")[2]
            if name.casefold() in known or name.casefold() in texts or is_created_in(task, name):
                continue
            yield Flaw(
                "checklist",
                f"The item is about {quote(path)}, which nothing asks the assistant to make.",
                "Name the file in the request, an intent or the expected files.",
                position,
                passage=path if path in task.checklist[position - 1].criterion else "",
            )
            break


def _wishes(task: TaskSpec) -> str:
    return "\n".join((task.initial_request, *(intent.content for intent in task.intents)))


def _files_of(item: ChecklistItem) -> list[str]:
    if not item.criterion.strip():
        return []
    ruled = [item.rule.path] if item.grader == "rule" and item.rule and item.rule.kind != "file_lacks" else []
    return list(dict.fromkeys((*filter(None, ruled), *(match[0] for match in file_mentions(item.criterion)))))

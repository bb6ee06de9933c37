from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import file_mentions, is_created_in
from studio.domain.task import TaskSpec


@rule("request-unknown-file", "warning", across_tasks=True)
def request_unknown_file(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that the request mentions is an asset, comes from an earlier session, or has to be created in this one."""
    mentions = file_mentions(task.initial_request)
    if not mentions:
        return
    tasks = (*context.earlier(task), task)
    persona = context.episode.persona
    known = {
        path.rpartition("/")[2]
        for path in (
            *(file.path for other in tasks for file in other.assets),
            *(path for other in tasks for path in (*other.expected_paths, *other.files_read)),
            *(file.path for skill in persona.skills for file in skill.files),
        )
    }
    seen = set()
    for match in mentions:
        name = match[0].rpartition("/")[2]
        if name in known or name in seen or any(is_created_in(other, name) for other in tasks):
            continue
        seen.add(name)
        yield Flaw(
            "initial_request",
            f"The request mentions “{match[0]}”, but there is no such file.",
            "Upload it to this task, correct the name, or ask for it to be created.",
            passage=match[0],
        )

from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import is_created_in
from studio.domain.task import Recovery, TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("recovery-unknown", "error", across_tasks=True)
def recovery_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session, file or tool from which an intent can be recovered exists."""
    for position, intent in enumerate(task.intents, 1):
        for source in intent.recoverable_from:
            if source.ref.strip() and (problem := _missing(source, task, context)):
                message, fix = problem
                yield Flaw(
                    "intents",
                    message,
                    fix,
                    position,
                    other=source.ref if source.kind == "session" else "",
                    severity="error" if source.kind == "session" else "warning",
                )


def _missing(source: Recovery, task: TaskSpec, context: CheckContext) -> tuple[str, str] | None:
    earlier = context.earlier(task)
    persona = context.episode.persona
    if source.kind == "session" and source.ref not in {other.task_id for other in earlier}:
        return (
            f"The intent's source “{source.ref}” is not an earlier task.",
            "Choose an earlier task of the episode.",
        )
    if source.kind == "tool" and persona.tools and not _is_bound(source.ref, persona.tools):
        return (
            f"The intent's source is the tool “{source.ref}”, which the persona does not have.",
            "Add it to the persona's tools, or choose another source.",
        )
    if source.kind == "file":
        name = source.ref.rpartition("/")[2]
        tasks = (*earlier, task)
        names = {
            path.rpartition("/")[2]
            for path in (
                *(file.path for other in tasks for file in other.assets),
                *(path for other in tasks for path in (*other.expected_paths, *other.files_read)),
                *(file.path for skill in persona.skills for file in skill.files),
            )
        }
        if name not in names and not any(is_created_in(other, name) for other in tasks):
            return (
                f"The intent's source “{source.ref}” does not exist.",
                "Upload it to this task, or correct the name.",
            )
    return None


def _is_bound(name: str, tools: tuple[str, ...]) -> bool:
    """``name`` is a tool's, or an application's: what the names of its tools begin with."""
    plain = bare_tool_name(name).split(".")[0].strip()
    return any(plain in (own, own.split("__")[0]) for own in (bare_tool_name(tool) for tool in tools))

from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import is_created_in
from studio.domain.task import Recovery, TaskSpec


@rule("recovery-unknown", "error")
def recovery_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The session, the file or the tool from which an intent is to be recovered is there."""
    for position, intent in enumerate(task.intents, 1):
        for place in intent.recoverable_from:
            if place.ref.strip() and (problem := _missing(place, task, context)):
                message, fix = problem
                yield Flaw(
                    "intents",
                    message,
                    fix,
                    position,
                    other=place.ref if place.kind == "session" else "",
                    severity="error" if place.kind == "session" else "warning",
                )


def _missing(place: Recovery, task: TaskSpec, context: CheckContext) -> tuple[str, str] | None:
    earlier = context.earlier(task)
    persona = context.episode.persona
    if place.kind == "session" and place.ref not in {other.task_id for other in earlier}:
        return (
            f"The intent's source “{place.ref}” is not an earlier task.",
            "Choose an earlier task of the episode.",
        )
    if place.kind == "tool" and persona.tools and not _bound(place.ref, persona.tools):
        return (
            f"The intent's source is the tool “{place.ref}”, which the persona does not have.",
            "Add it to the persona's tools, or choose another source.",
        )
    if place.kind == "file":
        name = place.ref.rpartition("/")[2]
        tasks = (*earlier, task)
        there = {
            path.rpartition("/")[2]
            for path in (
                *(file.path for one in tasks for file in one.assets),
                *(path for one in tasks for path in (*one.expected_paths, *one.files_read)),
                *(file.path for skill in persona.skills for file in skill.files),
            )
        }
        if name not in there and not any(is_created_in(one, name) for one in tasks):
            return (
                f"The intent's source “{place.ref}” does not exist.",
                "Upload it to this task, or correct the name.",
            )
    return None


def _bound(name: str, tools: tuple[str, ...]) -> bool:
    """A tool by its name, or an application by the name its tools begin with."""
    plain = name.removeprefix("mcp_appworld_").split(".")[0].strip()
    return any(plain in (own, own.split("__")[0]) for own in (tool.removeprefix("mcp_appworld_") for tool in tools))

from collections.abc import Iterator

from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.checks.sources import files_named, made_here
from studio.domain.task import TaskSpec


@rule("request-unknown-file", "warning")
def request_unknown_file(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A file the request speaks of is there, comes from an earlier session, or is to be made in this one."""
    tasks = (*scene.earlier(task), task)
    persona = scene.episode.persona
    known = {
        path.rpartition("/")[2]
        for path in (
            *(file.path for other in tasks for file in other.assets),
            *(path for other in tasks for path in (*other.expected_paths, *other.files_read)),
            *(file.path for skill in persona.skills for file in skill.files),
        )
    }
    seen = set()
    for match in files_named(task.initial_request):
        name = match[0].rpartition("/")[2]
        if name in known or name in seen or any(made_here(other, name) for other in tasks):
            continue
        seen.add(name)
        yield Flaw(
            "initial_request",
            f"The request mentions “{match[0]}”, but there is no such file.",
            "Upload it to this task, correct the name, or ask for it to be created.",
            words=match[0],
        )

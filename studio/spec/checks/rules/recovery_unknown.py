from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec


@rule("recovery-unknown", "error")
def recovery_unknown(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """An intent can be recovered only from a session that has taken place."""
    earlier = {other.task_id for other in scene.earlier(task)}
    for position, intent in enumerate(task.intents, 1):
        for place in intent.recoverable_from:
            if place.kind == "session" and place.ref and place.ref not in earlier:
                yield Flaw(
                    "intents",
                    f"The intent is to be recovered from “{place.ref}”, which is no earlier task.",
                    "Name an earlier task of the episode.",
                    position,
                    other=place.ref,
                )

from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec
from studio.spec.text.leaks import find_leak, topic_of

FEWEST = 2


@rule("request-tells-all", "warning")
def request_tells_all(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A request that leaves nothing unsaid measures obedience, not initiative (paper, Table 9)."""
    topic = topic_of((intent.content for intent in task.intents), task.title)
    leaks = [find_leak(intent.content, task.initial_request, topic) for intent in task.intents]
    if len(leaks) >= FEWEST and all(leaks):
        wholly = sum(leak is not None and leak.degree == "wholly" for leak in leaks)
        yield Flaw(
            "initial_request",
            "The request says something of every hidden intent.",
            "Leave out what an assistant should find, infer or ask for.",
            severity="warning" if 2 * wholly >= len(leaks) else "hint",
        )

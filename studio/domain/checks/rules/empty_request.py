from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("empty-request", "error")
def empty_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A session opens with the request's text or a signal's payload."""
    if not task.initial_request.strip() and not task.trigger.payload:
        yield Flaw("initial_request", "The task would start with nothing.", "Write the user's first message.")

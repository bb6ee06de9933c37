import json
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("trigger-payload", "warning")
def trigger_payload(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An environment signal carries data, in its payload or as JSON in the request."""
    if task.trigger.kind == "user_message" or task.trigger.payload:
        return
    try:
        signal = json.loads(task.initial_request)
    except (ValueError, RecursionError):
        signal = None
    if not isinstance(signal, dict | list):
        yield Flaw(
            "trigger",
            "The task is started by a signal without data.",
            "Add a payload, or start the task with a user message.",
        )

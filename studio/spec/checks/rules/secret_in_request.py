import re
from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec

SECRET = re.compile(r"(?i)\bpass(?:word|code|phrase)s?\b\s*(?:is|are|:|=|for \S+ is)\s*(\S+)")


@rule("secret-in-request", "warning")
def secret_in_request(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A password in a request is read by every model, and teaches agents to expect one."""
    for found in SECRET.finditer(task.initial_request):
        yield Flaw(
            "initial_request",
            "The request holds a password.",
            "Let the agent sign in without it, or put it where the assistant keeps secrets.",
            words=found[0],
        )

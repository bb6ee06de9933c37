from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("tool-unbound", "error")
def tool_unbound(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task can require only tools of its persona."""
    for position, tool in enumerate(task.tools, 1):
        if tool not in context.episode.persona.tools:
            yield Flaw(
                "tools",
                f"The persona has no tool “{tool}”.",
                "Add it to the persona's tools, or choose another one.",
                position,
                passage=tool,
            )

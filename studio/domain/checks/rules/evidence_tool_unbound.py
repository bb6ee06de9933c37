from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("evidence-tool-unbound", "warning")
def evidence_tool_unbound(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges are shown calls of a tool that the agent cannot call. Names without “__” are the workspace's own."""
    bound = {bare_tool_name(tool) for tool in context.episode.persona.tools}
    for position, entry in enumerate(task.tool_evidence, 1):
        if "__" in entry.tool and bare_tool_name(entry.tool) not in bound:
            yield Flaw(
                "tool_evidence",
                f"The persona has no tool “{entry.tool}”: it can never be called.",
                "Add it to the persona's tools, or correct the name.",
                position,
                passage=entry.tool,
            )

from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name


@rule("rule-tool-unbound", "warning")
def rule_tool_unbound(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An exact check expects a tool that the agent cannot call. Names without “__” are the workspace's own."""
    bound = {bare_tool_name(tool) for tool in context.episode.persona.tools}
    for position, item in enumerate(task.checklist, 1):
        tool = item.rule.tool if item.rule else ""
        if "__" in tool and bare_tool_name(tool) not in bound:
            yield Flaw(
                "checklist",
                f"The persona has no tool “{tool}”: this check can never be met.",
                "Add it to the persona's tools, or correct the name.",
                position,
                passage=tool if tool in item.criterion else "",
            )

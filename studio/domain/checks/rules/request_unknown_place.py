from collections.abc import Iterator

from studio.domain.checks.records import ACTIONS, RESOURCES, available_tools, is_available, mentioned_kinds
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("request-unknown-place", "hint", across_tasks=True)
def request_unknown_place(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A mailbox, calendar or system that the request refers to is available as a tool, file or signal (paper, Table 9).
    Silent if the persona's tools are unknown."""
    if not available_tools(task, context):
        return
    for kind, passage in mentioned_kinds(RESOURCES, task.initial_request):
        if not is_available(kind, task, context):
            yield Flaw(
                "initial_request",
                f"The request refers to {kind.name}, but the agent has no tool or file for it.",
                "Add a file or a tool, or mention something it can access.",
                passage=passage.strip(),
            )


@rule("request-unknown-deed", "hint", across_tasks=True)
def request_unknown_deed(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The agent has a tool for what the request wants done (paper, Table 9). Silent if the tools are unknown."""
    if not available_tools(task, context):
        return
    for kind, passage in mentioned_kinds(ACTIONS, task.initial_request):
        if not is_available(kind, task, context):
            yield Flaw(
                "initial_request",
                f"The agent has no tool to {kind.name}.",
                "Ask for the text in a file, or give the persona a tool for it.",
                passage=passage.strip(" .!?\n"),
            )

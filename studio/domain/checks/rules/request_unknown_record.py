import re
from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.records import available_tools, findable_text, message_subjects, record_numbers
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("request-unknown-record", "hint", across_tasks=True)
def request_unknown_record(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An order, ticket or message that the request wants looked up is in a file, a signal or an earlier session (paper,
    Table 9). Silent if an application may hold it, or a file cannot be read here."""
    if any("__" in tool for tool in available_tools(task, context)):
        return
    wanted = [*record_numbers(task.initial_request), *message_subjects(task.initial_request)]
    findable = findable_text(task, context) if wanted else None
    if findable is None:
        return
    normalized = _normalized(findable)
    for span in wanted:
        if _normalized(span.text) not in normalized:
            yield Flaw(
                "initial_request",
                f"The request mentions {quote(span.text)}, which is in nothing the agent can access.",
                (
                    "Add it to a file or the signal, mention one that exists, or say "
                    "what the agent needs to know about it."
                ),
                passage=span.text,
            )


def _normalized(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())

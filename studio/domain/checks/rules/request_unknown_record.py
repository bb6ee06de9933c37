import re
from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.records import available_tools, findable_text, message_subjects, record_numbers
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("request-unknown-record", "hint")
def request_unknown_record(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A record the request wants looked up – an order, a ticket, a message by its subject – stands in a file, a signal
    or an earlier session (paper, Table 9).

    Silent where an application's tool may hold it, or a file cannot be read here.
    """
    if any("__" in tool for tool in available_tools(task, context)):
        return
    wanted = [*record_numbers(task.initial_request), *message_subjects(task.initial_request)]
    there = findable_text(task, context) if wanted else None
    if there is None:
        return
    plain = _plain(there)
    for span in wanted:
        if _plain(span.text) not in plain:
            yield Flaw(
                "initial_request",
                f"The request mentions {quote(span.text)}, which is in nothing the agent can access.",
                (
                    "Add it to a file or the signal, mention one that exists, or say "
                    "what the agent needs to know about it."
                ),
                words=span.text,
            )


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())

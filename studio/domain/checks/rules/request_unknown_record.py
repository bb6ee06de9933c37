import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.app_records import app_text, named_records, people_to_reach
from studio.domain.checks.quotes import quote
from studio.domain.checks.records import available_tools, findable_text, message_subjects, record_numbers
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("request-unknown-record", "hint", across_tasks=True)
def request_unknown_record(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An order, ticket, message, playlist or contact that the request wants is in an app's data, a file, a signal or an
    earlier session (paper, Table 9). Silent if an application has no data here, or a file cannot be read."""
    tools = available_tools(task, context)
    request = task.initial_request
    wanted = _wanted(request)
    held = ""
    if any("__" in tool for tool in tools):
        of_apps = app_text(tools, context)
        if of_apps is None:
            return
        held = of_apps
        wanted += _wanted_of_apps(request)
    findable = findable_text(task, context) if wanted else None
    if findable is None:
        return
    normalized = _normalized(f"{findable}\n{held}")
    for text in dict.fromkeys(wanted):
        if _normalized(text) not in normalized:
            yield Flaw(
                "initial_request",
                f"The request mentions {quote(text)}, which is in nothing the agent can access.",
                (
                    "Add it to the app’s data, a file or the signal, mention one that exists, or say "
                    "what the agent needs to know about it."
                )
                if held
                else (
                    "Add it to a file or the signal, mention one that exists, or say "
                    "what the agent needs to know about it."
                ),
                passage=text,
            )


@cached(500_000)
def _wanted(request: str) -> tuple[str, ...]:
    return tuple(span.text for span in (*record_numbers(request), *message_subjects(request)))


@cached(500_000)
def _wanted_of_apps(request: str) -> tuple[str, ...]:
    return tuple(span.text for span in (*named_records(request), *people_to_reach(request)))


def _normalized(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())

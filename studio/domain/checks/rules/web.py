"""Rules about the web that agents find."""

from __future__ import annotations

from collections.abc import Iterator

from studio.domain.checks.research import research_without_pages
from studio.domain.checks.rule import CheckContext, Flaw, in_field, rule
from studio.domain.task import TaskSpec


@rule("web-missing", "warning", judges_language=True)
@in_field(
    "initial_request",
    "Add the pages that they are to find to the persona’s web pages, or put what they need into a file.",
)
def web_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The real web is never reached. An agent finds the web pages of the persona, and without any it has no tools for
    the web: a task of research cannot be done. Silent where a tool server may search."""
    if passage := research_without_pages(task, context.episode.persona, context.texts):
        yield Flaw(
            "The request asks for research on the web, but agents find no web page here and so have no tools for the "
            "web.",
            passage=passage,
        )

"""Rules about the web that agents find."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.domain.app_data import declared_apps
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.tool_names import tool_domain
from studio.domain.web_pages import WebPageError, read_web_page

_RESEARCH = re.compile(
    r"\b(?:search|browse|research|look(?:ing)? up|google|query|consult|check|find|read up|investigate)\b[^.!?\n]{0,80}?"
    r"\b(?:internet|web|online|google)\b"
    r"|\b(?:internet|web|online|google) (?:search(?:es)?|research)\b",
    re.IGNORECASE,
)
_REACHES_OUT = re.compile(r"search|web|brows|fetch|crawl|news", re.IGNORECASE)
_SAYS_NOT = re.compile(r"\b(?:not|n[’']t|never|without|no need)\b", re.IGNORECASE)
LONGEST = 20_000


@rule("web-missing", "warning", judges_language=True)
def web_missing(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The real web is never reached. An agent finds the web pages of the persona, and without any it has no tools for
    the web: a task of research cannot be done. Silent where a tool server may search."""
    match = _RESEARCH.search(task.initial_request[:LONGEST])
    if match is None or _SAYS_NOT.search(task.initial_request[max(0, match.start() - 30) : match.end()]):
        return
    tools = task.tools or context.episode.persona.tools
    if any(tool_domain(tool) not in declared_apps() and _REACHES_OUT.search(tool) for tool in tools if "__" in tool):
        return
    if any(_is_found(context.texts.get(file.sha256), task) for file in context.episode.persona.web_pages):
        return
    yield Flaw(
        "initial_request",
        "The request asks for research on the web, but agents find no web page here and so have no tools for the web.",
        "Add the pages that they are to find to the persona’s web pages, or put what they need into a file.",
        passage=match[0],
    )


def _is_found(text: str | None, task: TaskSpec) -> bool:
    if text is None:
        return True
    try:
        page = read_web_page(text.encode())
    except WebPageError:
        return False
    return not page.tasks or task.task_id in page.tasks

"""Research on the web that a request asks for, and whether an agent finds anything there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from studio.domain.app_data import declared_apps
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, sentences
from studio.domain.tool_names import tool_domain
from studio.domain.web_pages import WebPageError, read_web_page

LONGEST = 20_000
_WEB = r"\b(?:internet|web|online|google)\b"
_ON_THE_WEB = re.compile(
    r"\b(?:search|browse|research|look(?:ing)? up|google|query|consult|check|find|read up|investigate)\b[^.!?\n]{0,80}?"
    rf"{_WEB}|{_WEB} (?:search(?:es)?|research)\b",
    re.IGNORECASE,
)
_SOMEWHERE = re.compile(r"\b(?:search for|look up|research)\b[^.!?\n]{0,80}", re.IGNORECASE)
_A_PLACE = re.compile(
    r"\b(?:in|within|through|among|from|on|at)\s+(?:[\w'’]+\s+){0,3}?(?:workspace|files?|folders?|inbox|mails?|e-?mails?"
    r"|messages?|threads?|notes?|memory|documents?|attachments?|stores?|shops?|contacts?|calendar|database|skills?)\b"
    r"|\w\.\w{2,4}\b",
    re.IGNORECASE,
)
_REACHES_OUT = re.compile(r"search|web|brows|fetch|crawl|news", re.IGNORECASE)
_SAYS_NOT = re.compile(r"\b(?:not|n[’']t|never|without|no need)\b", re.IGNORECASE)


def research_without_pages(task: TaskSpec, persona: PersonaSpec, texts: Mapping[str, str]) -> str:
    """The words of the request; empty if it asks for none, a page is found, or a tool server may search. ``texts`` of
    the persona's pages by sha256; one that is not there counts as found."""
    wanted = _research(task)
    tools = task.tools or persona.tools
    if not wanted or any(
        tool_domain(tool) not in declared_apps() and _REACHES_OUT.search(tool) for tool in tools if "__" in tool
    ):
        return ""
    return "" if any(_is_found(texts.get(file.sha256), task) for file in persona.web_pages) else wanted


def _research(task: TaskSpec) -> str:
    """A search that names no place is one on the web if the task's title says so."""
    request = task.initial_request[:LONGEST]
    match = _ON_THE_WEB.search(request)
    if match and not _SAYS_NOT.search(request[max(0, match.start() - 30) : match.end()]):
        return match[0]
    if not re.search(_WEB, task.title, re.IGNORECASE):
        return ""
    return next(filter(None, map(_search_anywhere, sentences(request))), "")


def _search_anywhere(span: Span) -> str:
    match = _SOMEWHERE.search(span.text)
    if match is None or _A_PLACE.search(span.text, match.start()) or _SAYS_NOT.search(span.text):
        return ""
    return match[0].strip()


def _is_found(text: str | None, task: TaskSpec) -> bool:
    if text is None:
        return True
    try:
        page = read_web_page(text.encode())
    except WebPageError:
        return False
    return not page.tasks or task.task_id in page.tasks

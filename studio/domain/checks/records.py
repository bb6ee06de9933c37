"""What a request takes for granted: resources and actions, such as a calendar, a ticket or sending e-mail, and
records of simulated apps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from studio.domain.app_data import CLOCK
from studio.domain.caching import cached
from studio.domain.checks.rule import CheckContext
from studio.domain.checks.sources import established_text, file_mentions, profile_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, sentences
from studio.domain.tool_names import tool_domain

LONGEST = 20_000


@dataclass(frozen=True)
class ResourceKind:
    """A resource or action that requires a tool or a source."""

    name: str
    phrase: re.Pattern[str]
    """Matches requests that take it for granted."""
    tools: re.Pattern[str]
    """Matches names of tools that provide it."""
    sources: re.Pattern[str]
    """Matches file names or signal data that contain it."""


def _resource(name: str, phrase: str, tools: str, sources: str) -> ResourceKind:
    return ResourceKind(name, *(re.compile(pattern, re.IGNORECASE) for pattern in (phrase, tools, sources)))


_AT_START = r"(?:please |and |then |just |could you |can you |[.!?]\s+|^)"
_MINE = r"(?:my|our|the|his|her|their)"
RESOURCES = (
    _resource(
        "a mailbox",
        rf"\b(?:in|from|through|of|check|search|open|go through|look (?:in|into|through)|clear|sort) {_MINE} "
        r"(?:\w+ )?(?:inbox|mailbox|e-?mails?|mail|sent folder|drafts? folder|outbox)\b",
        r"mail|outlook|imap|inbox",
        r"mail|inbox|message|thread|\.eml\b|\.mbox\b|correspondence",
    ),
    _resource(
        "a calendar",
        rf"\b(?:in|into|on|to|from|check|open|look (?:at|in|into)|see|clear|update) {_MINE} "
        r"(?:\w+ )?(?:calendar|diary)\b(?! (?:year|month|week|day))",
        r"calendar|schedule|event|outlook",
        r"calendar|diary|schedule|agenda|rota|planner|\.ics\b",
    ),
    _resource(
        "an address book",
        rf"\b(?:in|from|to|into|check|search|look (?:in|into|through)) {_MINE} "
        r"(?:phone(?:'s)? )?(?:contacts?|address book|contact list|phone ?book)\b",
        r"contact|phone|people|directory",
        r"contact|address|phone|people|directory|members?|clients?|customers?|list",
    ),
    _resource(
        "a system",
        rf"\b(?:in|into|on|to|from|check|open|search|look(?: \w+)*? up in|log (?:in)?to|via|through) {_MINE} "
        r"(?:[\w-]+ ){0,2}?(?P<place>(?:CRM|ERP|EHR|EMR|database|intranet|ticket(?:ing)? system|booking system"
        r"|practice system|case management system|document management system|patient records?|shared drive"
        r"|company drive|cloud drive|share ?point|share|content management system|CMS|back ?office|till system))\b",
        r"crm|erp|ehr|emr|database|sql|query|intranet|ticket|booking|record|drive|share|cms|system|case|patient",
        r"crm|erp|export|extract|database|dump|system|ticket|booking|record|drive",
    ),
)
ACTIONS = (
    _resource(
        "send e-mail",
        rf"\b(?:(?:{_AT_START}|to |you )(?:e-?mail|mail) (?:it|this|that|them|him|her|us|everyone"
        r"|all|the|[A-Z]\w+)(?! (?:is|was|has|says|said|about|address|thread|draft|from))\b"
        r"|(?:send|forward) (?!me\b)(?:[\w'’.]+ ){0,8}?(?:by|via|per|in an?) e-?mail\b"
        r"|send (?!me\b)(?:[\w'’.]+ ){0,3}?an? e-?mail\b)",
        r"send|mail|outlook|smtp|reply|forward",
        r"(?!)",
    ),
    _resource(
        "send text messages",
        rf"\b(?:(?:{_AT_START}|to |you )text (?:him|her|them|us|everyone|[A-Z]\w+)\b"
        r"|send (?!me\b)(?:[\w'’.]+ ){0,3}?(?:an? )?(?:SMS|text messages?|WhatsApp)\b)",
        r"send|sms|text|message|phone|whatsapp|signal|telegram",
        r"(?!)",
    ),
    _resource(
        "make calls",
        rf"\b{_AT_START}(?:call|phone|ring) "
        r"(?:him|her|them|up|(?:the|my|our) [\w ]{2,30}|Mr|Mrs|Ms|Dr)\b(?! (?:it|this))",
        r"call|phone|dial|voice",
        r"(?!)",
    ),
    _resource(
        "print",
        rf"\b{_AT_START}print (?:it|this|that|them|out|the|\w+ copies)\b",
        r"print",
        r"(?!)",
    ),
)
_BY_NAME = {kind.name: kind for kind in (*RESOURCES, *ACTIONS)}

_NOUN = (
    r"order|invoice|ticket|case|claim|booking|reservation|policy|contract|account|shipment|parcel|delivery|incident"
    r"|permit|prescription|batch|lot|file|docket|matter|purchase order|PO|complaint|request|application|file no"
)
CODE = re.compile(
    rf"\b(?:(?P<noun>{_NOUN}) (?:no\.? ?|number |nr\.? ?|id |ref\.? ?)?#?(?P<code>[A-Z]{{0,6}}[-/]?\d[\w/.-]*\w)"
    r"|(?P<bare>[A-Z]{2,6}-\d[\d-]{2,}))(?![\w@])",
    re.IGNORECASE,
)
LOOKS_IT_UP = re.compile(
    r"\b(?:open|check|look (?:at|up|into)|pull(?: up)?|find|fetch|get|see|read|go through|repl(?:y|ies) to|answer"
    r"|forward|update|cancel|reschedule|amend|archive|delete|close|reopen|compare|review|track|trace|summari[sz]e"
    r"|reconcile|merge|approve|assign|in|from|on|of|according to|as per|attached to|status"
    r"|what happened (?:to|with)|where is|how (?:far|much))\b",
    re.IGNORECASE,
)
MESSAGE = re.compile(
    r"\b(?:e-?mail|mail|message|letter|note|memo|thread|ticket)s?\b[^.!?\n“\"]{0,40}?"
    r"(?:\bsubject(?: line)?\b|\bcalled\b|\btitled\b|\bheaded\b)[^.!?\n“\"]{0,15}[“\"](?P<subject>[^”\"\n]{3,90})[”\"]",
    re.IGNORECASE,
)
_WRITING = re.compile(r"\b(?:write|draft|send|compose|prepare|make|create|put together)\b", re.IGNORECASE)


def mentioned_kinds(kinds: tuple[ResourceKind, ...], request: str) -> Iterator[tuple[ResourceKind, str]]:
    """With the passage that mentions each."""
    for kind in kinds:
        if passage := _mention(kind.name, request):
            yield kind, passage


@lru_cache(10_000)
def _mention(name: str, request: str) -> str:
    match = _BY_NAME[name].phrase.search(request[:LONGEST])
    return match[0] if match else ""


def available_tools(task: TaskSpec, context: CheckContext) -> tuple[str, ...]:
    return task.tools or context.episode.persona.tools


def is_available(resource: ResourceKind, task: TaskSpec, context: CheckContext) -> bool:
    if any(resource.tools.search(tool) for tool in available_tools(task, context)):
        return True
    tasks = (*context.earlier(task), task)
    names = [
        *(file.path for other in tasks for file in other.assets),
        *(file.description for other in tasks for file in other.assets),
        *(path for other in tasks for path in (*other.expected_paths, *other.files_read)),
        *(skill.name for skill in context.episode.persona.skills),
        *(match[0] for match in file_mentions(task.initial_request)),
        str(task.trigger.payload) if task.trigger.payload else "",
    ]
    return any(resource.sources.search(name) for name in names)


def record_numbers(request: str) -> Iterator[Span]:
    for sentence in sentences(request[:LONGEST]):
        for match in CODE.finditer(sentence.text):
            group = "code" if match["code"] else "bare"
            before = sentence.text[: match.start()]
            if (match["bare"] and not match["bare"][:2].isupper()) or not LOOKS_IT_UP.search(before[-60:]):
                continue
            start = sentence.start + match.start(group)
            yield Span(match[group], start, start + len(match[group]))


def message_subjects(request: str) -> Iterator[Span]:
    """Subjects of messages that the request refers to, not of those it asks to write."""
    for match in MESSAGE.finditer(request[:LONGEST]):
        if not _WRITING.search(request[max(0, match.start() - 60) : match.start("subject")]):
            yield Span(match["subject"], match.start("subject"), match.end("subject"))


def findable_text(task: TaskSpec, context: CheckContext) -> str | None:
    """Everything but the request in which a session could find a record; None if some of it cannot be read here."""
    tasks = (*context.earlier(task), task)
    persona = context.episode.persona
    files = [*(file for other in tasks for file in other.assets), *(file for s in persona.skills for file in s.files)]
    if any(file.sha256 not in context.texts for file in files):
        return None
    return "\n".join(
        (
            *(f"{established_text(other)}\n{visible_text(other, context)}" for other in tasks[:-1]),
            visible_text(task, context).removeprefix(task.initial_request),
            *(f"{file.path} {file.description}" for file in files),
            *(context.texts[file.sha256] for file in files),
            profile_text(persona),
        )
    )


_APP_NOUN = (
    r"playlists?|songs?|tracks?|albums?|artists?|notes?|projects?|to-?dos?|groups?|expenses?|products?"
    r"|contacts?|drafts?|threads?|e-?mails?|mails?|messages?|alarms?"
)
"""Without labels: putting one on makes it."""
_NAMED = re.compile(
    rf"\b(?:{_APP_NOUN}) (?:(?:called|named|titled|labell?ed) )?[“\"](?P<after>[^”\"\n]{{2,90}})[”\"]"
    rf"|[“\"](?P<before>[^”\"\n]{{2,90}})[”\"] (?:{_APP_NOUN})\b",
    re.IGNORECASE,
)
_NAME = r"(?P<{}>[A-Z][a-z]+ [A-Z][a-z]+(?:-[A-Z][a-z]+)?)\b"
_PERSON = re.compile(
    rf"\b(?:[Ee]-?mail|[Tt]ext|[Cc]all|[Pp]hone|[Mm]essage) {_NAME.format('asked')}"
    r"|\b(?:[Ee]-?mail|[Mm]ail|[Mm]essage|[Tt]ext|[Ff]orward|[Ss]end|[Rr]eply|[Ww]rite)\b"
    rf"[^.!?\n“\"]{{0,40}}? to {_NAME.format('meant')}"
)
_PASSWORD = re.compile(r'"password"\s*:\s*"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){3,200})"')
_MAKING = re.compile(
    r"\b(?:new|create|make|add (?:a|an)|write|draft|compose|start|set up|open (?:a|an)|rename|prepare|call it)\b",
    re.IGNORECASE,
)


def app_text(tools: tuple[str, ...], context: CheckContext) -> str | None:
    """All that the apps of these tools hold; None if an app's data is missing or cannot be read here."""
    apps = {tool_domain(tool) for tool in tools if "__" in tool}
    data = context.episode.persona.app_data
    if not apps or not apps <= data.keys() or any(data[app].sha256 not in context.texts for app in apps):
        return None
    words = context.once(_words_of_apps)
    return "\n".join(words[app] for app in sorted(apps))


def named_records(request: str) -> Iterator[Span]:
    """Names of records that the request refers to, not of those it asks to make."""
    for sentence in sentences(request[:LONGEST]):
        for match in _NAMED.finditer(sentence.text):
            if not _MAKING.search(sentence.text[: match.start()]):
                group = "after" if match["after"] else "before"
                start = sentence.start + match.start(group)
                yield Span(match[group], start, start + len(match[group]))


def people_to_reach(request: str) -> Iterator[Span]:
    """First and last names of those that a message is for."""
    for match in _PERSON.finditer(request[:LONGEST]):
        group = "asked" if match["asked"] else "meant"
        yield Span(match[group], match.start(group), match.end(group))


def invented_passwords(context: CheckContext) -> frozenset[str]:
    """Of the accounts in the apps' data."""
    data = context.episode.persona.app_data.values()
    return frozenset(
        str(json.loads(f'"{text}"')) for file in data for text in _passwords_in(context.texts.get(file.sha256, ""))
    )


@cached
def _passwords_in(text: str) -> tuple[str, ...]:
    return tuple({match[1] for match in _PASSWORD.finditer(text)})


def _words_of_apps(context: CheckContext) -> dict[str, str]:
    found = {}
    for app, file in context.episode.persona.app_data.items():
        if app == CLOCK or file.sha256 not in context.texts:
            continue
        try:
            found[app] = "\n".join(_texts(json.loads(context.texts[file.sha256])))
        except (ValueError, RecursionError):
            found[app] = context.texts[file.sha256]
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("first_name"), str):
            yield f"{value['first_name']} {value.get('last_name', '')}"
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, str | int | float):
        yield str(value)

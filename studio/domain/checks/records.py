"""What a request takes for granted beside files: entries, messages, places and deeds that need a tool or a source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from studio.domain.checks.rule import CheckContext
from studio.domain.checks.sources import established_text, file_mentions, profile_text, visible_text
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, sentences

LONGEST = 20_000


@dataclass(frozen=True)
class ResourceKind:
    """One kind of thing that only a tool or a source can show or do."""

    name: str
    said: re.Pattern[str]
    """How a request takes it for granted."""
    tools: re.Pattern[str]
    """Names of tools that reach it."""
    sources: re.Pattern[str]
    """Names of files, or words of a signal, that hold it."""


def _kind(name: str, said: str, tools: str, sources: str) -> ResourceKind:
    return ResourceKind(name, *(re.compile(pattern, re.IGNORECASE) for pattern in (said, tools, sources)))


_ASKED = r"(?:please |and |then |just |could you |can you |[.!?]\s+|^)"
_MINE = r"(?:my|our|the|his|her|their)"
RESOURCES = (
    _kind(
        "a mailbox",
        rf"\b(?:in|from|through|of|check|search|open|go through|look (?:in|into|through)|clear|sort) {_MINE} "
        r"(?:\w+ )?(?:inbox|mailbox|e-?mails?|mail|sent folder|drafts? folder|outbox)\b",
        r"mail|outlook|imap|inbox",
        r"mail|inbox|message|thread|\.eml\b|\.mbox\b|correspondence",
    ),
    _kind(
        "a calendar",
        rf"\b(?:in|into|on|to|from|check|open|look (?:at|in|into)|see|clear|update) {_MINE} "
        r"(?:\w+ )?(?:calendar|diary)\b(?! (?:year|month|week|day))",
        r"calendar|schedule|event|outlook",
        r"calendar|diary|schedule|agenda|rota|planner|\.ics\b",
    ),
    _kind(
        "an address book",
        rf"\b(?:in|from|to|into|check|search|look (?:in|into|through)) {_MINE} "
        r"(?:phone(?:'s)? )?(?:contacts?|address book|contact list|phone ?book)\b",
        r"contact|phone|people|directory",
        r"contact|address|phone|people|directory|members?|clients?|customers?|list",
    ),
    _kind(
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
    _kind(
        "send e-mail",
        rf"\b(?:(?:{_ASKED}|to |you )(?:e-?mail|mail) (?:it|this|that|them|him|her|us|everyone"
        r"|all|the|[A-Z]\w+)(?! (?:is|was|has|says|said|about|address|thread|draft|from))\b"
        r"|(?:send|forward) (?!me\b)(?:[\w'’.]+ ){0,8}?(?:by|via|per|in an?) e-?mail\b"
        r"|send (?!me\b)(?:[\w'’.]+ ){0,3}?an? e-?mail\b)",
        r"send|mail|outlook|smtp|reply|forward",
        r"(?!)",
    ),
    _kind(
        "send text messages",
        rf"\b(?:(?:{_ASKED}|to |you )text (?:him|her|them|us|everyone|[A-Z]\w+)\b"
        r"|send (?!me\b)(?:[\w'’.]+ ){0,3}?(?:an? )?(?:SMS|text messages?|WhatsApp)\b)",
        r"send|sms|text|message|phone|whatsapp|signal|telegram",
        r"(?!)",
    ),
    _kind(
        "make calls",
        rf"\b{_ASKED}(?:call|phone|ring) "
        r"(?:him|her|them|up|(?:the|my|our) [\w ]{2,30}|Mr|Mrs|Ms|Dr)\b(?! (?:it|this))",
        r"call|phone|dial|voice",
        r"(?!)",
    ),
    _kind(
        "print",
        rf"\b{_ASKED}print (?:it|this|that|them|out|the|\w+ copies)\b",
        r"print",
        r"(?!)",
    ),
)

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
_WRITES = re.compile(r"\b(?:write|draft|send|compose|prepare|make|create|put together)\b", re.IGNORECASE)


def available_tools(task: TaskSpec, context: CheckContext) -> tuple[str, ...]:
    return task.tools or context.episode.persona.tools


def is_available(kind: ResourceKind, task: TaskSpec, context: CheckContext) -> bool:
    """Whether a tool of the task, a file, a signal, a skill or an earlier session's result holds it."""
    if any(kind.tools.search(tool) for tool in available_tools(task, context)):
        return True
    tasks = (*context.earlier(task), task)
    names = [
        *(file.path for one in tasks for file in one.assets),
        *(file.description for one in tasks for file in one.assets),
        *(path for one in tasks for path in (*one.expected_paths, *one.files_read)),
        *(skill.name for skill in context.episode.persona.skills),
        *(match[0] for match in file_mentions(task.initial_request)),
        str(task.trigger.payload) if task.trigger.payload else "",
    ]
    return any(kind.sources.search(name) for name in names)


def record_numbers(request: str) -> Iterator[Span]:
    """Numbers of records that a sentence wants to be looked up, not only written down."""
    for sentence in sentences(request[:LONGEST]):
        for found in CODE.finditer(sentence.text):
            part = "code" if found["code"] else "bare"
            before = sentence.text[: found.start()]
            if (found["bare"] and not found["bare"][:2].isupper()) or not LOOKS_IT_UP.search(before[-60:]):
                continue
            start = sentence.start + found.start(part)
            yield Span(found[part], start, start + len(found[part]))


def message_subjects(request: str) -> Iterator[Span]:
    """Subjects of messages that are to be found, not written."""
    for found in MESSAGE.finditer(request[:LONGEST]):
        if not _WRITES.search(request[max(0, found.start() - 60) : found.start("subject")]):
            yield Span(found["subject"], found.start("subject"), found.end("subject"))


def findable_text(task: TaskSpec, context: CheckContext) -> str | None:
    """Everything but the request itself that a session could find a record in; None: some of it cannot be read."""
    tasks = (*context.earlier(task), task)
    persona = context.episode.persona
    files = [*(file for one in tasks for file in one.assets), *(file for s in persona.skills for file in s.files)]
    if any(file.sha256 not in context.texts for file in files):
        return None
    return "\n".join(
        (
            *(f"{established_text(one)}\n{visible_text(one, context)}" for one in tasks[:-1]),
            visible_text(task, context).removeprefix(task.initial_request),
            *(f"{file.path} {file.description}" for file in files),
            *(context.texts[file.sha256] for file in files),
            profile_text(persona),
        )
    )

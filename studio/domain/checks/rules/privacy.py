import json
import re
from collections.abc import Iterator

from studio.domain.caching import cached
from studio.domain.checks.personal_data import identities, keys, phones
from studio.domain.checks.records import invented_passwords
from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, in_texts, rule
from studio.domain.findings import Severity
from studio.domain.task import TaskSpec
from studio.domain.tool_names import bare_tool_name

LONGEST = 40_000
DIGIT = re.compile(r"\d")
FIX = "Replace it with an obviously invented one, or remove it."
PHONE_FIX = "Use a number reserved for fiction, such as 555-0142 or 01632 960 123, or remove it."


@rule("personal-data", "warning")
def personal_data(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Numbers that identify a person, an account or a key should be obviously invented. A phone number is a hint, and
    ignored if the persona's phone is simulated."""
    simulated = any(bare_tool_name(tool).startswith("phone__") for tool in context.episode.persona.tools)
    for field, item, text in (*authored_texts(task), *_payload(task)):
        if first := _first(text[:LONGEST], simulated):
            number, what, severity = first
            here, passage = (f"“{number}”", "") if field == "trigger" else ("This", number)
            fix = FIX if severity == "warning" else PHONE_FIX
            yield Flaw(f"{here} looks like {what}.", fix, field, item, passage, severity=severity)
    files = [("assets", position, file, "") for position, file in enumerate(task.assets, 1)]
    positions = {path: position for position, path in enumerate(task.expected_paths, 1)}
    files += [("expected_artifacts", positions[file.path], file, "The reference of ") for file in task.references]
    for field, item, file, what_file in files:
        if first := _first(context.texts.get(file.sha256, "")[:LONGEST], simulated):
            _, what, severity = first
            message = f"{what_file}“{file.path}” has what looks like {what}."
            fix = FIX if severity == "warning" else PHONE_FIX
            yield Flaw(message, fix, field, item, file.path, severity=severity)


def _payload(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    if task.trigger.payload:
        yield "trigger", None, json.dumps(task.trigger.payload, ensure_ascii=False)


def _first(text: str, simulated: bool) -> tuple[str, str, Severity] | None:
    return next((each for each in _findings(text) if each[2] == "warning" or not simulated), None)


@cached
def _findings(text: str) -> tuple[tuple[str, str, Severity], ...]:
    return tuple(_find(text))


def _find(text: str) -> Iterator[tuple[str, str, Severity]]:
    yield from ((key, "an access key", "warning") for key in keys(text))
    if DIGIT.search(text):
        yield from ((number, what, "warning") for number, what in identities(text))
        yield from ((number, "a telephone number", "hint") for number in phones(text))


_WORD = r"(?:pass(?:word|code|phrase)s?|pw|pwd|passwd)\b[\"']?"
_QUOTED = r"[\"'`“‘]\S{3,}"
_MADE = r"(?=\S{0,200}(?:[\d!#$%&*+?@^~\[\]{}()=|<>/\\]|(?-i:[a-z][A-Z])))\S{4,}"
_NAMED = r"(?!(?:the|an?|my|our|your|see|on|in|at|ask|with|under|not|none|unknown|same|as)\b)[^\s,;]{4,}"
_WORDLIKE = (
    r"(?!(?:about|correct|expired|forgotten|good|here|kept|known|lost|missing|needed|new|none|old|required|right|safe|same"
    r"|secret|strong|there|unknown|weak|with|wrong|yours?|their|this|that|what|they|when|where)\b)"
    r"[^\s,;]{4,}(?=[,;]|\s*[.!]?(?:$|\s+(?-i:[A-Z]))|\s+(?:and|so|please|but|for|if|to)\b)(?<!ed)(?<!ing)"
)
SECRET = re.compile(
    rf"\b{_WORD}\s*(?:(?:[:=]|is:|are:)\s*{_NAMED}"
    rf"|(?:(?:is|are)|for \S{{1,40}} is)\s+(?:{_QUOTED}|{_MADE}|{_WORDLIKE}))",
    re.IGNORECASE,
)
"""After “is”, a word is a password if it is quoted, contains more than letters, or ends the statement."""
DOOR = re.compile(
    r"\b(?:PIN|(?i:pin code|pin number|door code|access code|entry code|lock code|alarm code|safe code|passcode))\b"
    r"(?:\s+(?:for|of|to) (?:the|my|our) \w+)?\s*(?:is|:|=|#)?\s*(?P<code>\d{4,10})\b"
)
FIELD_NAMES = {
    "initial_request": "The request",
    "intents": "The intent",
    "checklist": "The criterion",
    "title": "The title",
    "description": "The description",
    "reference_workflow": "The reference workflow",
    "trigger": "The signal",
}


@rule("secret-in-request", "warning")
def secret_in_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A password in a task is read by every model and member, and teaches agents to expect one. Those of invented
    accounts in the persona's app data are meant to be there."""
    for field, item, text in (*authored_texts(task), *_payload(task)):
        for secret in _real_secrets(text, context):
            fix = "Let the agent sign in without it, or store it where the assistant keeps secrets."
            passage = secret if field != "trigger" else ""
            yield Flaw(f"{FIELD_NAMES[field]} contains a password.", fix, field, item, passage)
    for position, file in enumerate(task.assets, 1):
        if _real_secrets(context.texts.get(file.sha256, ""), context):
            yield Flaw(f"“{file.path}” contains a password.", FIX, "assets", position, file.path)


def _real_secrets(text: str, context: CheckContext) -> list[str]:
    found = _secrets(text)
    invented = context.once(invented_passwords) if found else frozenset()
    return [secret for secret in found if not any(password in secret for password in invented)]


@cached
def _secrets(text: str) -> tuple[str, ...]:
    return tuple(match[0] for pattern in (SECRET, DOOR) for match in pattern.finditer(text, 0, LONGEST))


EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]+@(?P<domain>[\w-]+(?:\.[\w-]+)+)")
MAILBOXES = frozenset(
    """gmail.com googlemail.com outlook.com hotmail.com live.com yahoo.com icloud.com me.com aol.com gmx.de gmx.net
    web.de proton.me protonmail.com qq.com 163.com 126.com foxmail.com sina.com yandex.ru mail.ru hotmail.co.uk
    yahoo.co.uk""".split()
)

OFFICIAL = re.compile(
    r"\.(?:gov|edu|mil)(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|(?:^|\.)(?:nhs\.(?:uk|net)|europa\.eu|who\.int|un\.org)$"
)
"""Domains registered only to authorities and universities, so their mailboxes are real."""


@rule("address-real", "hint")
@in_texts("Use a reserved address, such as name@example.com.")
def address_real(text: str, context: CheckContext) -> Iterator[Flaw]:
    """An agent with real tools could write to this address: a mailbox at a public provider, or one of an authority.
    Silent where the persona's mail is simulated."""
    if any(bare_tool_name(tool).startswith("gmail__") for tool in context.episode.persona.tools):
        return
    for match in EMAIL.finditer(text[:40_000]):
        domain = match["domain"].casefold()
        if domain in MAILBOXES or OFFICIAL.search(domain):
            what = "may be a real mailbox" if domain in MAILBOXES else "is an address of a real institution"
            yield Flaw(f"“{match[0]}” {what}.", passage=match[0])
            return

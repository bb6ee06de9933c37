import json
import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.app_records import invented_passwords
from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec

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
LONGEST = 40_000


@rule("secret-in-request", "warning")
def secret_in_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A password in a task is read by every model and member, and teaches agents to expect one. Those of invented
    accounts in the persona's app data are meant to be there."""
    payload = json.dumps(task.trigger.payload, ensure_ascii=False) if task.trigger.payload else ""
    for field, item, text in (*authored_texts(task), ("trigger", None, payload)):
        for secret in _real_secrets(text, context):
            yield Flaw(
                field,
                f"{FIELD_NAMES[field]} contains a password.",
                "Let the agent sign in without it, or store it where the assistant keeps secrets.",
                item,
                passage=secret if field != "trigger" else "",
            )
    for position, file in enumerate(task.assets, 1):
        if _real_secrets(context.texts.get(file.sha256, ""), context):
            yield Flaw(
                "assets",
                f"“{file.path}” contains a password.",
                "Replace it with an obviously invented one, or remove it.",
                position,
                passage=file.path,
            )


def _real_secrets(text: str, context: CheckContext) -> list[str]:
    found = _secrets(text)
    invented = context.once(invented_passwords) if found else frozenset()
    return [secret for secret in found if not any(password in secret for password in invented)]


@cached(1_000_000)
def _secrets(text: str) -> tuple[str, ...]:
    return tuple(match[0] for pattern in (SECRET, DOOR) for match in pattern.finditer(text, 0, LONGEST))

"""The user of the paper protocol, who listens: what they see and know, and the questions put to the model that plays
them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import unescape

from evaluation.protocol.answers import extract_document
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import load_prompt
from evaluation.protocol.prompts import closed_object, escape, escape_attribute
from evaluation.protocol.voice import Messages, join

NOTHING = "(nothing)"
MAX_MISSING = 100
"""Characters of what is named as missing."""


@dataclass(frozen=True)
class Scene:
    """What the person knows and sees as they speak. Escaped."""

    person: str
    earlier: str
    """What they said in earlier sessions."""
    conversation: str
    """With the latest reply at its end."""
    work: str
    """What the agent did, as judges see it."""
    reply: str
    state: str = ""
    """One sentence, if the reply is empty or breaks off."""
    missing: tuple[str, ...] = ()
    """As ``Progress.missing``."""


@dataclass(frozen=True)
class Wishes:
    """The person's intents as they speak; none is in two."""

    told: Sequence[OpenIntent]
    """What the message is to say."""
    held_back: Sequence[OpenIntent] = ()
    """Said only as far as a question asks for it."""
    settled: Sequence[str] = ()
    """What they want or know as well, and did not have to say."""


@dataclass(frozen=True)
class Said:
    message: str
    missing: str = ""


_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
FLAGS = ("answers", "says_all", "holds_back", "adds_nothing")
RECITED = 6
"""Words from which an intent has to be put in other words."""
CHOICE_SCHEMA = closed_object(reason=_TEXT, index={"type": "integer"})
SAID_SCHEMA = closed_object(message=_TEXT, missing=_TEXT)


def choice_messages(scene: Scene, intents: Sequence[OpenIntent], version: str) -> Messages:
    return load_prompt("next_intent", version).messages(
        person=scene.person,
        conversation=scene.conversation,
        work=scene.work or NOTHING,
        wishes="\n".join(map(_wish, intents)),
    )


def voice_messages(scene: Scene, wishes: Wishes, version: str) -> Messages:
    return load_prompt("voice", version).messages(
        person=scene.person,
        earlier=scene.earlier or NOTHING,
        conversation=scene.conversation,
        work=scene.work or NOTHING,
        missing="\n".join(map(escape, _once(scene.missing))) or NOTHING,
        settled=_settled(wishes) or NOTHING,
        held_back=escape(join(wishes.held_back)) or NOTHING,
        say=escape(join(wishes.told)),
        lacks="\n".join(escape(intent.lacks) for intent in wishes.told if intent.lacks) or NOTHING,
        state=scene.state,
    )


def check_messages(scene: Scene, message: str, wishes: Wishes, version: str) -> Messages:
    settled = _settled(wishes)
    known = (scene.person, settled, scene.earlier, scene.conversation, scene.work)
    return load_prompt("voice_check", version).messages(
        message=escape(message),
        reply=scene.reply or NOTHING,
        known="\n\n".join(part for part in known if part),
        person=scene.person,
        earlier=scene.earlier,
        work=scene.work,
        conversation=scene.conversation,
        settled=settled,
        should_say=escape(join(wishes.told)),
        must_hold_back=escape(join(wishes.held_back)) or NOTHING,
    )


def check_schema(version: str) -> dict[str, Any]:
    return closed_object(reason=_TEXT, **dict.fromkeys(_flags(version), _FLAG))


def parse_choice(answer: str, indexes: Collection[int]) -> int:
    """Raises ValueError, as all that parse here."""
    index = _document(answer).get("index")
    if not isinstance(index, int) or isinstance(index, bool) or index not in indexes:
        raise ValueError(f"“index” must be one of {', '.join(map(str, indexes))}.")
    return index


def parse_said(answer: str) -> Said:
    """What the model repeats as its prompt shows it, escaped, is said as it is: a password, for one."""
    document = _document(answer)
    message, missing = document.get("message"), document.get("missing", "")
    if not isinstance(message, str) or not message.strip() or not isinstance(missing, str):
        raise ValueError("“message” must be a text, and “missing” a text or empty.")
    return Said(unescape(message.strip()), unescape(" ".join(missing.split()))[:MAX_MISSING])


def parse_check(answer: str, version: str) -> str:
    """What is wrong; empty if the message holds."""
    document = _document(answer)
    values = {name: document.get(name) for name in _flags(version)}
    if not all(isinstance(value, bool) for value in values.values()):
        raise ValueError(f"{', '.join(f'“{name}”' for name in values)} must be true or false.")
    wrong = [name for name, holds in values.items() if not holds]
    return str(document.get("reason") or f"Not so: {', '.join(wrong)}.") if wrong else ""


def recites(message: str, told: Sequence[OpenIntent]) -> bool:
    """Whether it has a whole intent in its author's words. One of a few words can hardly be put otherwise."""
    words = f" {' '.join(message.split())} "
    texts = (intent.content.split() for intent in told)
    return any(len(text) >= RECITED and " ".join(text) in words for text in texts)


def _wish(intent: OpenIntent) -> str:
    lacks = f' lacks="{escape_attribute(intent.lacks)}"' if intent.lacks else ""
    return f'<wish index="{intent.index}"{lacks}>{escape(intent.content)}</wish>'


def _flags(version: str) -> list[str]:
    """What a check of this version decides."""
    asked = load_prompt("voice_check", version).user
    return [flag for flag in FLAGS if f'"{flag}"' in asked]


def _settled(wishes: Wishes) -> str:
    return escape("\n\n".join(wishes.settled))


def _once(things: Sequence[str]) -> Iterable[str]:
    """However they are spelled."""
    return {thing.casefold(): thing for thing in things}.values()


def _document(answer: str) -> dict[str, Any]:
    document = extract_document(answer)
    if not isinstance(document, dict):
        raise ValueError("It is not a JSON object.")
    return document

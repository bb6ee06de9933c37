"""How the simulated user puts an answer: the author's words, or in the persona's voice (PIBENCH.md, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from evaluation.protocol.answers import extract_document
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import CURRENT, VOICE_NAMES, current_prompts, load_prompt
from evaluation.protocol.prompts import closed_object, escape
from evaluation.protocol.versions import ProtocolName

TRIES = 3
"""Phrasings that are checked before the author's words are used."""
_FLAG = {"type": "boolean"}
CHECK_SCHEMA = closed_object(says_all=_FLAG, holds_back=_FLAG, reason={"type": "string"})
Messages = list[dict[str, str]]


class UserStyle(StrEnum):
    VERBATIM = "verbatim"
    IN_VOICE = "in-voice"


STYLES = {
    UserStyle.VERBATIM: "The author’s words, as in the public release.",
    UserStyle.IN_VOICE: "As the persona would say it, and with the protocol paper they listen and answer questions; "
    "another call checks that nothing is lost, added, denied or given away. Two or three more calls per answer, at "
    "most seven.",
}


USUAL_STYLE = "As the protocol has it: paper in-voice (a scripted model verbatim), release verbatim"


def usual_style(protocol: ProtocolName, *, scripted: bool) -> UserStyle:
    """A scripted model says everything verbatim."""
    return UserStyle.VERBATIM if scripted or protocol == ProtocolName.RELEASE else UserStyle.IN_VOICE


def freeze_user(style: str, protocol: ProtocolName) -> dict[str, object]:
    """As a pilot's configuration has it."""
    if style == UserStyle.VERBATIM:
        return {"style": style}
    names = [name for name in VOICE_NAMES if name in CURRENT[protocol]]
    return {"style": style, "prompts": current_prompts(protocol, names)}


@dataclass(frozen=True)
class VoicedAnswer:
    text: str
    style: str = ""
    """``in-voice``; ``verbatim`` if no phrasing held; empty if none was wanted."""
    missing: str = ""
    """What the agent cannot go on without and the user cannot give."""


class User(Protocol):
    """How the simulated user goes on after a reply."""

    def choose(self, intents: Sequence[OpenIntent]) -> OpenIntent:
        """The one to bring up, of those that are open, if the reply asked for none."""
        ...

    def say(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer: ...


class VerbatimUser:
    def choose(self, intents: Sequence[OpenIntent]) -> OpenIntent:
        return intents[0]

    def say(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
        return VoicedAnswer(join(told))


def join(intents: Sequence[OpenIntent]) -> str:
    return "\n\n".join(intent.content for intent in intents)


def phrase(
    told: Sequence[OpenIntent], held_back: Sequence[OpenIntent], say: Callable[[int], str], check: Callable[[str], bool]
) -> VoicedAnswer:
    """``say`` takes the number of the try, from 0."""
    for attempt in range(TRIES):
        text = say(attempt).strip()
        if text and check(text):
            return VoicedAnswer(text, UserStyle.IN_VOICE)
    return VoicedAnswer(join(told), UserStyle.VERBATIM)


def voice_messages(person: str, reply: str, told: Sequence[OpenIntent], version: str = "1") -> Messages:
    return load_prompt("voice", version).messages(person=escape(person), reply=escape(reply), say=escape(join(told)))


def check_messages(
    message: str, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent], version: str = "1"
) -> Messages:
    return load_prompt("voice_check", version).messages(
        message=escape(message), should_say=escape(join(told)), must_hold_back=escape(join(held_back)) or "(nothing)"
    )


def parse_check(answer: str) -> bool:
    """Whether the message says all and holds back the rest. Raises ValueError."""
    document = extract_document(answer)
    values = [document.get(name) for name in ("says_all", "holds_back")] if isinstance(document, dict) else []
    if not values or not all(isinstance(value, bool) for value in values):
        raise ValueError("“says_all” and “holds_back” must be true or false.")
    return all(values)

"""The simulated user speaks in the persona's voice, by the model that plays the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evaluation.call_records import CallRecord
from evaluation.judging.judgings import judge_of
from evaluation.models import Judging, Session
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import load_prompt
from evaluation.protocol.voice import (
    CHECK_SCHEMA,
    STYLES,
    Speak,
    UserStyle,
    VoicedAnswer,
    check_messages,
    parse_check,
    phrase,
    say_verbatim,
    voice_messages,
)
from studio.domain.persona import PersonaSpec

PURPOSE = "voice"
CHECK_TRIES = 5
USER_STYLES = {style.value: text for style, text in STYLES.items()}


def freeze_user(style: str) -> dict[str, object]:
    """As a pilot's configuration has it."""
    if style == UserStyle.VERBATIM:
        return {"style": style}
    prompts = {name: load_prompt(name).identity for name in ("voice", "voice_check")}
    return {"style": style, "prompts": prompts}


def speaker(
    session: Session, persona: PersonaSpec, judging: Judging, record: CallRecord, turn: Callable[[], int]
) -> Speak:
    """``judging`` is that of the intents: the same model marks them and speaks."""
    user = session.run.pilot.config.get("user") or {}
    if user.get("style") != UserStyle.IN_VOICE:
        return say_verbatim
    versions = {name: str(prompt["version"]) for name, prompt in user["prompts"].items()}
    client = record.client(judge_of(judging), PURPOSE, turn, judging=judging)

    def speak(reply: str, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
        def say(attempt: int) -> str:
            messages = voice_messages(describe(persona), reply, told, versions["voice"])
            return client.complete(messages, sequence=attempt).text

        def check(text: str) -> bool:
            holds, _ = client.ask_json(
                check_messages(text, told, held_back, versions["voice_check"]),
                "voice_check",
                CHECK_SCHEMA,
                parse_check,
                max_tries=CHECK_TRIES,
                temperature=0,
            )
            return holds

        return phrase(told, held_back, say, check)

    return speak


def describe(persona: PersonaSpec) -> str:
    tone = persona.attributes.get("tone")
    parts = [persona.name, persona.role_text, persona.occupation, persona.working_style, str(tone or "")]
    return "\n\n".join(part.strip() for part in parts if part.strip())

"""The simulated user speaks in the persona's voice, by the model that plays the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.llm import ModelClient
from evaluation.protocol.participants import OpenIntent
from evaluation.protocol.prompt_files import VoicePromptName
from evaluation.protocol.voice import CHECK_SCHEMA, VoicedAnswer, check_messages, parse_check, phrase, voice_messages
from studio.domain.persona import PersonaSpec

PURPOSE = "voice"
CHECK_TRIES = 5


@dataclass(frozen=True)
class PersonaVoice:
    """``evaluation.protocol.voice.Speak``"""

    client: ModelClient
    persona: PersonaSpec
    versions: Mapping[VoicePromptName, str]

    def __call__(self, reply: str, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
        def say(attempt: int) -> str:
            messages = voice_messages(describe(self.persona), reply, told, self.versions["voice"])
            return self.client.complete(messages, sequence=attempt).text

        def check(text: str) -> bool:
            holds, _ = self.client.ask_json(
                check_messages(text, told, held_back, self.versions["voice_check"]),
                "voice_check",
                CHECK_SCHEMA,
                parse_check,
                max_tries=CHECK_TRIES,
                temperature=0,
            )
            return holds

        return phrase(told, held_back, say, check)


def describe(persona: PersonaSpec) -> str:
    tone = persona.attributes.get("tone")
    parts = [persona.name, persona.role_text, persona.occupation, persona.working_style, str(tone or "")]
    return "\n\n".join(part.strip() for part in parts if part.strip())

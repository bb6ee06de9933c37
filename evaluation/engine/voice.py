"""The simulated user speaks in the persona's voice, by the model that plays the user."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evaluation.agents.react import NOTES
from evaluation.grading.work import Work, sections
from evaluation.llm import ModelClient
from evaluation.protocol import listening
from evaluation.protocol.listening import Said, Scene, Wishes
from evaluation.protocol.participants import AgentReply, OpenIntent
from evaluation.protocol.prompt_files import VoicePromptName
from evaluation.protocol.prompts import escape
from evaluation.protocol.session import IntentState
from evaluation.protocol.voice import (
    CHECK_SCHEMA,
    TRIES,
    UserStyle,
    VerbatimUser,
    VoicedAnswer,
    check_messages,
    join,
    parse_check,
    phrase,
    voice_messages,
)
from evaluation.tools.apps.catalog import APPS
from evaluation.workspaces.manifests import Read
from studio.domain.cast import read_cast
from studio.domain.persona import PersonaSpec

PURPOSE = "voice"
MAX_EARLIER = 20_000
"""Characters of what was said in earlier sessions, the latest."""
MAX_PEOPLE = 6_000
"""Characters of sign-ins and addresses; who can sign in comes first."""
ANSWER_TRIES = 5
TRIES_APART = 100
"""Between the samples of two phrasings."""


@dataclass(frozen=True)
class PersonaVoice(VerbatimUser):
    """Of the protocol ``release``."""

    client: ModelClient
    persona: PersonaSpec
    versions: Mapping[VoicePromptName, str]
    reply: str

    def say(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
        def say(attempt: int) -> str:
            messages = voice_messages(describe(self.persona), self.reply, told, self.versions["voice"])
            return self.client.complete(messages, sequence=attempt).text

        def check(text: str) -> bool:
            holds, _ = self.client.ask_json(
                check_messages(text, told, held_back, self.versions["voice_check"]),
                "voice_check",
                CHECK_SCHEMA,
                parse_check,
                max_tries=ANSWER_TRIES,
                temperature=0,
            )
            return holds

        return phrase(told, held_back, say, check)


@dataclass(frozen=True)
class ListeningUser:
    """``evaluation.protocol.voice.User`` of the protocol ``paper``."""

    client: ModelClient
    scene: Callable[[], Scene]
    versions: Mapping[VoicePromptName, str]
    known: Collection[int] = ()
    """Intents that the request said in full: no secret, and reminded of once nothing else is open."""
    intents: Sequence[IntentState] = ()
    """All of the task's, before this turn."""

    def choose(self, intents: Sequence[OpenIntent]) -> OpenIntent:
        intents = [intent for intent in intents if intent.index not in self.known] or intents
        if len(intents) == 1:
            return intents[0]
        by_index = {intent.index: intent for intent in intents}
        messages = listening.choice_messages(self.scene(), intents, self.versions["next_intent"])
        parse = partial(listening.parse_choice, indexes=by_index)
        return by_index[self._ask(messages, "next_intent", listening.CHOICE_SCHEMA, parse)[0]]

    def say(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> VoicedAnswer:
        """A phrasing that does not hold is asked for again, with what is wrong with it."""
        wishes = self._wishes(told, held_back)
        messages = listening.voice_messages(self.scene(), wishes, self.versions["voice"])
        said = Said("")
        for attempt in range(TRIES):
            first = attempt * TRIES_APART
            said, completion = self._ask(messages, "said", listening.SAID_SCHEMA, listening.parse_said, first=first)
            problem = self._check(said.message, wishes)
            if not problem:
                return VoicedAnswer(said.message, UserStyle.IN_VOICE, said.missing)
            messages += [
                {"role": "assistant", "content": completion.text},
                {"role": "user", "content": f"This cannot be sent: {problem} Answer again, with another message."},
            ]
        return VoicedAnswer(join(told), UserStyle.VERBATIM, said.missing)

    def _wishes(self, told: Sequence[OpenIntent], held_back: Sequence[OpenIntent]) -> Wishes:
        open_now = {intent.index for intent in (*told, *held_back)}
        unsaid = (each for each in self.intents if each.turn is None or each.status == "completed")
        return Wishes(
            told,
            [intent for intent in held_back if intent.index not in self.known],
            [each.content for each in unsaid if each.index not in open_now],
        )

    def _check(self, message: str, wishes: Wishes) -> str:
        """What is wrong with it."""
        if listening.recites(message, wishes.told):
            return "It repeats what stands in <say> word for word. The person says it in their own words."
        version = self.versions["voice_check"]
        messages = listening.check_messages(self.scene(), message, wishes, version)
        schema, parse = listening.check_schema(version), partial(listening.parse_check, version=version)
        problem: str = self._ask(messages, "voice_check", schema, parse, temperature=0)[0]
        return problem

    def _ask(self, messages: Any, name: str, schema: Any, parse: Any, **params: Any) -> Any:
        return self.client.ask_json(messages, name, schema, parse, max_tries=ANSWER_TRIES, **params)


def scene_of(person: str, earlier: Sequence[str], work: Work, reply: AgentReply, missing: tuple[str, ...]) -> Scene:
    """``person``: all that they know. They see of the work what judges do."""
    shown = sections(work)
    state = "The latest reply is empty." if not reply.text.strip() else ""
    if reply.note == NOTES["cut"]:
        state = "The latest reply breaks off at its end."
    return Scene(
        escape(person),
        escape("\n".join(earlier)[-MAX_EARLIER:]),
        shown["conversation"],
        f"<files>\n{shown['inputs_first']}\n</files>\n\n<calls>\n{shown['calls']}\n</calls>",
        escape(reply.text),
        state,
        missing,
    )


def know(persona: PersonaSpec, read: Read) -> str:
    """The profile, and what the apps held of people as the episode began, as its person knows it."""
    facts = {**persona.attributes, **persona.preferences}
    lines = [f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in facts.items()]
    goals = [str(goal) for goal in persona.long_term_goals]
    parts = (describe(persona), persona.routines, "\n".join((*lines, *goals)), _people(persona, read))
    return "\n\n".join(part for part in parts if part)


def _people(persona: PersonaSpec, read: Read) -> str:
    """Their sign-ins and addresses."""
    files = {app: file.sha256 for app, file in persona.app_data.items() if app in APPS}
    stored = read(list(files.values()))
    data = {app: json.loads(stored[sha256]) for app, sha256 in files.items()}
    cast = read_cast(data, {app: APPS[app].signs_in_by for app in files})
    titles = {app: APPS[app].title for app in files}
    return "\n".join(f"{what}: {value}" for person in cast for value, what in person.citations(titles))[:MAX_PEOPLE]


def describe(persona: PersonaSpec) -> str:
    tone = persona.attributes.get("tone")
    parts = [persona.name, persona.role_text, persona.occupation, persona.working_style, str(tone or "")]
    return "\n\n".join(part.strip() for part in parts if part.strip())

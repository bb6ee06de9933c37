"""New hidden intents, each with where it can be found out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import ConfigDict

from evaluation.assistance.answers.base import (
    MAX_ROW_TEXT,
    MAX_ROWS,
    AnswerModel,
    clean_note,
    clean_within,
    comparable,
    read_rows,
    strict_schema,
)
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material, available_tools
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError, occurs
from studio.domain.task import Recovery, Scope


class ProposedIntent(AnswerModel):
    content: str
    scope: Scope = "session_local"
    from_: Literal["file", "session", "tool", "profile", "question"] = "question"
    ref: str = ""
    quote: str = ""
    why: str = ""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra=strict_schema,
        alias_generator=lambda name: name.rstrip("_"),
        populate_by_name=True,
    )


class ProposedIntents(AnswerModel):
    intents: list[ProposedIntent]


def read(answer: ProposedIntents, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    seen = {comparable(intent.content) for intent in material.task.intents}

    def read_intent(intent: ProposedIntent) -> ProposedChange | None:
        text = clean_within(intent.content, MAX_ROW_TEXT)
        if not text or comparable(text) in seen:
            return None
        ref = _validate_ref(intent, material)
        seen.add(comparable(text))
        source = _source_text(intent, ref, material)
        quote = clean_note(intent.quote)
        quoted = bool(source) and occurs(quote, source)
        return ProposedChange(
            field="intents",
            text=text,
            why=clean_note(intent.why),
            quote=quote if quoted else "",
            supported=quoted or intent.from_ not in ("file", "profile"),
            scope=intent.scope,
            recovery=Recovery(kind=intent.from_, ref=ref, note=quote[:200] if quoted else ""),
        )

    return read_rows(answer.intents[:MAX_ROWS], read_intent)


def _validate_ref(intent: ProposedIntent, material: Material) -> str:
    known: Mapping[str, Iterable[str]] = {
        "file": material.files,
        "session": material.earlier,
        "tool": available_tools(material),
    }
    if intent.from_ not in known:
        return ""
    ref = intent.ref.strip()
    if ref not in known[intent.from_]:
        raise UnusableAnswerError(f'There is no {intent.from_} "{ref[:80]}" in the material.')
    return ref


def _source_text(intent: ProposedIntent, ref: str, material: Material) -> str:
    if intent.from_ == "file":
        return material.files[ref]
    if intent.from_ == "profile":
        person = material.persona
        texts = (person.occupation, person.role_text, person.routines, person.working_style)
        return "\n".join((*texts, *(str(value) for value in person.preferences.values())))
    return ""

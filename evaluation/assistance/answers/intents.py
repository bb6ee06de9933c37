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
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError, occurs
from studio.domain.checks.sources import established_text
from studio.domain.task import Recovery, Scope

SCORED = (
    "“{}” has its own checklist, so this task cannot build on it. Move that checklist here first, or choose another "
    "source."
)


class ProposedIntent(AnswerModel):
    content: str
    scope: Scope = "session_local"
    from_: Literal["file", "session", "tool", "question"] = "question"
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
    seen = {comparable(text) for text in (*(each.content for each in material.task.intents), *material.dismissed)}

    def read_intent(intent: ProposedIntent) -> ProposedChange | None:
        text = clean_within(intent.content, MAX_ROW_TEXT)
        if not text or comparable(text) in seen:
            return None
        ref = _validate_ref(intent, material)
        seen.add(comparable(text))
        source = _source_text(intent, ref, material)
        quote = clean_note(intent.quote)
        quoted = occurs(quote, source)
        return ProposedChange(
            field="intents",
            text=text,
            why=clean_note(intent.why),
            quote=quote if quoted else "",
            supported=quoted or intent.from_ != "file",
            scope=intent.scope,
            notes=(SCORED.format(ref),) if intent.from_ == "session" and not material.earlier[ref].is_setup else (),
            recovery=Recovery(kind=intent.from_, ref=ref, note=quote[:200] if quoted else ""),
        )

    return read_rows(answer.intents[:MAX_ROWS], read_intent)


def _validate_ref(intent: ProposedIntent, material: Material) -> str:
    known: Mapping[str, Iterable[str]] = {
        "file": material.files,
        "session": material.earlier,
        "tool": [card.name for card in material.tools],
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
    if intent.from_ == "session":
        return established_text(material.earlier[ref])
    if intent.from_ == "tool":
        tables = (table for app in material.apps.values() for table in app.tables)
        return "\n".join(cell for table in tables for row in table.rows for cell in row)
    return ""

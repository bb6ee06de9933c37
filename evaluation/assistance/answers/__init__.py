"""Reading what a model answers: tolerant of wrapping, strict about what it names, and verifying every quote.

Ids, numbers, paths and tools must be the task's own; otherwise the answer is rejected with a reason, and the model is
asked again. Text is cleaned of control and bidirectional characters, and lengths are limited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from pydantic import ConfigDict, ValidationError

from evaluation.assistance.answers.base import (
    MAX_ROW_TEXT,
    MAX_ROWS,
    AnswerModel,
    clean_note,
    clean_within,
    comparable,
    lost_numbers,
    max_length,
    read_rows,
    require_intent,
    strict_schema,
)
from evaluation.assistance.answers.rules import RuleAnswer, RuleFields, loss_of, read_rule, read_rule_answer
from evaluation.assistance.kinds import REFERENCE_OF, ProposalRequest
from evaluation.assistance.material import Material, translatable_texts
from evaluation.assistance.proposals import ProposedChange, text_of
from evaluation.protocol.answers import UnusableAnswerError, extract_document, occurs
from evaluation.protocol.assistance import Kind
from studio.domain.checks.sources import established_text, opening_text
from studio.domain.task import Recovery, Scope, TaskSpec

Changes = tuple[ProposedChange, ...]


class Rewording(AnswerModel):
    request: str
    why: str = ""


def read_rewording(answer: Rewording, request: ProposalRequest, material: Material) -> Changes:
    before = material.task.initial_request
    text = clean_within(answer.request, max_length("initial_request", before))
    if not text:
        raise UnusableAnswerError("The request is empty.")
    if comparable(text) == comparable(before):
        raise UnusableAnswerError("The request is unchanged.")
    change = ProposedChange(
        field="initial_request", text=text, why=clean_note(answer.why), notes=lost_numbers(before, text)
    )
    return (change,)


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


def read_intents(answer: ProposedIntents, request: ProposalRequest, material: Material) -> Changes:
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


class Split(AnswerModel):
    parts: list[str]
    why: str = ""


def read_split(answer: Split, request: ProposalRequest, material: Material) -> Changes:
    texts = list(dict.fromkeys(filter(None, (clean_within(part, MAX_ROW_TEXT) for part in answer.parts))))
    if not 2 <= len(texts) <= MAX_ROWS:
        raise UnusableAnswerError(f"A split has from 2 to {MAX_ROWS} different parts, not {len(texts)}.")
    whole = text_of(material.task, request.field, request.uid) or ""
    notes = lost_numbers(whole, " ".join(texts))
    return tuple(
        ProposedChange(
            field=request.field,
            uid=request.uid,
            text=text,
            why="" if position else clean_note(answer.why),
            notes=() if position else notes,
        )
        for position, text in enumerate(texts)
    )


class ProposedItem(AnswerModel):
    criterion: str
    follows_from: list[int] = []
    quote: str = ""
    rule: RuleFields | None = None
    why: str = ""


class ProposedItems(AnswerModel):
    items: list[ProposedItem]


def read_items(answer: ProposedItems, request: ProposalRequest, material: Material) -> Changes:
    task = material.task
    seen = {comparable(text) for text in (*(item.criterion for item in task.checklist), *material.dismissed)}
    evidence = tuple(path for path in task.files_read if request.reference == f"{REFERENCE_OF}{path}")

    def read_item(item: ProposedItem) -> ProposedChange | None:
        text = clean_within(item.criterion, MAX_ROW_TEXT)
        if not text or comparable(text) in seen:
            return None
        for number in item.follows_from:
            require_intent(number, material)
        seen.add(comparable(text))
        quote = clean_note(item.quote)
        quoted = occurs(quote, request.reference_text)
        rule = read_rule(item.rule, material) if item.rule and item.rule.kind else None
        loss = loss_of(text, rule, material) if rule else ""
        return ProposedChange(
            field="checklist",
            text=text,
            why=clean_note(item.why),
            quote=quote if quoted else "",
            supported=quoted,
            follows_from=tuple(dict.fromkeys(task.intents[number - 1].uid for number in item.follows_from)),
            evidence=evidence,
            rule=None if loss else rule,
            notes=(loss,) if loss else (),
        )

    return read_rows(answer.items[:MAX_ROWS], read_item)


MAX_TEXTS = 400


class Translation(AnswerModel):
    id: str
    text: str


class Translations(AnswerModel):
    texts: list[Translation]


def read_translations(answer: Translations, request: ProposalRequest, material: Material) -> Changes:
    originals = translatable_texts(material.task, request.field)
    translated: dict[str, str] = {}
    for each in answer.texts[: MAX_TEXTS + 1]:
        if each.id not in originals:
            raise UnusableAnswerError(f'There is no text "{each.id[:80]}".')
        if each.id in translated:
            raise UnusableAnswerError(f'The text "{each.id[:80]}" is given twice.')
        translated[each.id] = clean_within(each.text, max_length(each.id.partition(".")[0], originals[each.id]))
    if missing := next((name for name in originals if not translated.get(name)), None):
        raise UnusableAnswerError(f'The text "{missing}" is missing.')
    changes = []
    for name, before in originals.items():
        field, _, number = name.partition(".")
        uid = getattr(material.task, field)[int(number) - 1].uid if number else ""
        text = " ".join(translated[name].split()) if field == "title" else translated[name]
        if comparable(text) != comparable(before):
            changes.append(ProposedChange(field=field, uid=uid, text=text, notes=lost_numbers(before, text)))
    return tuple(changes)


MAX_LEAKS = 4 * MAX_ROWS


class ReportedLeak(AnswerModel):
    intent: int
    degree: Literal["wholly", "partly"]
    quote: str = ""
    why: str = ""


class ReportedLeaks(AnswerModel):
    given_away: list[ReportedLeak]


def read_leaks(answer: ReportedLeaks, request: ProposalRequest, material: Material) -> Changes:
    """One change per intent; a quote that does not occur in the request is left out."""
    task = material.task

    def read_leak(leak: ReportedLeak) -> ProposedChange | None:
        require_intent(leak.intent, material)
        quoted = occurs(leak.quote, opening_text(task))
        intent = task.intents[leak.intent - 1]
        return ProposedChange(
            field="intents",
            uid=intent.uid,
            text=intent.content,
            why=clean_note(leak.why),
            quote=clean_note(leak.quote) if quoted else "",
            supported=quoted,
            degree=leak.degree,
        )

    changes = {change.uid: change for change in reversed(read_rows(answer.given_away[:MAX_LEAKS], read_leak))}
    return tuple(changes[intent.uid] for intent in task.intents if intent.uid in changes)


def is_read_wholly(answer: str, task: TaskSpec) -> bool:
    """Whether ``read_leaks`` leaves out no row, so that an intent without one is not given away."""
    try:
        rows = ReportedLeaks.model_validate(extract_document(answer)).given_away
    except (ValidationError, UnusableAnswerError):
        return False
    return len(rows) <= MAX_LEAKS and all(1 <= row.intent <= len(task.intents) for row in rows)


KINDS: dict[Kind, tuple[type[AnswerModel], Callable[[Any, ProposalRequest, Material], Changes]]] = {
    "reword": (Rewording, read_rewording),
    "intents": (ProposedIntents, read_intents),
    "split": (Split, read_split),
    "rule": (RuleAnswer, read_rule_answer),
    "checklist": (ProposedItems, read_items),
    "translate": (Translations, read_translations),
    "leaks": (ReportedLeaks, read_leaks),
}
"""The shape of an answer, and what reads it."""


def schema_of(kind: Kind) -> Mapping[str, Any]:
    return KINDS[kind][0].model_json_schema()


def read_answer(request: ProposalRequest, material: Material, answer: str) -> Changes:
    """The changes an answer proposes; none if the model has none. Raises UnusableAnswerError."""
    shape, read = KINDS[request.kind]
    return read(_parse(shape, extract_document(answer)), request, material)


def _parse(shape: type[AnswerModel], document: Any) -> AnswerModel:
    """Rows of the wrong shape are left out; where all are, so is the answer."""
    try:
        return shape.model_validate(document)
    except ValidationError as error:
        places = [each["loc"] for each in error.errors(include_input=False, include_url=False)]
        name = places[0][0] if places[0] else ""
        wrong = {place[1] for place in places if len(place) > 2 and place[0] == name}
        rows = document[name] if wrong else []
        kept = [row for number, row in enumerate(rows) if number not in wrong]
        if not kept:
            raise UnusableAnswerError(_first_error(error)) from None
        return _parse(shape, {**document, name: kept})


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    return f"{path or 'The answer'}: {first['msg']}."

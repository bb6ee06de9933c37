"""Reading what a model answers: tolerant of wrapping, strict about what it names, and believing no quote unseen.

Ids, numbers, paths and tools must be the task's own; else the answer is refused with a reason, and whoever asked may
ask again. Words become plain text: what could hide or reorder other words is taken out, and lengths have limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from evaluation.assistance.kinds import ROW_FIELDS, Assignment
from evaluation.assistance.material import Material, texts_of, tools_of
from evaluation.assistance.proposals import Proposal, text_at
from evaluation.protocol.answers import UnusableAnswerError, document_in, occurs
from evaluation.protocol.assistance import Kind
from studio.domain.archive import why_unsafe
from studio.domain.task import ExactCheck, Recovery, Scope

LONGEST = 2_000
"""Characters of an intent or criterion."""
LONGEST_TEXT = 20_000
"""Of another text."""
LONGEST_WORD = 600
"""Of a reason or quote."""
MOST_ROWS = 12
MOST_TEXTS = 400
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def _strict(schema: dict[str, Any]) -> None:
    """Every field named and no other: what endpoints that enforce a schema want."""
    schema["required"] = list(schema.get("properties", ()))
    schema["additionalProperties"] = False


class Said(BaseModel):
    """What an answer may say; more than that is passed over."""

    model_config = ConfigDict(extra="ignore", json_schema_extra=_strict)


class Reworded(Said):
    request: str
    why: str = ""


class SaidIntent(Said):
    content: str
    scope: Scope = "session_local"
    from_: Literal["file", "session", "tool", "profile", "question"] = "question"
    ref: str = ""
    quote: str = ""
    why: str = ""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra=_strict,
        alias_generator=lambda name: name.rstrip("_"),
        populate_by_name=True,
    )


class SaidIntents(Said):
    intents: list[SaidIntent]


class Parts(Said):
    parts: list[str]
    why: str = ""


class SaidRule(Said):
    exact: bool
    kind: Literal["file_exists", "file_contains", "file_lacks", "reply_contains", "reply_lacks", "tool_called", ""] = ""
    path: str = ""
    text: str = ""
    tool: str = ""
    why: str = ""


class SaidItem(Said):
    criterion: str
    follows_from: list[int] = []
    quote: str = ""
    why: str = ""


class SaidItems(Said):
    items: list[SaidItem]


class Translated(Said):
    id: str
    text: str


class Translation(Said):
    texts: list[Translated]


class Leaked(Said):
    intent: int
    degree: Literal["wholly", "partly"]
    quote: str = ""
    why: str = ""


class GivenAway(Said):
    given_away: list[Leaked]


SHAPES: dict[Kind, type[Said]] = {
    "reword": Reworded,
    "intents": SaidIntents,
    "split": Parts,
    "rule": SaidRule,
    "checklist": SaidItems,
    "translate": Translation,
    "leaks": GivenAway,
}


def longest(field: str, before: str) -> int:
    """How many characters words for a field may have: what stands there may be long, and a translation of it longer."""
    return max(LONGEST if field in ROW_FIELDS else LONGEST_TEXT, 2 * len(before))


def schema_of(kind: Kind) -> Mapping[str, Any]:
    return SHAPES[kind].model_json_schema()


def read_answer(assignment: Assignment, material: Material, answer: str) -> tuple[Proposal, ...]:
    """The proposals in an answer; none where the model has none. Raises UnusableAnswerError."""
    document = document_in(answer)
    try:
        said = SHAPES[assignment.kind].model_validate(document)
    except ValidationError as wrong:
        raise UnusableAnswerError(_complaint(wrong)) from None
    return READERS[assignment.kind](said, assignment, material)


def _reword(said: Reworded, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    text = _text(said.request, longest("initial_request", material.task.initial_request))
    if not text:
        raise UnusableAnswerError("The request is empty.")
    if _flat(text) == _flat(material.task.initial_request):
        raise UnusableAnswerError("The request is what it was.")
    remarks = _lost_numbers(material.task.initial_request, text)
    return (Proposal(field="initial_request", text=text, why=_word(said.why), remarks=remarks),)


def _intents(said: SaidIntents, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    there = {_flat(intent.content) for intent in material.task.intents}
    found = []
    for one in said.intents[:MOST_ROWS]:
        text = _text(one.content, LONGEST)
        if not text or _flat(text) in there:
            continue
        there.add(_flat(text))
        known: Mapping[str, Iterable[str]] = {
            "file": material.files,
            "session": material.earlier,
            "tool": tools_of(material),
        }
        ref = one.ref.strip() if one.from_ in known else ""
        if one.from_ in known and ref not in known[one.from_]:
            raise UnusableAnswerError(f'There is no {one.from_} "{ref[:80]}" in the material.')
        source = material.files[ref] if one.from_ == "file" else _profile(material) if one.from_ == "profile" else ""
        quote = _word(one.quote)
        stands = bool(source) and occurs(quote, source)
        found.append(
            Proposal(
                field="intents",
                text=text,
                why=_word(one.why),
                quote=quote if stands else "",
                supported=stands or one.from_ not in ("file", "profile"),
                scope=one.scope,
                recovery=Recovery(kind=one.from_, ref=ref, note=quote[:200] if stands else ""),
            )
        )
    return tuple(found)


def _split(said: Parts, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    texts = list(dict.fromkeys(filter(None, (_text(part, LONGEST) for part in said.parts))))
    if not 2 <= len(texts) <= MOST_ROWS:
        raise UnusableAnswerError(f"A split has from 2 to {MOST_ROWS} different parts, not {len(texts)}.")
    whole = text_at(material.task, assignment.field, assignment.uid) or ""
    remarks = _lost_numbers(whole, " ".join(texts))
    return tuple(
        Proposal(
            field=assignment.field,
            uid=assignment.uid,
            text=text,
            why="" if number else _word(said.why),
            remarks=() if number else remarks,
        )
        for number, text in enumerate(texts)
    )


def _rule(said: SaidRule, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    if not said.exact:
        return ()
    if not said.kind:
        raise UnusableAnswerError("The kind of the rule is missing.")
    path, text, tool = said.path.strip(), _text(said.text, LONGEST), said.tool.strip()
    on_file, with_text = said.kind.startswith("file_"), said.kind.endswith(("_contains", "_lacks"))
    if on_file and (why := why_unsafe(path)):
        raise UnusableAnswerError(f'"{path[:80]}" is no path in the workspace. {why}')
    if with_text and not text:
        raise UnusableAnswerError("The rule has no text to look for.")
    if said.kind == "tool_called" and tool not in tools_of(material):
        raise UnusableAnswerError(f'There is no tool "{tool[:80]}".')
    rule = ExactCheck(
        kind=said.kind,
        path=path if on_file else "",
        text=text if with_text else "",
        tool=tool if said.kind == "tool_called" else "",
    )
    criterion = text_at(material.task, "checklist", assignment.uid) or ""
    return (Proposal(field="checklist", uid=assignment.uid, text=criterion, why=_word(said.why), rule=rule),)


def _checklist(said: SaidItems, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    task = material.task
    there = {_flat(item.criterion) for item in task.checklist}
    seen = (assignment.reference,) if assignment.reference in task.files_read else ()
    found = []
    for one in said.items[:MOST_ROWS]:
        text = _text(one.criterion, LONGEST)
        if not text or _flat(text) in there:
            continue
        there.add(_flat(text))
        for number in one.follows_from:
            _require_intent(number, material)
        quote = _word(one.quote)
        stands = occurs(quote, assignment.reference_text)
        follows = tuple(dict.fromkeys(task.intents[number - 1].uid for number in one.follows_from))
        found.append(
            Proposal(
                field="checklist",
                text=text,
                why=_word(one.why),
                quote=quote if stands else "",
                supported=stands,
                follows_from=follows,
                evidence=seen,
            )
        )
    return tuple(found)


def _translate(said: Translation, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    asked = texts_of(material.task, assignment.field)
    given: dict[str, str] = {}
    for one in said.texts[: MOST_TEXTS + 1]:
        if one.id not in asked:
            raise UnusableAnswerError(f'There is no text "{one.id[:80]}".')
        if one.id in given:
            raise UnusableAnswerError(f'The text "{one.id[:80]}" is given twice.')
        given[one.id] = _text(one.text, longest(one.id.partition(".")[0], asked[one.id]))
    if missing := next((name for name in asked if not given.get(name)), None):
        raise UnusableAnswerError(f'The text "{missing}" is missing.')
    found = []
    for name, before in asked.items():
        field, _, number = name.partition(".")
        uid = getattr(material.task, field)[int(number) - 1].uid if number else ""
        text = " ".join(given[name].split()) if field == "title" else given[name]
        if _flat(text) != _flat(before):
            found.append(Proposal(field=field, uid=uid, text=text, remarks=_lost_numbers(before, text)))
    return tuple(found)


def _leaks(said: GivenAway, assignment: Assignment, material: Material) -> tuple[Proposal, ...]:
    """Only what the request can be shown to say: without its words no leak is told."""
    task = material.task
    found: dict[int, Proposal] = {}
    for one in said.given_away[: 4 * MOST_ROWS]:
        _require_intent(one.intent, material)
        if not occurs(one.quote, task.initial_request):
            continue
        intent = task.intents[one.intent - 1]
        found.setdefault(
            one.intent,
            Proposal(
                field="intents",
                uid=intent.uid,
                text=intent.content,
                why=_word(one.why),
                quote=_word(one.quote),
                degree=one.degree,
            ),
        )
    return tuple(found[number] for number in sorted(found))


READERS: dict[Kind, Callable[[Any, Assignment, Material], tuple[Proposal, ...]]] = {
    "reword": _reword,
    "intents": _intents,
    "split": _split,
    "rule": _rule,
    "checklist": _checklist,
    "translate": _translate,
    "leaks": _leaks,
}


def _require_intent(number: int, material: Material) -> None:
    if not 1 <= number <= len(material.task.intents):
        raise UnusableAnswerError(f"There is no hidden intent {str(number)[:20]}.")


def plain(text: str) -> str:
    """Words without what one cannot see: control characters, and marks that hide or turn around what follows."""
    flat = text.replace("\r\n", "\n").replace("\r", "\n")
    return _HIDDEN.sub("", flat.encode("utf-8", "replace").decode()).strip()


def _text(text: str, most: int) -> str:
    cleaned = plain(text)
    if len(cleaned) > most:
        raise UnusableAnswerError(f"A text has {len(cleaned)} characters; at most {most} are of use.")
    return cleaned


def _word(text: str) -> str:
    return " ".join(plain(text).split())[:LONGEST_WORD]


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()


def _profile(material: Material) -> str:
    person = material.persona
    own = (person.occupation, person.role_text, person.routines, person.working_style)
    return "\n".join((*own, *(str(value) for value in person.preferences.values())))


def _lost_numbers(before: str, after: str) -> tuple[str, ...]:
    """A remark where numbers of the one are not in the other: worth a look before it is taken."""
    there = set(_NUMBER.findall(after))
    lost = list(dict.fromkeys(number for number in _NUMBER.findall(before) if number not in there))
    return (f"Not in it any more: {', '.join(lost[:8])}.",) if lost else ()


def _complaint(wrong: ValidationError) -> str:
    """The first thing that is wrong, without repeating what was said."""
    first = wrong.errors(include_input=False, include_url=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place or 'The answer'}: {first['msg']}."

"""Reading what a model answers: tolerant of wrapping, strict about what it names, and verifying every quote.

Ids, numbers, paths and tools must be the task's own; otherwise the answer is rejected with a reason, and the model is
asked again. Text is cleaned of control and bidirectional characters, and lengths are limited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from evaluation.assistance.answers import checklist, intents, leaks, rewording, rules, splits, translations
from evaluation.assistance.answers.base import AnswerModel
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError, extract_document
from evaluation.protocol.assistance import Kind

SHAPES: dict[Kind, type[AnswerModel]] = {
    "reword": rewording.Rewording,
    "intents": intents.ProposedIntents,
    "split": splits.Split,
    "rule": rules.RuleAnswer,
    "checklist": checklist.ProposedItems,
    "translate": translations.Translations,
    "leaks": leaks.ReportedLeaks,
}
READERS: dict[Kind, Callable[[Any, ProposalRequest, Material], tuple[ProposedChange, ...]]] = {
    "reword": rewording.read,
    "intents": intents.read,
    "split": splits.read,
    "rule": rules.read,
    "checklist": checklist.read,
    "translate": translations.read,
    "leaks": leaks.read,
}


def schema_of(kind: Kind) -> Mapping[str, Any]:
    return SHAPES[kind].model_json_schema()


def read_answer(request: ProposalRequest, material: Material, answer: str) -> tuple[ProposedChange, ...]:
    """The changes an answer proposes; none if the model has none. Raises UnusableAnswerError."""
    return READERS[request.kind](_parse(SHAPES[request.kind], extract_document(answer)), request, material)


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

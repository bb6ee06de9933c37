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
    document = extract_document(answer)
    try:
        parsed = SHAPES[request.kind].model_validate(document)
    except ValidationError as error:
        raise UnusableAnswerError(_first_error(error)) from None
    return READERS[request.kind](parsed, request, material)


def _first_error(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    return f"{path or 'The answer'}: {first['msg']}."

"""Translations of a field or of all text of a task."""

from __future__ import annotations

from evaluation.assistance.answers.base import AnswerModel, clean_within, comparable, lost_numbers, max_length
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material, translatable_texts
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError

MAX_TEXTS = 400


class Translation(AnswerModel):
    id: str
    text: str


class Translations(AnswerModel):
    texts: list[Translation]


def read(answer: Translations, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
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

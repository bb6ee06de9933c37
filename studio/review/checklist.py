"""The review checklist: four questions to answer before approving a task (paper, section 3.2 and appendix I)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReviewQuestion:
    label: str
    text: str


QUESTIONS = {
    "realistic": ReviewQuestion(
        "Realistic", "Would someone in this role ask for this, in these words, and leave exactly this unsaid?"
    ),
    "feasible": ReviewQuestion(
        "Feasible", "Can it be done with the available files, tools and skills, and can every intent be found out?"
    ),
    "correct": ReviewQuestion("Correct", "Is what it asks for correct in this field, and does the checklist agree?"),
    "well_scoped": ReviewQuestion(
        "Well scoped",
        ("Is it one piece of work, large enough to need clarification and small enough to judge with certainty?"),
    ),
}


@dataclass(frozen=True)
class ReviewAnswer:
    met: bool
    note: str = ""


ReviewAnswers = Mapping[str, ReviewAnswer]
"""By question key; unanswered questions are missing."""


def from_stored(values: Mapping[str, Any]) -> dict[str, ReviewAnswer]:
    """From ``{"realistic": {"so": true, "word": ""}}``, the form in the database, on which constraints rely."""
    return {
        key: ReviewAnswer(value.get("so") is True, str(value.get("word") or ""))
        for key in QUESTIONS
        if isinstance(value := values.get(key), dict)
    }


def posted_answers(form: Mapping[str, str]) -> dict[str, ReviewAnswer]:
    """From ``answer.<question>`` and ``note.<question>``."""
    given = {key: form.get(f"answer.{key}", "") for key in QUESTIONS}
    return {
        key: ReviewAnswer(answer == "yes", form.get(f"note.{key}", "") if answer == "no" else "")
        for key, answer in given.items()
        if answer in ("yes", "no")
    }


def to_stored(answers: ReviewAnswers) -> dict[str, Any]:
    return {key: {"so": answers[key].met, "word": answers[key].note} for key in QUESTIONS if key in answers}


def from_api(values: Mapping[str, Any]) -> dict[str, ReviewAnswer]:
    return {
        key: ReviewAnswer(value["met"], value["note"])
        for key in QUESTIONS
        if isinstance(value := values.get(key), dict)
    }


def to_api(answers: ReviewAnswers) -> dict[str, Any]:
    return {key: {"met": answers[key].met, "note": answers[key].note} for key in QUESTIONS if key in answers}


def summarize(answers: ReviewAnswers, text: str) -> str:
    parts = [
        f"Not {QUESTIONS[key].label.lower()}" + (f": {answers[key].note.rstrip('.')}." if answers[key].note else ".")
        for key in QUESTIONS
        if key in answers and not answers[key].met
    ]
    return " ".join([*parts, text]).strip()

"""The reviewer's list: four things to be sure of before a task is approved (paper, section 3.2 and appendix I)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    label: str
    look: str
    """What to look at, in a sentence."""


POINTS = {
    "realistic": Question(
        "Realistic", "Would someone in this role ask for this, in these words, and leave exactly this unsaid?"
    ),
    "feasible": Question(
        "Feasible", "Can it be done with the available files, tools and skills, and can every intent be found out?"
    ),
    "correct": Question("Correct", "Is what it asks for correct in this field, and does the checklist agree?"),
    "well_scoped": Question(
        "Well scoped",
        ("Is it one piece of work, large enough to need clarification and small enough to judge with certainty?"),
    ),
}


@dataclass(frozen=True)
class Point:
    """What a reviewer says of one of them."""

    so: bool
    word: str = ""


Points = Mapping[str, Point]


def points_of(values: Mapping[str, Any]) -> dict[str, Point]:
    """As stored or as a program sends them, ``{"realistic": {"so": true, "word": ""}}``; what is none is left out."""
    return {
        key: Point(value.get("so") is True, str(value.get("word") or ""))
        for key in POINTS
        if isinstance(value := values.get(key), dict)
    }


def stored(points: Points) -> dict[str, Any]:
    return {key: {"so": points[key].so, "word": points[key].word} for key in POINTS if key in points}


def in_words(points: Points, text: str) -> str:
    """What is not so, in front of what else was said."""
    parts = [
        f"Not {POINTS[key].label.lower()}" + (f": {points[key].word.rstrip('.')}." if points[key].word else ".")
        for key in POINTS
        if key in points and not points[key].so
    ]
    return " ".join([*parts, text]).strip()

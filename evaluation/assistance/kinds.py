"""How each kind of assistance is offered: for which fields and findings, and what its rows do."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.protocol.assistance import Kind

AT_ONCE = frozenset({"reword", "split", "rule"})
"""Kinds whose rows are one proposal, taken or dismissed as a whole; of the others each row stands for itself."""
REPLACING = frozenset({"reword", "split", "rule", "translate"})
"""Kinds that change words which are there, and so can meet what somebody changed in the meantime."""
ROW_FIELDS = ("intents", "checklist")
BY_RULE: dict[str, Kind] = {
    "intent-in-request": "reword",
    "request-tells-all": "reword",
    "criterion-not-atomic": "split",
    "intent-bundled": "split",
    "criterion-should-be-rule": "rule",
}
"""Which help a finding calls for, by the name of its check."""
LANGUAGES = (
    "English", "German", "French", "Spanish", "Italian", "Portuguese", "Dutch", "Polish", "Swedish", "Turkish",
    "Arabic", "Hindi", "Chinese", "Japanese", "Korean",
)  # fmt: skip
WHOLE = "task"
"""The field of a translation of all texts of a task."""


@dataclass(frozen=True)
class Assignment:
    """One thing to do, with what it is about."""

    kind: Kind
    field: str
    """Field of the TaskSpec it is about, or ``task``."""
    uid: str = ""
    """Of the row it is about."""
    language: str = ""
    """Of a translation."""
    reference: str = ""
    """What a checklist is drawn from: ``the reference of`` an expected artifact, a path, ``the reference workflow`` or
    ``pasted text``."""
    reference_text: str = ""


def is_askable(kind: str, field: str) -> bool:
    """Whether there is such help for such a field."""
    return field in {
        "reword": ("initial_request",),
        "leaks": ("initial_request",),
        "intents": ("intents",),
        "checklist": ("checklist",),
        "split": ROW_FIELDS,
        "rule": ("checklist",),
        "translate": (WHOLE, "title", "description", "initial_request", "reference_workflow", *ROW_FIELDS),
    }.get(kind, ())

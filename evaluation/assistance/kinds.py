"""The kinds of assistance: the fields they apply to, the findings they answer, and how their rows are decided."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.protocol.assistance import Kind

DECIDED_AS_ONE = frozenset({"reword", "split", "rule"})
"""Kinds whose rows are accepted or dismissed together; rows of the others are decided one by one."""
REPLACING = frozenset({"reword", "split", "rule", "translate"})
"""Kinds that replace existing text, which someone may have edited since the request."""
ROW_FIELDS = ("intents", "checklist")
SHOWS_WORKPLACE = frozenset({"intents", "rule", "checklist"})
"""Kinds whose prompt holds the task's files, its tools and the tables of its apps."""
WRITES_ANEW = frozenset({"reword", "intents", "split", "checklist"})
"""Kinds that are told the guidelines and what was dismissed before; the others have one right answer."""
KIND_BY_RULE: dict[str, Kind] = {
    "intent-in-request": "reword",
    "request-tells-all": "reword",
    "criterion-not-atomic": "split",
    "intent-bundled": "split",
    "criterion-should-be-rule": "rule",
}
"""The kind that can resolve a finding, by the finding's rule id."""
LANGUAGES = (
    "English", "German", "French", "Spanish", "Italian", "Portuguese", "Dutch", "Polish", "Swedish", "Turkish",
    "Arabic", "Hindi", "Chinese", "Japanese", "Korean",
)  # fmt: skip
REFERENCE_OF = "the reference of "
"""Prefix of an expected artifact's path, as the source of checklist items."""
WHOLE_TASK = "task"
"""The field of a translation of all text in a task."""


@dataclass(frozen=True)
class ProposalRequest:
    """What an author asks the assistant model for."""

    kind: Kind
    field: str
    """Field of the TaskSpec, or ``task``."""
    uid: str = ""
    """uid of the row, for requests about one row."""
    language: str = ""
    """Target language of a translation."""
    reference: str = ""
    """Source of checklist items: ``the reference of <path>``, ``the reference workflow`` or ``pasted text``."""
    reference_text: str = ""
    """Until a worker reads it, the sha256 of a file."""


def is_available(kind: str, field: str) -> bool:
    return field in {
        "reword": ("initial_request",),
        "leaks": ("initial_request",),
        "intents": ("intents",),
        "checklist": ("checklist",),
        "split": ROW_FIELDS,
        "rule": ("checklist",),
        "translate": (WHOLE_TASK, "title", "description", "initial_request", "reference_workflow", *ROW_FIELDS),
    }.get(kind, ())

"""What is said of a field of a task or persona once, where the field is declared::

title: Annotated[str, About("the title", prose=True)] = ""
"""

from __future__ import annotations

from dataclasses import dataclass

from studio.domain.base import Spec


@dataclass(frozen=True)
class About:
    label: str = ""
    """In the history: “Changed the title.”"""
    section: str = "more"
    """Of the editor."""
    page: str = ""
    """Its label on pages, if they call it otherwise."""
    prose: bool = False
    """A text that people quote and rules read as a whole."""
    lines: bool = False
    """Quoted as text, a row a line."""
    row_text: str = ""
    """Of a list: the field of its rows that people quote."""
    row: str = ""
    """What one of its rows is called."""
    most: int = 0
    """Rows; 0: any number."""
    identity: str = ""
    """Names of the fields that identify a row across versions."""
    exported_only: bool = False
    """Matters in exports alone."""
    apart: bool = False
    """Nobody who plays or judges sees it, so it changes no score (``content``)."""


def fields_of(*specs: type[Spec]) -> dict[str, About]:
    """By name, in the order of the specs; of fields of one name the first."""
    found: dict[str, About] = {}
    for spec in specs:
        for name, field in spec.model_fields.items():
            for about in field.metadata:
                if isinstance(about, About):
                    found.setdefault(name, about)
    return found

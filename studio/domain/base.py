"""Base classes of the domain's frozen values, and what is said of a field once, where it is declared::

title: Annotated[str, About("the title", prose=True)] = ""
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

JsonDict = dict[str, Any]
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Spec(BaseModel):
    """A frozen value. Unknown fields are programming errors; unknown data belongs in ``source``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> JsonDict:
        return self.model_dump(mode="json")

    def content_hash(self) -> str:
        """sha256 of the whole value, including the key order of mappings."""
        return hash_of_text(text_of_document(self.to_json()))


def text_of_document(document: JsonDict) -> str:
    return _COMPACT.encode(document)


def hash_of_text(text: str) -> str:
    """The ``content_hash`` of the value whose ``to_json`` has this text."""
    return hashlib.sha256(text.encode()).hexdigest()


class Content(Spec):
    """Content of a stored file."""

    sha256: str
    size: int
    """Bytes."""


class FileRef(Spec):
    """A stored file: its path and content."""

    path: str
    """Relative POSIX path inside its owner's folder (a task's, a skill's, a persona's)."""
    sha256: str
    size: int
    """Bytes."""
    description: str = ""


def is_same(left: Any, right: Any) -> bool:
    """Of JSON values: unlike ``==``, distinguishes key order, and 1 from 1.0 and true."""
    return left is right or json.dumps(left) == json.dumps(right)


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

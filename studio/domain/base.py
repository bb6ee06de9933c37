"""Base classes of the domain's frozen values."""

from __future__ import annotations

import hashlib
import json
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

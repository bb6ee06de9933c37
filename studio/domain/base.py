"""What every spec shares: frozen values that know nothing of Django, files or models."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

JsonDict = dict[str, Any]


class Spec(BaseModel):
    """A frozen value. Unknown fields are a programming error, not data: data goes to ``source``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> JsonDict:
        """What a frozen row stores; ``model_validate`` reads it back."""
        return self.model_dump(mode="json")

    def content_hash(self) -> str:
        """sha256 of the whole value, key order inside mappings included: equal if and only if nothing differs."""
        text = json.dumps(self.to_json(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class Content(Spec):
    """What a stored file holds, by content."""

    sha256: str
    size: int
    """Bytes."""


class FileRef(Spec):
    """A stored file: where it belongs and what it holds, by content."""

    path: str
    """Relative POSIX path inside its owner's folder (a task's, a skill's, a persona's)."""
    sha256: str
    size: int
    """Bytes."""
    description: str = ""

"""What every spec shares: frozen values that know nothing of Django, files or models."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

JsonDict = dict[str, Any]


class Spec(BaseModel):
    """A frozen value. Unknown fields are a programming error, not data: data goes to ``source``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FileRef(Spec):
    """A stored file: where it belongs and what it holds, by content."""

    path: str
    """Relative POSIX path inside its owner's folder (a task's, a skill's, a persona's)."""
    sha256: str
    size: int
    """Bytes."""
    description: str = ""

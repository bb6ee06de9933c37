"""The two scoring modes."""

from __future__ import annotations

from enum import StrEnum


class ScoringMode(StrEnum):
    """PIBENCH.md, section 4."""

    COMPAT = "compat"
    """Reproduces the public release."""
    STRICT = "strict"
    """Corrects its known weaknesses."""

"""The two ways of scoring."""

from __future__ import annotations

from enum import StrEnum


class ScoringMode(StrEnum):
    """PIBENCH.md, section 4."""

    COMPAT = "compat"
    """Reproduces the release."""
    STRICT = "strict"
    """Corrects its known weaknesses."""

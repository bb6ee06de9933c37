"""Second opinions: what a model answered about single intents and items. Checks read them as data."""

from __future__ import annotations

from dataclasses import dataclass

DEGREES = ("none", "partly", "wholly")
BY_MODEL = " (a model’s second opinion)"


@dataclass(frozen=True)
class Opinion:
    degree: str = ""
    """One of DEGREES, about a leak."""
    quote: str = ""
    """Words of the request that say it, verbatim; empty if the model quoted none."""
    count: int = 0
    """Of requirements, about an item."""

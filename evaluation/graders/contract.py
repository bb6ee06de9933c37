"""The contract of grader scripts, ``score(tools_history) -> {key: 0 | 1 | bool}`` (PIBENCH.md, section 1).

How a script is run is no matter here: only what its answers mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MAX_KEYS = 1_000


class BrokenGrader(Exception):
    """The script cannot say what it checks, so its items are ungraded. The text says why."""


def criterion_of(key: str) -> str:
    """How a key stands in the list of criteria, after the rubric ones, with weight 1."""
    return f"[tools] {key}"


def keys_of(answer: Any) -> tuple[str, ...]:
    """The ordered set of keys, from the answer to ``score([])``. Raises BrokenGrader."""
    if not isinstance(answer, Mapping):
        raise BrokenGrader("score([]) did not give a mapping.")
    if not answer:
        raise BrokenGrader("score([]) gave no keys.")
    if len(answer) > MAX_KEYS:
        raise BrokenGrader(f"score([]) gave {len(answer)} keys; at most {MAX_KEYS} are allowed.")
    if not all(isinstance(key, str) and key for key in answer):
        raise BrokenGrader("score([]) gave a key that is not a text.")
    return tuple(answer)


def values_of(keys: Sequence[str], answer: Any) -> tuple[bool, ...]:
    """One turn's values: unknown keys are ignored, a missing key is 0, an answer of another shape makes all 0.

    Pass None where the script raised.
    """
    if not isinstance(answer, Mapping):
        return (False,) * len(keys)
    values = [answer.get(key, 0) for key in keys]
    if not all(isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)) for value in values):
        return (False,) * len(keys)
    return tuple(bool(value) for value in values)

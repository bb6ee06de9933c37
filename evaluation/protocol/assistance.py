"""Kinds of proposals that authors can ask a model for."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["reword", "intents", "split", "rule", "checklist", "translate", "leaks"]
KINDS: tuple[Kind, ...] = get_args(Kind)

NAMES: dict[str, str] = {
    "reword": "A rewording of the request",
    "intents": "Hidden intents",
    "split": "A split",
    "rule": "An exact rule",
    "checklist": "Checklist items",
    "translate": "A translation",
    "leaks": "What the request gives away",
}

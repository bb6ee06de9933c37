"""Text that one user typed in two windows of a page, merged field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from studio.domain.merge import merge_lines, merge_order

Text = Mapping[str, Sequence[str]]
OWN = ("base_version", "note")
"""Fields that belong to one window."""


@dataclass(frozen=True)
class MergedText:
    text: dict[str, list[str]]
    """All changes of both windows; this window's value in fields that both changed."""
    conflicts: tuple[str, ...]
    """Names of those fields."""


def same_text(one: Text, other: Text) -> bool:
    names = (one.keys() | other.keys()) - set(OWN)
    return all(list(one.get(name, ())) == list(other.get(name, ())) for name in names)


def merge_text(base: Text, theirs: Text, mine: Text) -> MergedText:
    """``theirs`` is what another window of the same user made of ``base``, the text that this window knows."""
    merged: dict[str, list[str]] = {}
    conflicts: list[str] = []
    lists = {name[:at] for text in (base, theirs, mine) for name in text for at in _dots(name)}
    survivors: dict[str, Text] = {}
    """Rows that one window removed and the other edited, by the beginning of their fields' names."""
    for name in dict.fromkeys((*mine, *theirs)):
        before, other, own = (list(text.get(name, ())) for text in (base, theirs, mine))
        if name in lists:
            for key in before:
                prefix, text = f"{name}.{key}.", mine if key in own else theirs
                if (key in own) != (key in other) and _edited(prefix, base, text):
                    survivors[prefix] = text
            survived = [key for key in before if f"{name}.{key}." in survivors]
            merged[name] = _merge_keys(before, other, own, survived)
        elif name in OWN or other in (own, before):
            merged[name] = own
        elif own == before:
            merged[name] = other
        elif any(len(values) != 1 for values in (before, other, own)):
            merged[name] = _merge_keys(before, other, own, [])
        elif (lines := merge_lines(before[0], other[0], own[0])) is not None:
            merged[name] = [lines]
        else:
            merged[name] = own
            conflicts.append(name)
    for prefix, text in survivors.items():
        merged |= {name: list(values) for name, values in text.items() if name.startswith(prefix)}
    return MergedText({name: values for name, values in merged.items() if values}, tuple(conflicts))


def _merge_keys(base: list[str], theirs: list[str], mine: list[str], survived: Sequence[str]) -> list[str]:
    return [
        key
        for key in merge_order(base, theirs, mine)
        if key not in base or key in survived or (key in theirs and key in mine)
    ]


def _dots(name: str) -> list[int]:
    return [at for at, letter in enumerate(name) if letter == "."]


def _edited(prefix: str, base: Text, text: Text) -> bool:
    """Whether a row was changed by the window that did not remove it."""
    return any(list(text[name]) != list(base.get(name, ())) for name in text if name.startswith(prefix))

"""What a form showed when its page was opened, so that a save does not undo what others saved since."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.forms import BaseForm, BoundField
from django.http import QueryDict

FIELD = "seen"


@dataclass(frozen=True)
class ChangedElsewhere:
    """What others saved since the page was opened."""

    fields: tuple[BoundField, ...]
    """With the values as they are now."""
    data: QueryDict
    """What was sent, with their values where the sender had changed nothing."""


def digests(forms: Iterable[BaseForm]) -> dict[str, str]:
    """Of what each field shows, by its name."""
    return {bound.html_name: hashlib.sha256(_text(bound).encode()).hexdigest()[:16] for bound in _fields(forms)}


def seen(forms: Iterable[BaseForm]) -> str:
    """For the hidden input of a page."""
    return json.dumps(digests(forms))


def changed_elsewhere(sent: QueryDict, posted: Iterable[BaseForm], now: Iterable[BaseForm]) -> ChangedElsewhere | None:
    """``posted``: the forms with what was sent; ``now``: with what is stored."""
    before, typed = _read(sent.get(FIELD, "")), digests(posted)
    now = list(now)
    current = digests(now)
    changed = [bound for bound in _fields(now) if before.get(bound.html_name) not in (None, current[bound.html_name])]
    if not changed:
        return None
    data = sent.copy()
    for bound in changed:
        if typed[bound.html_name] == before[bound.html_name]:
            data[bound.html_name] = _text(bound)
    return ChangedElsewhere(tuple(changed), data)


def _fields(forms: Iterable[BaseForm]) -> Iterable[BoundField]:
    return (bound for form in forms for bound in form)


def _text(bound: BoundField) -> str:
    value = bound.value()
    return "" if value is None or value is False else str(value).replace("\r\n", "\n").strip()


def _read(text: str) -> Mapping[str, str]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""The signal that opens a session, as fields or as JSON: one payload, two ways to write it, no loss between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import QueryDict

from studio.domain.base import JsonDict
from studio.domain.signals import SIGNAL_EXAMPLES
from studio.files.previews.syntax import json_flaw
from studio.forms.post_data import MAPPING, Posted, mapping_rows, number_of, read_json, read_mapping

SWITCH = "payload_as"
WAYS = ("rows", "raw")


class SignalFormatError(ValueError):
    """What is written cannot be shown the other way; ``place`` is the input that the sentence stands beside."""

    def __init__(self, place: str, sentence: str) -> None:
        super().__init__(sentence)
        self.place = place


def read_payload(
    way: str, raw: str, rows: list[dict[str, Any]], stored: JsonDict, complain: Callable[[str, str], None]
) -> JsonDict:
    """The payload as it is written; the stored one where JSON cannot be read."""
    if way != "raw":
        return read_mapping(rows, stored, complain, "payload")
    if not raw.strip():
        return {}
    if flaw := json_flaw(raw):
        complain("payload_raw", f"This is not valid JSON. {flaw.description}")
        return stored
    try:
        payload = read_json(raw)
    except ValueError as error:
        complain("payload_raw", f"This is not valid JSON: {error}.")
        return stored
    if not isinstance(payload, dict):
        complain("payload_raw", 'Enter an object: names and values between { and }, such as {"event": "…"}.')
        return stored
    return payload


def raw_of(payload: JsonDict) -> str:
    return json.dumps(payload, ensure_ascii=False, indent=2) if payload else ""


def switch_format(data: QueryDict, stored: JsonDict, to: str) -> QueryDict:
    """The page's fields with the payload written the other way (``rows``, ``raw``), or with an example in its place
    (``example:0``). Raises SignalFormatError, and then everything stays as it is."""
    posted = Posted(data)
    way = posted.text(SWITCH)
    wrong: dict[str, str] = {}
    rows = posted.rows("payload", MAPPING)
    payload = read_payload(way, posted.text("payload_raw"), rows, stored, lambda place, why: wrong.update({place: why}))
    name, _, number = to.partition(":")
    if name == "example":
        payload = _example(posted.text("trigger"), number)
    elif wrong:
        raise SignalFormatError(*next(iter(wrong.items())))
    else:
        way = name if name in WAYS else "rows"
    if way != "raw" and not all(map(_fits_a_line, payload)):
        raise SignalFormatError(
            "payload_raw",
            ("Names that are empty, contain a line break or end with a space can only be entered as JSON."),
        )
    changed = data.copy()
    for field in [field for field in data if field == "payload" or field.startswith(("payload.", "payload_raw"))]:
        del changed[field]
    changed[SWITCH] = way
    if way == "raw":
        changed["payload_raw"] = raw_of(payload)
    else:
        rows = mapping_rows(payload)
        changed.setlist("payload", [row["key"] for row in rows])
        for row in rows:
            for field in MAPPING:
                changed[f"payload.{row['key']}.{field}"] = row[field]
    return changed


def requested_format(data: QueryDict) -> str:
    """What a page without scripts asks to turn the signal into; empty if it asks for nothing."""
    list_name, _, to = data.get("do", "").partition(":")
    if list_name != SWITCH:
        return ""
    return f"example:{data.get('example', '')}" if to == "example" else to


def _fits_a_line(name: str) -> bool:
    """Whether an input of one line gives the name back as it is."""
    return bool(name) and name == name.strip() and "\n" not in name and "\r" not in name


def _example(kind: str, number: str) -> JsonDict:
    known = SIGNAL_EXAMPLES.get(kind, [])
    place = number_of(number)
    if place >= len(known):
        raise SignalFormatError("example", "Choose an example of this kind of signal.")
    return dict(known[place][1])

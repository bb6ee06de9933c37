"""The signal that starts a task, as rows or as JSON, converted without loss."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import QueryDict

from studio.domain.base import JsonDict
from studio.domain.signals import SIGNAL_EXAMPLES
from studio.domain.storable import read_json
from studio.files.previews.texts import json_flaw
from studio.forms.post_data import MAPPING, Posted, mapping_rows, number_of, read_mapping

SWITCH = "payload_as"
FORMATS = ("rows", "raw")


class SignalFormatError(ValueError):
    def __init__(self, input_name: str, message: str) -> None:
        super().__init__(message)
        self.input_name = input_name


def read_payload(
    format: str, raw: str, rows: list[dict[str, Any]], stored: JsonDict, add_error: Callable[[str, str], None]
) -> JsonDict:
    """The payload; the stored one if the JSON cannot be read."""
    if format != "raw":
        return read_mapping(rows, stored, add_error, "payload")
    if not raw.strip():
        return {}
    if flaw := json_flaw(raw):
        add_error("payload_raw", f"This is not valid JSON. {flaw.description}")
        return stored
    try:
        payload = read_json(raw)
    except ValueError as error:
        add_error("payload_raw", f"This is not valid JSON: {error}.")
        return stored
    if not isinstance(payload, dict):
        add_error("payload_raw", 'Enter an object: names and values between { and }, such as {"event": "…"}.')
        return stored
    return payload


def raw_of(payload: JsonDict) -> str:
    return json.dumps(payload, ensure_ascii=False, indent=2) if payload else ""


def switch_format(data: QueryDict, stored: JsonDict, to: str) -> QueryDict:
    """The form data with the payload in format ``to`` (``rows``, ``raw``), or replaced by an example (``example:0``).

    Raises SignalFormatError.
    """
    posted = Posted(data)
    format = posted.text(SWITCH)
    errors: dict[str, str] = {}
    rows = posted.rows("payload", MAPPING)
    payload = read_payload(format, posted.text("payload_raw"), rows, stored, errors.__setitem__)
    name, _, number = to.partition(":")
    if name == "example":
        payload = _example(posted.text("trigger"), number)
    elif errors:
        raise SignalFormatError(*next(iter(errors.items())))
    else:
        format = name if name in FORMATS else "rows"
    if format != "raw" and not all(map(_fits_one_line, payload)):
        raise SignalFormatError(
            "payload_raw",
            ("Names that are empty, contain a line break or end with a space can only be entered as JSON."),
        )
    changed = data.copy()
    for field in [field for field in data if field == "payload" or field.startswith(("payload.", "payload_raw"))]:
        del changed[field]
    changed[SWITCH] = format
    if format == "raw":
        changed["payload_raw"] = raw_of(payload)
    else:
        rows = mapping_rows(payload)
        changed.setlist("payload", [row["key"] for row in rows])
        for row in rows:
            for field in MAPPING:
                changed[f"payload.{row['key']}.{field}"] = row[field]
    return changed


def requested_format(data: QueryDict) -> str:
    """The format a page without scripts asks for, as ``switch_format`` takes it; empty if none."""
    list_name, _, to = data.get("do", "").partition(":")
    if list_name != SWITCH:
        return ""
    return f"example:{data.get('example', '')}" if to == "example" else to


def _fits_one_line(name: str) -> bool:
    return bool(name) and name == name.strip() and "\n" not in name and "\r" not in name


def _example(kind: str, number: str) -> JsonDict:
    examples = SIGNAL_EXAMPLES.get(kind, [])
    index = number_of(number)
    if index >= len(examples):
        raise SignalFormatError("example", "Choose an example of this kind of signal.")
    return dict(examples[index][1])

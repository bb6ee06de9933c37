"""A pilot of two sessions on a service of the zoo, in every seat, and what can be said of it afterwards."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db import models

from evaluation.models import ModelEndpoint, Pilot
from tests.evaluation.builders import benchmark_of, file, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.zoo.server import Zoo
from tests.zoo.service import Entry, Service

MARK = re.compile(r"ZOO-THOUGHT-[\w.-]*?-(\d+)")
SEATS = {"agent": "agent", "user": "user_model", "judge": "judge"}
KEY_VARIABLE = "ZOO_API_KEY"

PROGRAM = """
import http.client, json, os, socket, sys

line = json.loads(sys.stdin.readline())
state = line["state"] or {"messages": []}
messages = state["messages"]
messages.append({"role": "user", "content": line["message"]})


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["STUDIO_MODEL_SOCKET"])


def function(name, *arguments):
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": "Of files.", "parameters": schema}}


TOOLS = [function("list_dir", "path"), function("read_file", "path"), function("write_file", "path", "content")]
while True:
    connection = Connection("model")
    body = json.dumps({"model": "any", "messages": messages, "tools": TOOLS})
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    message = json.loads(connection.getresponse().read())["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "Done."})
print(json.dumps({"reply": message["content"], "state": state}))
"""
"""An agent of the kind ``command`` that speaks the OpenAI API with the studio, and returns messages as it gets them."""

KINDS: Mapping[str, Mapping[str, Any]] = {
    "react": {"kind": "react"},
    "consolidating": {"kind": "react", "params": {"memory": "consolidated"}},
    "over-asker": {"kind": "over-asker"},
    "oracle": {"kind": "oracle"},
    "command": {"kind": "command", "params": {"program": PROGRAM, "connection": "sockets"}},
    "nanobot": {"kind": "nanobot"},
}


def connect(zoo: Zoo, seat: str, **fields: Any) -> ModelEndpoint:
    """As one who follows the service's documentation would."""
    service = zoo.service
    prices = service.prices
    return ModelEndpoint.objects.create(
        name=f"{service.name} {seat}",
        base_url=zoo.url(seat),
        model=service.model,
        key_env=KEY_VARIABLE if service.hosted else "",
        api=service.api,
        input_price=prices.input,
        cached_price=prices.cached,
        cache_write_price=prices.written,
        output_price=prices.output,
        **{"dialect": service.dialect, **service.settings, **fields},
    )


def play(zoo: Zoo, kind: str = "react", **fields: Any) -> Pilot:
    """Two sessions of two turns; a rubric item each."""
    told = {"intents": intents("The note says whose fee it is."), "checklist": (rubric("The note exists."),)}
    told["reference_workflow"] = "1. Write the note. 2. Say whose fee it is."
    told["assets"] = (file("notes/fees.md", "The harbour fee is due on Friday."),)
    tasks = [task(name, initial_request=f"Please write the note {name}.", **told) for name in ("a", "b")]
    seats = {option: connect(zoo, seat, **fields) for seat, option in SEATS.items()}
    return work_through(pilot_of(benchmark_of(*tasks), **seats, **KINDS[kind]))


def leaks(log: Iterable[Entry]) -> list[str]:
    """Thoughts in requests of a seat, or of an agent's session, that did not think them."""
    found: list[str] = []
    entries = list(log)
    thinker = {number: _whose(entry) for number, entry in enumerate(entries, start=1)}
    for entry in entries:
        marks = {int(mark) for mark in MARK.findall(json.dumps(entry.body, ensure_ascii=False))}
        found += [f"the {thinker[mark]} thought {mark}, read by the {_whose(entry)}" for mark in sorted(marks)
                  if thinker[mark] != _whose(entry)]  # fmt: skip
    return found


def _whose(entry: Entry) -> str:
    """An agent's sessions are told apart by their request; what a model is asked beside a conversation is its own."""
    text = json.dumps(entry.body.get("messages", entry.body.get("input")))
    named = re.search(r"Please write the note (\w)", text)
    return f"{entry.seat} {named[1] if named else ''}" if entry.seat == "agent" else entry.seat


def stored_marks() -> set[str]:
    """The columns of the database in which thoughts stand."""
    found = set()
    for model in apps.get_models():
        if model._meta.app_label not in ("studio", "annotations", "evaluation"):
            continue
        names = [field.name for field in model._meta.concrete_fields if _is_text(field)]
        for row in model._default_manager.values(*names) if names else ():
            found |= {f"{model.__name__}.{name}" for name in names if MARK.search(_text(row[name]))}
    return found


def _is_text(field: models.Field[Any, Any]) -> bool:
    return isinstance(field, (models.CharField, models.TextField, models.JSONField, models.BinaryField))


def _text(value: Any) -> str:
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def answered(service: Service) -> list[Entry]:
    return [entry for entry in service.log if entry.counted is not None]


def refusals(service: Service) -> Counter[tuple[str, str, str]]:
    """By seat, the way in which JSON was asked for, and words."""
    return Counter(
        (entry.seat, str((entry.body.get("response_format") or {}).get("type", "")), entry.refused)
        for entry in service.log
        if entry.status != 200
    )


def total(service: Service, name: str) -> int:
    return sum(getattr(entry.counted, name) for entry in answered(service))


def bill(service: Service) -> Decimal:
    return sum((entry.cost for entry in answered(service)), Decimal(0))


def texts(value: Any) -> Iterator[str]:
    """All strings inside a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from texts(name)
            yield from texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from texts(part)

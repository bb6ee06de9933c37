"""What the model of a service of the zoo says in the exchange that tests it."""

from __future__ import annotations

import json

from tests.evaluation.endpoints.service import say
from tests.zoo.script import Asked, Call, Said
from tests.zoo.service import Body


def exchanged(name: str, body: Body, asked: Asked) -> Said:
    """In place of ``Service.fault``, for as many requests as its ``faults`` has names."""
    text, cities = say(asked.messages, tools=bool(asked.functions), schema=asked.form == "json_schema")
    return Said(text, tuple(Call("temperature", json.dumps({"city": city})) for city in cities))

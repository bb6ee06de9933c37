"""Tool loops and judges at every service of the zoo: what a service sent comes back, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from evaluation.llm import Endpoint, Learned, ModelClient
from evaluation.protocol.listening import FLAGS
from tests.evaluation.conftest import LOCAL
from tests.evaluation.llm.test_client import Notebook
from tests.zoo.server import Zoo, playing
from tests.zoo.service import KEY
from tests.zoo.services import SERVICES

UNSTREAMED = ("mistral", "ollama")
"""The zoo keeps their whole message, of which a stream tells less."""
BRIEFING = [{"role": "system", "content": "You are an assistant. Work in the folder."}]


def function(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": "Does it.", "parameters": schema}}


TOOLS = [function("list_dir", "path"), function("write_file", "path", "content"), function("read_file", "path")]
SCHEMA = {
    "type": "object",
    "properties": {"says_all": {"type": "boolean"}, "holds_back": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["says_all", "holds_back", "reason"],
    "additionalProperties": False,
}
JUDGE = [
    {"role": "system", "content": "You check a message. Answer with one JSON object."},
    {"role": "user", "content": "Is it so?"},
]


@pytest.fixture(params=sorted(SERVICES))
def zoo(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Zoo]:
    monkeypatch.setenv("ZOO_API_KEY", KEY)
    with playing(SERVICES[request.param]()) as zoo:
        yield zoo


def client(zoo: Zoo, **more: Any) -> ModelClient:
    service = zoo.service
    effort = "none" if service.name == "openai-chat-5.6" else ""
    params = {"stream": False} if service.name in UNSTREAMED else {}
    endpoint = Endpoint(
        service.name,
        zoo.url(),
        service.model,
        "ZOO_API_KEY",
        api=service.api,
        effort=effort,
        params=params,
        policy=LOCAL,
        **more,
    )
    return ModelClient(endpoint, recorder=Notebook())


def test_tool_loops_over_two_turns_of_the_user(zoo: Zoo):
    asking = client(zoo)
    messages: list[dict[str, Any]] = [*BRIEFING]
    thoughts = ""
    for request in ("Please write a note.", "And another."):
        messages.append({"role": "user", "content": request})
        while (completion := asking.complete(messages, tools=TOOLS)).tool_calls:
            messages.append(completion.message)
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "Done."} for call in completion.tool_calls
            ]
            thoughts += completion.thoughts
        assert completion.text.startswith("Note ") and completion.ending == "answered"
        assert "ZOO-THOUGHT" not in completion.text
        assert completion.tokens.prompt and completion.tokens.completion
        messages.append(completion.message)

    assert (zoo.service.lost, zoo.service.foreign) == ([], [])
    requests = [entry.body.get("messages") or entry.body["input"] for entry in zoo.service.log]
    for before, after in pairwise(requests):  # caches serve what begins alike
        assert after[: len(before)] == before
    roles = [message["role"] for message in messages]
    assert roles.count("tool") == 6
    assert [entry.refused for entry in zoo.service.log if entry.refused] == []


def test_judge_answers_in_json(zoo: Zoo):
    learned = Learned()

    def parse(text: str) -> Any:
        return json.loads(text[text.index("{") : text.rindex("}") + 1])

    answer, completion = client(zoo, learned=learned).ask_json(JUDGE, "voice_check", SCHEMA, parse, temperature=0)

    assert answer == {**dict.fromkeys(FLAGS, True), "reason": "It does."}
    assert "ZOO-THOUGHT" not in completion.text
    refused = [entry.refused for entry in zoo.service.log if entry.refused]
    assert len(refused) <= 2, (refused, learned.facts)

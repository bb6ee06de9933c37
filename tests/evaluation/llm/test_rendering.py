"""Requests as text: sent as they are, identified by all that was asked, however much of them was rendered before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest

from evaluation.llm.rendering import Renderer

HERE = "https://models.example/v1"
HELLO = [{"role": "user", "content": "Schönen Tag"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.md"}'}}
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "b": 1, "a": None}}}]
BODIES = [
    {"model": "m", "messages": HELLO},
    {"temperature": 0.5, "max_tokens": 4, "model": "m", "messages": HELLO, "tools": TOOLS, "tool_choice": "none"},
    {"model": "m", "messages": []},
]


def identity(address: str, body: Mapping[str, Any], sequence: int) -> str:
    text = json.dumps([address, sequence, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("body", BODIES)
def test_a_request_is_sent_as_its_json_and_identified_by_its_json_in_order(body: dict[str, Any]):
    rendered = Renderer().render(HERE, body, 3)

    assert rendered.content.decode() == json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    assert rendered.digest == identity(HERE, body, 3)
    assert rendered.request == body


def test_a_growing_conversation_is_rendered_as_a_whole_each_time():
    renderer = Renderer()
    messages: list[dict[str, Any]] = []
    for number in range(4):
        messages += [{"role": "user", "content": f"Go on {number}"}, {"role": "assistant", "tool_calls": [CALL]}]
        body = {"model": "m", "messages": messages, "tools": [*TOOLS]}

        rendered = renderer.render(HERE, body, 0)

        assert json.loads(rendered.content) == body
        assert rendered.digest == identity(HERE, body, 0)


def change_content(messages: list[Any]) -> None:
    messages[0]["content"] = "Something else"


def change_arguments(messages: list[Any]) -> None:
    messages[1]["tool_calls"][0]["function"]["arguments"] = "{}"


@pytest.mark.parametrize("change", [change_content, change_arguments, lambda messages: messages.pop(0)])
def test_a_conversation_that_was_changed_is_rendered_anew(change: Any):
    renderer = Renderer()
    messages = json.loads(json.dumps([*HELLO, {"role": "assistant", "tool_calls": [CALL]}, *HELLO]))
    before = renderer.render(HERE, {"model": "m", "messages": messages}, 0)
    stood = json.dumps(messages)

    change(messages)
    after = renderer.render(HERE, {"model": "m", "messages": messages}, 0)

    assert json.loads(after.content)["messages"] == messages
    assert after.digest == identity(HERE, {"model": "m", "messages": messages}, 0) != before.digest
    assert json.dumps(before.request["messages"]) == stood


def test_every_part_of_a_request_counts_and_the_order_of_its_fields_does_not():
    body = {"model": "m", "messages": HELLO, "temperature": 0}
    digests = [
        Renderer().render(address, {**body, **more}, sequence).digest
        for address, more, sequence in [
            (HERE, {}, 0),
            (HERE, {}, 1),
            (HERE, {"temperature": 1}, 0),
            (HERE, {"messages": [*HELLO, *HELLO]}, 0),
            (HERE, {"tools": TOOLS}, 0),
            ("https://elsewhere.example/v1", {}, 0),
        ]
    ]

    assert len(set(digests)) == len(digests)
    assert Renderer().render(HERE, dict(reversed(body.items())), 0).digest == digests[0]


@pytest.mark.parametrize(("text", "storable"), [("plain", True), ("\0", False), ("half \ud800", False)])
def test_text_that_postgresql_may_refuse_is_named_and_sent_all_the_same(text: str, storable: bool):
    body = {"model": "m", "messages": [*HELLO, {"role": "user", "content": text}]}

    rendered = Renderer().render(HERE, body, 0)

    assert rendered.storable == storable
    assert json.loads(rendered.content) == body

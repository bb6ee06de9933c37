from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.llm import ModelClient, TruncatedAnswerError, UnreadableAnswerError
from evaluation.llm.streaming import assemble
from evaluation.scripted.server import ScriptedServer

HELLO = [{"role": "user", "content": "Draft the supplier memo."}]
LIST_DIR = {"type": "function", "function": {"name": "list_dir", "parameters": {"type": "object"}}}
ClientFactory = Callable[..., ModelClient]


@pytest.mark.parametrize("tools", [[], [LIST_DIR]])
def test_streamed_answer_equals_whole_answer(client_for: ClientFactory, tools: list[dict[str, Any]]):
    whole = client_for("scripted-helpful").complete(HELLO, tools=tools)

    streamed = client_for("scripted-helpful", params={"stream": True}).complete(HELLO, tools=tools)

    assert (streamed.text, streamed.finish_reason) == (whole.text, whole.finish_reason)
    assert [(call.name, call.arguments) for call in streamed.tool_calls] == [
        (call.name, call.arguments) for call in whole.tool_calls
    ]
    assert streamed.tokens.completion == whole.tokens.completion


def test_cut_stream_is_retried(client_for: ClientFactory, scripted: ScriptedServer):
    completion = client_for("scripted-silent+cutx2", params={"stream": True}).complete(HELLO)

    assert completion.text == "Done."
    assert scripted.stats["requests"] == 3


def test_stream_that_is_always_cut_fails(client_for: ClientFactory):
    with pytest.raises(TruncatedAnswerError):
        client_for("scripted-silent+cut", params={"stream": True}).complete(HELLO)


def events(*chunks: object) -> bytes:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()


def delta(**given: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": given, "finish_reason": None}]}


def test_streamed_arguments_are_joined():
    first = {"index": 0, "id": "a", "function": {"name": "list_dir", "arguments": ""}}
    bits = [{"index": 0, "function": {"arguments": bit}} for bit in ('{"pa', 'th": "."}')]
    content = events(*(delta(tool_calls=[piece]) for piece in (first, *bits))) + b"data: [DONE]\n\n"

    message = assemble(content)["choices"][0]["message"]

    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "list_dir", "arguments": '{"path": "."}'}}
    ]


def test_stream_with_invalid_json_is_unreadable():
    with pytest.raises(UnreadableAnswerError):
        assemble(b"data: {\n\n")


KEYS = ["choices", "delta", "tool_calls", "function", "index", "content", "usage"]
values = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=200) | st.lists(values, max_size=3).map(lambda chunks: events(*chunks)))
def test_any_stream_is_tolerated(content: bytes):
    try:
        completion = assemble(content)
    except (TruncatedAnswerError, UnreadableAnswerError):
        return

    assert isinstance(completion["choices"], list)

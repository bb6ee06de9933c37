from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.llm import ModelClient, TruncatedAnswerError, UnreadableAnswerError
from evaluation.llm.completion import read_answer
from evaluation.llm.streaming import MOST_PARTS, assemble
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


def delta(**given: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": given, "finish_reason": None}]}


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def message_of(*pieces: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = assemble([*(delta(**piece) for piece in pieces), END])["choices"][0]["message"]
    return message


def call(arguments: str, **more: Any) -> dict[str, Any]:
    return {"function": {"arguments": arguments}, **more}


@pytest.mark.parametrize("numbered", [True, False])
def test_streamed_arguments_are_joined(numbered: bool):
    index = {"index": 0} if numbered else {}
    first = {"id": "a", "type": "function", "function": {"name": "list_dir", "arguments": ""}, **index}

    message = message_of(
        *({"tool_calls": [piece]} for piece in (first, call('{"pa', **index), call('th": "."}', **index)))
    )

    assert message["tool_calls"] == [
        {"id": "a", "type": "function", "function": {"name": "list_dir", "arguments": '{"path": "."}'}}
    ]


@pytest.mark.parametrize("numbers", [(0, 1), (0, 0), (None, None)])
def test_two_calls_at_once_stay_two_however_they_are_numbered(numbers: tuple[int | None, int | None]):
    pieces = [
        {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
        | ({} if number is None else {"index": number})
        for name, number in zip("ab", numbers, strict=True)
    ]

    message = message_of(*({"tool_calls": [piece]} for piece in pieces))

    assert [one["function"]["name"] for one in message["tool_calls"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        ([{"reasoning_content": ""}], {"reasoning_content": ""}),
        ([{"reasoning_content": None}], {"reasoning_content": None}),
        ([{"reasoning": "I "}, {"reasoning": "see"}], {"reasoning": "I see"}),
        ([{"citations": ["a"]}, {"citations": ["b", "b"]}], {"citations": ["a", "b", "b"]}),
        (  # a signature ends a thought that has no number
            [{"reasoning_details": [{"text": text, "signature": name}]} for text, name in (("I", "a"), ("see", ""))],
            {"reasoning_details": [{"text": "I", "signature": "a"}, {"text": "see", "signature": ""}]},
        ),
        (
            [
                {"reasoning_details": [{"text": text, "index": 0, **more}]}
                for text, more in (("I ", {"signature": "a"}), ("see", {}))
            ],
            {"reasoning_details": [{"text": "I see", "index": 0, "signature": "a"}]},
        ),
        (
            [
                {"reasoning_details": [{"type": "reasoning.text", "text": "I ", "index": 0}]},
                {"reasoning_details": [{"type": "reasoning.text", "text": "see", "index": 0}]},
                {"reasoning_details": [{"type": "reasoning.text", "signature": "Zm9v", "index": 0}]},
                {"reasoning_details": [{"type": "reasoning.encrypted", "data": "YmFy", "index": 1}]},
            ],
            {
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "I see", "index": 0, "signature": "Zm9v"},
                    {"type": "reasoning.encrypted", "data": "YmFy", "index": 1},
                ]
            },
        ),
        (
            [
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "I "}]}]},
                {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "see"}]}]},
                {"content": "Done"},
                {"content": "."},
            ],
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "I see"}]},
                    {"type": "text", "text": "Done."},
                ]
            },
        ),
    ],
)
def test_fields_of_a_service_arrive_whole(pieces: list[dict[str, Any]], whole: dict[str, Any]):
    assert message_of(*pieces) == {"role": "assistant", "content": "", **whole}


def begins(event: object) -> bool:
    """Whether the answer begins with it, as the first of its stream."""
    begun: list[bool] = []
    with suppress(TruncatedAnswerError):
        assemble([event, event], lambda: begun.append(True))
    return begun == [True]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (delta(content="I"), True),
        (delta(reasoning_content="I"), True),
        (delta(reasoning="I"), True),
        (delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "list_dir", "arguments": ""}}]), True),
        ({"type": "response.output_text.delta", "delta": "I"}, True),
        (delta(role="assistant", content=""), False),
        (delta(content=None, reasoning_content="", tool_calls=[]), False),
        ({"choices": [], "usage": {"prompt_tokens": 7}}, False),
        ({"type": "response.output_text.delta", "delta": ""}, False),
        ({"type": "response.created", "response": {}}, False),
    ],
)
def test_an_answer_begins_once_with_its_first_words_thoughts_or_calls_and_not_with_an_empty_piece(
    event: object, expected: bool
):
    assert begins(event) is expected


def test_chunk_without_choices_brings_the_usage():
    answer = assemble([delta(content="Done."), END, {"choices": [], "usage": {"prompt_tokens": 7}}])

    assert answer["usage"] == {"prompt_tokens": 7}


def test_answer_of_more_calls_than_any_model_makes_is_unreadable():
    calls = [{"id": str(number), "function": {}} for number in range(MOST_PARTS + 1)]

    assert len(message_of({"tool_calls": calls[1:]})["tool_calls"]) == MOST_PARTS
    with pytest.raises(UnreadableAnswerError, match="more than 10,000 parts"):
        message_of({"tool_calls": calls})


def test_stream_of_something_else_is_unreadable():
    with pytest.raises(UnreadableAnswerError):
        assemble([[]])


KEYS = ["choices", "delta", "tool_calls", "function", "index", "content", "usage", "id", "type", "response"]
values = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(values | values.map(lambda value: delta(tool_calls=value, content=value)), max_size=3))
def test_any_stream_is_tolerated(events: list[Any]):
    try:
        completion = assemble([*events, END])
        read_answer(completion)
    except (TruncatedAnswerError, UnreadableAnswerError):
        return

    assert isinstance(completion["choices"], list)


CALL = {"index": 0, "id": "1", "type": "function", "function": {"name": "list_dir", "arguments": "{}"}}


@pytest.mark.parametrize(
    "deltas",
    [
        [{"tool_calls": [CALL]}],
        [{"content": None, "tool_calls": [CALL]}],
        [{"content": None}, {"content": "", "tool_calls": [CALL]}],
    ],
    ids=["never named", "null", "null, then empty"],
)
def test_answer_that_says_nothing_beside_its_tool_calls_goes_back_with_null(deltas: list[dict[str, Any]]):
    ended = {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}

    answer = assemble([*({"choices": [{"delta": delta}]} for delta in deltas), ended])

    assert answer["choices"][0]["message"]["content"] is None

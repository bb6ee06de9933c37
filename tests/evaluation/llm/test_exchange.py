"""Exchanges as stored: exact to the byte, and no larger than what is new in them."""

from __future__ import annotations

import json
import zlib
from hashlib import sha256
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from evaluation.llm import exchange
from evaluation.llm.exchange import Exchange, decode, decode_messages, encode, encode_messages

TEXT = st.lists(st.sampled_from(["The harbour fee. " * 8, "é\u2028", '"\\', "x", ""]), max_size=4).map("".join)
VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), TEXT, st.lists(TEXT, max_size=2), st.just({"a": {"b": 1.5}})
)
MESSAGE = st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "name"]), VALUE, max_size=4)
MESSAGES = st.lists(MESSAGE, max_size=6)
BODY = st.dictionaries(st.sampled_from(["model", "tools", "seed"]), VALUE)
ANSWER = st.none() | st.just({}) | st.builds(lambda message: {"choices": [{"message": message}]}, MESSAGE)


@st.composite
def _steps(draw: Any) -> list[tuple[dict[str, Any], dict[str, Any] | None, int | None]]:
    """Requests that repeat parts of earlier ones, each with an answer and which earlier one it is like."""
    steps: list[tuple[dict[str, Any], dict[str, Any] | None, int | None]] = []
    for number in range(draw(st.integers(1, 6))):
        like = draw(st.none() | st.integers(0, number - 1)) if number else None
        messages = draw(MESSAGES)
        if like is not None:
            before, answer, _ = steps[like]
            kept = before.get("messages", [])[: draw(st.integers(0, 6))]
            said = [answer["choices"][0]["message"]] if answer and draw(st.booleans()) else []
            messages = [*kept, *said, *messages]
        request = draw(BODY) | {"messages": messages} | draw(BODY)
        steps.append((request, draw(ANSWER), like))
    return steps


@given(_steps())
def test_requests_and_answers_come_back_to_the_byte(steps):
    written: list[Exchange] = []
    contents, context = [], b""
    for key, (request, answer, like) in enumerate(steps, start=1):
        content, context = encode(request, answer, context, None if like is None else written[like])
        contents.append(content)
        written.append(Exchange(key, request, answer))

    known: dict[int, Exchange] = {}
    context = b""
    for key, content in enumerate(contents, start=1):
        known[key], context = decode(key, content, context, known)

    assert [json.dumps([known[key].request, known[key].response]) for key in known] == [
        json.dumps([request, answer]) for request, answer, _ in steps
    ]


@given(_steps(), st.sampled_from([0, 8, exchange.LONG]))
def test_tools_stored_apart_come_back_to_the_byte(steps, long):
    shelf: dict[str, str] = {}

    def shelve(text: str) -> str:
        digest = sha256(text.encode()).hexdigest()
        shelf[digest] = text
        return digest

    known: dict[int, Exchange] = {}
    written: list[Exchange] = []
    contexts = b"", b""
    with patch.object(exchange, "LONG", long):
        for key, (request, answer, like) in enumerate(steps, start=1):
            content, first = encode(request, answer, contexts[0], None if like is None else written[like], shelve)
            known[key], second = decode(key, content, contexts[1], known, shelf.__getitem__)
            contexts = first, second
            written.append(Exchange(key, request, answer))
            assert json.dumps([known[key].request, known[key].response]) == json.dumps([request, answer])
    assert all(len(text) >= long for text in shelf.values())


@given(MESSAGES, MESSAGES, ANSWER)
def test_conversation_as_a_reference_comes_back_to_the_byte(messages, more, answer):
    exchange = Exchange(3, {"messages": messages}, answer)

    document = json.loads(json.dumps(encode_messages([*messages, *more], exchange)))

    assert json.dumps(decode_messages(document, {3: exchange})) == json.dumps([*messages, *more])


def test_long_conversation_takes_little_more_than_what_is_new():
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Read the files."}]
    base, context, stored, said = None, b"", 0, 0
    for number in range(90):
        result = " ".join(f"{number * 7919 * step % 104729:x}" for step in range(1, 1500))
        answer = {"choices": [{"message": {"role": "assistant", "content": f"Step {number}."}}]}
        content, context = encode({"model": "m", "messages": messages}, answer, context, base)
        base = Exchange(number + 1, {"model": "m", "messages": list(messages)}, answer)
        stored += len(content)
        messages = [*messages, answer["choices"][0]["message"], {"role": "tool", "content": result}]
        said += len(result)

    assert stored < said
    assert len(json.dumps(encode_messages(messages, base))) < 1.2 * len(json.dumps(messages[-1:]))


def test_what_was_stored_without_a_dictionary_is_read_and_built_on():
    request: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "The harbour fee is due."}]}
    plain = json.dumps({"more": request["messages"], "body": {"model": "m", "messages": None}, "answer": {}}).encode()

    first, context = decode(1, zlib.compress(plain), b"", {})
    content, _ = encode({**request, "seed": 2}, {}, context, first)

    assert (first.request, first.response) == (request, {})
    assert decode(2, content, context, {1: first})[0].request == {**request, "seed": 2}


def test_dictionaries_never_change_because_stored_calls_are_read_with_them():
    assert [sha256(content).hexdigest()[:16] for content in exchange.DICTIONARIES] == ["035ea8f89c09a43a"]


def test_question_asked_again_of_another_model_stores_hardly_more_than_the_answer():
    messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "The trace. " * 2000}]
    first = Exchange(1, {"model": "a", "messages": messages}, {"choices": []})
    _, context = encode(first.request, first.response)

    content, _ = encode({"model": "b", "messages": messages}, {"choices": []}, context, first)

    assert len(content) < 120

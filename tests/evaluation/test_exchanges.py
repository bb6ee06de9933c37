"""Exchanges as stored: exact to the byte, and no larger than what is new in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.models.calls import Chain

TEXT = st.lists(st.sampled_from(["The harbour fee. " * 8, "é\u2028", '"\\', "x", ""]), max_size=4).map("".join)
VALUE = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 9), TEXT, st.lists(TEXT, max_size=2), st.just({"a": {"b": 1.5}})
)
MESSAGE = st.dictionaries(st.sampled_from(["role", "content", "tool_calls", "name"]), VALUE, max_size=4)
MESSAGES = st.lists(MESSAGE, max_size=6)
BODY = st.dictionaries(st.sampled_from(["model", "tools", "seed"]), VALUE)
ANSWER = st.none() | st.just({}) | st.builds(lambda message: {"choices": [{"message": message}]}, MESSAGE)
KIND = st.sampled_from(["agent", "checklist 1"])
Step = tuple[str, dict[str, Any], dict[str, Any] | None]


@st.composite
def _steps(draw: Any) -> list[Step]:
    """Requests that repeat parts of earlier ones, each with an answer."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 6))):
        messages = draw(MESSAGES)
        if number:
            _, before, answer = steps[draw(st.integers(0, number - 1))]
            kept = before.get("messages", [])[: draw(st.integers(0, 6))]
            said = [answer["choices"][0]["message"]] if answer and draw(st.booleans()) else []
            messages = [*kept, *said, *messages]
        request = draw(BODY) | draw(st.sampled_from([{}, {"messages": messages}])) | draw(BODY)
        steps.append((draw(KIND), request, draw(ANSWER)))
    return steps


@pytest.mark.slow
@given(_steps())
def test_requests_and_answers_come_back_to_the_byte(steps):
    contents = []
    chain = Chain()
    for kind, request, answer in steps:
        content, chain = chain.pack(kind, request, answer)
        contents.append(content)

    read = []
    chain = Chain()
    for (kind, *_), content in zip(steps, contents, strict=True):
        exchange, chain = chain.unpack(kind, content)
        read.append([exchange.request, exchange.response])

    assert json.dumps(read) == json.dumps([[request, answer] for _, request, answer in steps])


@pytest.mark.slow
@given(MESSAGES, MESSAGES)
def test_conversation_as_a_reference_comes_back_to_the_byte(messages, more):
    _, chain = Chain().pack("agent", {"messages": messages}, {})

    short = json.loads(json.dumps(chain.shorten("agent", [*messages, *more])))

    assert json.dumps(chain.restore("agent", short)) == json.dumps([*messages, *more])


@pytest.mark.slow
def test_long_conversation_takes_little_more_than_what_is_new():
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Read the files."}]
    chain, stored, said = Chain(), 0, 0
    for number in range(90):
        result = " ".join(f"{number * 7919 * step % 104729:x}" for step in range(1, 1500))
        answer = {"choices": [{"message": {"role": "assistant", "content": f"Step {number}."}}]}
        content, chain = chain.pack("agent", {"model": "m", "messages": messages}, answer)
        stored += len(content)
        messages = [*messages, answer["choices"][0]["message"], {"role": "tool", "content": result}]
        said += len(result)

    assert stored < said
    assert len(json.dumps(chain.shorten("agent", messages))) < 1.2 * len(json.dumps(messages[-2:]))


def test_question_asked_again_of_another_model_stores_hardly_more_than_the_answer():
    messages = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "The trace. " * 20_000}]
    _, chain = Chain().pack("checklist 1", {"model": "a", "messages": messages}, {"choices": []})

    content, _ = chain.pack("checklist 1", {"model": "b", "messages": messages}, {"choices": []})

    assert len(content) < 120

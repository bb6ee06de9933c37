"""What goes back to which service, and how it is told how hard to think."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings

from evaluation.llm import Endpoint, ModelClient
from evaluation.llm.dialects import DIALECTS, dialect_of, effort_params, messages_for, origin_of, request_fields
from evaluation.llm.responses import responses_request
from tests.evaluation.llm.test_client import Notebook

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "f", "arguments": '{"a" :1}'},
    "extra_content": {"s": 1},
}
ORIGIN = origin_of("https://a.example/v1", "m")
OTHER = origin_of("https://a.example/v1", "n")


def conversation(**fields: Any) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "origin": ORIGIN, **fields},
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "assistant", "content": "One.", "origin": ORIGIN, **fields},
        {"role": "user", "content": "And?"},
    ]


def sent(dialect: str, origin: str = ORIGIN, **fields: Any) -> list[dict[str, Any]]:
    return messages_for(DIALECTS[dialect], origin, conversation(**fields), "m")


@pytest.mark.parametrize(
    ("dialect", "field", "returned"),
    [
        ("", "reasoning_content", [True, True]),
        ("", "reasoning_details", [True, True]),
        ("deepseek", "reasoning_content", [True, True]),
        ("qwen", "reasoning_content", [False, False]),  # the user has spoken since
        ("openrouter", "reasoning_details", [True, True]),
        ("openai", "reasoning_content", [False, False]),
        ("mistral", "reasoning_content", [False, False]),
        ("vllm", "reasoning", [True, True]),
        ("litellm", "thinking_blocks", [True, True]),
    ],
)
def test_thoughts_go_back_to_who_wants_them(dialect: str, field: str, returned: list[bool]):
    answers = [message for message in sent(dialect, **{field: "x"}) if message["role"] == "assistant"]

    assert [field in message for message in answers] == returned


TOLD_BY = {
    "": "cannot be told: an error",
    "reasoning": "`reasoning.effort`",
    "reasoning_effort": "`reasoning_effort`",
    "enable_thinking": "`enable_thinking`, `reasoning_effort`",
    "thinking": "`reasoning_effort`; none: `thinking.type`",
}


def test_each_service_gets_back_what_the_page_about_models_says_of_it():
    page = (settings.BASE_DIR / "docs" / "models.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.partition("| dialect |")[2].splitlines()[2:22]]
    documented = {"" if name == "(any other)" else name.strip("`"): cells for name, *cells in rows}

    assert documented.keys() == DIALECTS.keys()
    for name, (back, later, effort, *_) in documented.items():
        dialect = DIALECTS[name]
        assert (name, set(re.findall(r"`(\w+)`", back))) == (name, set(dialect.returned))
        assert (name, "empty too" in back) == (name, bool(dialect.insists))
        assert (name, later.startswith("yes")) == (name, dialect.across_turns)
        assert (name, effort.removesuffix(", `reasoning.effort`")) == (name, TOLD_BY[dialect.effort])


def test_thoughts_of_a_tool_loop_go_back_to_a_service_that_wants_only_those():
    loop = conversation(reasoning_content="Hm.")[:3]

    assert messages_for(DIALECTS["qwen"], ORIGIN, loop, "m")[1]["reasoning_content"] == "Hm."


@pytest.mark.parametrize("kept", ["", None])
def test_empty_and_missing_thoughts_are_told_apart(kept: str | None):
    assert sent("", reasoning_content=kept)[1]["reasoning_content"] == kept
    assert "reasoning_content" not in sent("")[1]
    assert sent("deepseek")[1]["reasoning_content"] == ""  # it insists
    assert "reasoning_content" not in sent("deepseek")[3]


def test_another_model_gets_words_and_calls_alone():
    fields = {
        "reasoning_content": "Hm.",
        "content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "A"}],
    }

    _, loop, _, answer, _ = sent("", OTHER, **fields)

    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a" :1}'}}
    assert loop == {"role": "assistant", "content": "A", "tool_calls": [call]}
    assert answer == {"role": "assistant", "content": "A"}


def test_fields_of_our_own_and_unknown_ones_are_never_sent():
    for message in sent("", annotations=[], refusal=None, output=[{}]):
        assert message.keys() <= {"role", "content", "tool_calls", "tool_call_id"}


def test_arguments_and_what_a_service_added_to_a_call_go_back_as_they_came():
    assert sent("gemini")[1]["tool_calls"] == [CALL]


def test_ids_that_a_service_refuses_are_shortened_alike_in_calls_and_results():
    _, loop, result, *_ = sent("mistral")

    assert len(result["tool_call_id"]) == 9 and result["tool_call_id"].isalnum()
    assert loop["tool_calls"][0]["id"] == result["tool_call_id"]


def test_an_answer_without_words_or_calls_is_not_sent_empty():
    messages = [{"role": "assistant", "content": "", "reasoning_content": "Hm."}]

    assert messages_for(DIALECTS[""], ORIGIN, messages, "m") == [
        {"role": "assistant", "content": "[no answer]", "reasoning_content": "Hm."}
    ]


@pytest.mark.parametrize(
    ("chosen", "url", "dialect"),
    [
        ("", "https://api.deepseek.com/v1", "deepseek"),
        ("", "https://me.openai.azure.com/openai/v1", "openai"),
        ("", "https://notapi.openai.com.evil.example/v1", ""),
        ("", "https://models.example/v1", ""),
        ("glm", "https://models.example/v1", "glm"),
        ("from a later version", "https://models.example/v1", ""),
    ],
)
def test_dialect_is_found_by_the_address_unless_one_is_chosen(chosen: str, url: str, dialect: str):
    assert dialect_of(chosen, url) is DIALECTS[dialect]


@pytest.mark.parametrize(
    ("dialect", "effort", "params"),
    [
        ("openai", "high", {"reasoning_effort": "high"}),
        ("deepseek", "none", {"thinking": {"type": "disabled"}}),
        ("deepseek", "max", {"reasoning_effort": "max"}),
        ("qwen", "none", {"enable_thinking": False}),
        ("openrouter", "high", {"reasoning": {"effort": "high"}}),
        ("", "", {}),
    ],
)
def test_effort_is_told_in_the_services_way(dialect: str, effort: str, params: dict[str, Any]):
    assert effort_params(DIALECTS[dialect], effort) == params


def test_effort_that_cannot_be_told_is_an_error_and_not_left_out():
    with pytest.raises(ValueError, match="through a router"):
        Endpoint("c", "https://api.anthropic.com/v1", "claude-opus-5", effort="high")


def test_caches_are_marked_only_where_a_service_bills_them():
    assert request_fields(DIALECTS["openrouter"], "anthropic/claude-opus-5") == {"cache_control": {"type": "ephemeral"}}
    assert request_fields(DIALECTS["openrouter"], "deepseek/deepseek-v4") == {}
    marked = messages_for(DIALECTS["litellm"], ORIGIN, conversation(), "claude-opus-5")
    at = [index for index, message in enumerate(marked) if "cache_control" in str(message)]
    assert at == [0, 4]
    assert "cache_control" not in str(messages_for(DIALECTS["litellm"], ORIGIN, conversation(), "gpt-5.4"))


def test_caches_are_marked_after_the_last_part_of_a_message_and_not_where_there_is_none():
    mark = {"cache_control": {"type": "ephemeral"}}
    text, picture = {"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": "data:x"}}
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [text, picture]}]

    first, last = messages_for(DIALECTS["qwen"], ORIGIN, asked, "qwen3.8-max")

    assert first["content"] == [{"type": "text", "text": "Be brief.", **mark}]
    assert last["content"] == [text, {**picture, **mark}]
    empty = {"role": "tool", "tool_call_id": "call_1", "content": ""}
    assert messages_for(DIALECTS["qwen"], ORIGIN, [*asked, empty], "qwen3.8-max")[-1] == empty
    assert request_fields(DIALECTS["openrouter"], "Anthropic/Claude-Opus-5") == mark


def test_effort_api_and_parameters_are_part_of_what_a_call_is_known_by():
    class Record(Notebook):
        def lookup(self, request_hash: str) -> Any:
            hashes.append(request_hash)
            return {"choices": [{"message": {"content": "One."}}]}

    hashes: list[str] = []
    variants: tuple[dict[str, Any], ...] = (
        *({"effort": effort} for effort in ("", "low", "high")),
        {"api": "responses"},
        *({"params": {"temperature": temperature}} for temperature in (0, 1)),
    )
    for fields in variants:
        client = ModelClient(Endpoint("m", "https://models.example/v1", "m", **fields), recorder=Record())
        client.complete([{"role": "user", "content": "?"}])

    assert len(set(hashes)) == len(variants) == 6


def test_responses_get_their_items_back_in_order_and_others_as_text():
    items = [
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "Zm9v", "summary": []},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ]
    messages = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [{"type": "text", "text": "?"}, {"type": "image_url", "image_url": {"url": "data:x"}}],
        },
        {"role": "assistant", "content": "", "tool_calls": [CALL], "output": items, "origin": ORIGIN},
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "assistant", "content": "Other.", "tool_calls": [CALL], "output": [{}], "origin": OTHER},
    ]
    body = {
        "model": "m", "messages": messages, "max_tokens": 9, "reasoning_effort": "high", "tool_choice": "auto",
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": {}}},
    }  # fmt: skip

    request = responses_request(body, ORIGIN)

    assert request == {
        "model": "m",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "?"},
                                         {"type": "input_image", "image_url": "data:x"}]},
            *items,
            {"type": "function_call_output", "call_id": "call_1", "output": "1"},
            {"role": "assistant", "content": "Other."},
            {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": '{"a" :1}'},
        ],
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 9,
        "reasoning": {"effort": "high"},
        "tool_choice": "auto",
        "tools": [{"type": "function", "strict": False, "name": "f", "parameters": {"type": "object"}}],
        "text": {"format": {"type": "json_schema", "name": "a", "strict": True, "schema": {}}},
    }  # fmt: skip

"""Each service takes and refuses what it is documented to, asked by the bare ``openai`` client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from copy import deepcopy
from typing import Any

import openai
import pytest

from tests.zoo.responses import ENCRYPTED
from tests.zoo.server import Zoo, playing
from tests.zoo.service import KEY, Service
from tests.zoo.services import SERVICES

CHAT = sorted(name for name, service in SERVICES.items() if service.api == "chat")
RESPONSES = sorted(name for name, service in SERVICES.items() if service.api == "responses")
AGENT = [{"role": "system", "content": "You are an assistant."}, {"role": "user", "content": "Please write a note."}]


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
JUDGE = [{"role": "system", "content": "You check a message. Answer with one JSON object."}, AGENT[1]]


@pytest.fixture
def play() -> Iterator[Callable[[str], Zoo]]:
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(playing(SERVICES[name]()))


SHARED = openai.OpenAI(api_key="none", max_retries=0, timeout=20)
"""Making one takes longer than most of these tests."""


def client_of(zoo: Zoo, key: str = KEY) -> openai.OpenAI:
    return SHARED.with_options(base_url=zoo.url(), api_key=key)


def ask(zoo: Zoo, messages: Any = AGENT, **options: Any) -> dict[str, Any]:
    """The raw answer, as it stands in the body."""
    service = zoo.service
    usual = {"reasoning_effort": "none"} if service.name == "openai-chat-5.6" and options.get("tools") else {}
    body = {"model": service.model, "messages": messages, **usual, **options}
    client = client_of(zoo)
    if getattr(service, "must_stream", False) or options.get("stream"):
        body["stream"] = True
        kinds: Any = {"cast_to": object, "stream_cls": openai.Stream[object]}
        return assembled(client.post("/chat/completions", body=body, stream=True, **kinds))
    return client.post("/chat/completions", cast_to=object, body=body)  # type: ignore[return-value]


def assembled(stream: Any) -> dict[str, Any]:
    """One document of a stream's chunks, as a client without knowledge of the service would make it."""
    whole: dict[str, Any] = {"message": {}, "finish_reason": None, "usage": None}
    for chunk in stream:
        whole["usage"] = chunk.get("usage") or whole["usage"]
        for choice in chunk["choices"]:
            merge(whole["message"], choice["delta"])
            whole["finish_reason"] = choice.get("finish_reason") or whole["finish_reason"]
    for call in whole["message"].get("tool_calls", ()):
        call.pop("index")
    return {
        "choices": [{"message": whole["message"], "finish_reason": whole["finish_reason"]}],
        "usage": whole["usage"],
    }


def merge(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name, value in delta.items():
        if name == "tool_calls":
            calls = message.setdefault("tool_calls", [])
            for part in value:
                if part["index"] == len(calls):
                    calls.append(part | {"function": {"arguments": "", **part["function"]}})
                else:
                    calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
        elif isinstance(value, str) and isinstance(message.get(name), str) and name != "role":
            message[name] += value
        elif isinstance(value, list) and isinstance(message.get(name), list):
            merge_details(message[name], value)
        elif value or name not in message:
            message[name] = deepcopy(value)


def merge_details(details: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    for part in more:
        if details and details[-1].get("type") == part["type"]:
            for name, value in part.items():
                if name == "thinking":
                    details[-1][name][0]["text"] += value[0]["text"]
                else:
                    details[-1][name] = details[-1].get(name, "") + value if name == "text" else value
        else:
            details.append(part)


def message_of(answer: dict[str, Any]) -> dict[str, Any]:
    return answer["choices"][0]["message"]


def results_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "tool", "tool_call_id": call["id"], "content": "Done."} for call in message["tool_calls"]]


def refusal(zoo: Zoo, messages: Any = AGENT, **options: Any) -> tuple[int, Any]:
    with pytest.raises(openai.APIStatusError) as caught:
        ask(zoo, messages, **options)
    return caught.value.status_code, caught.value.response.json()


def told(body: Any) -> str:
    """The sentence, wherever a service puts it."""
    body = body[0] if isinstance(body, list) else body
    inner = body.get("error", body)
    return inner if isinstance(inner, str) else json.dumps(inner["message"]).strip('"')


# All of them


@pytest.mark.parametrize("name", [name for name in CHAT if name != "plain"])
def test_a_tool_loop_whose_messages_come_back_as_they_were_ends_in_words(play: Callable[[str], Zoo], name: str):
    zoo = play(name)
    messages: list[Any] = list(AGENT)

    for _ in range(2):  # turns of the user
        while True:
            message = message_of(ask(zoo, messages, tools=TOOLS))
            messages.append(message)
            if not message.get("tool_calls"):
                break
            messages += results_of(message)
        messages.append({"role": "user", "content": "And another."})

    answers = [message for message in messages if message["role"] == "assistant"]
    assert [len(answer.get("tool_calls") or ()) for answer in answers] == [2, 1, 0] * 2
    assert "notes/turn-2.md" in str(answers[-1]["content"])
    assert (zoo.service.lost, zoo.service.foreign) == ([], [])
    assert [entry.status for entry in zoo.service.log] == [200] * 6


@pytest.mark.parametrize("name", [name for name in CHAT if name not in ("plain", "qwen-stream", "minimax-split")])
def test_a_stream_brings_what_an_answer_at_once_would(play: Callable[[str], Zoo], name: str):
    whole, streamed = play(name), play(name)

    first = ask(whole, tools=TOOLS)
    parts = ask(streamed, tools=TOOLS, stream=True, stream_options={"include_usage": True})

    meant = {key: value for key, value in message_of(first).items() if value not in (None, [], "")}
    got = {key: value for key, value in message_of(parts).items() if value not in (None, [], "")}
    for call in meant["tool_calls"]:
        call.pop("index", None)
    if name == "mistral":  # its stream does not say that a thought is over
        del meant["content"][0]["closed"]
    assert got == meant
    assert parts["usage"] == first["usage"]


@pytest.mark.parametrize("name", CHAT + RESPONSES)
def test_no_call_stays_unanswered_no_model_is_made_up_and_hosted_services_want_their_key(
    play: Callable[[str], Zoo], name: str
):
    zoo = play(name)
    call = {"id": "Zoo000010", "type": "function", "function": {"name": "list_dir", "arguments": "{}"}}
    lonely = [*AGENT, {"role": "assistant", "content": None, "tool_calls": [call]}, AGENT[1]]

    if name in RESPONSES:
        item = {"type": "function_call", "call_id": "c", "name": "list_dir", "arguments": "{}"}
        for model, items, words in (
            (zoo.service.model, [*AGENT, item], "No tool output found"),
            ("other", AGENT, "does not exist"),
        ):
            with pytest.raises(openai.BadRequestError) as caught:
                client_of(zoo).responses.create(model=model, input=items, store=False)
            assert words in told(caught.value.response.json())
    elif name in ("minimax", "minimax-split"):
        assert ask(zoo, lonely)["base_resp"]["status_code"] == 2013
        assert ask(zoo, model="other")["base_resp"]["status_code"] == 2013
        return
    else:
        assert refusal(zoo, lonely)[0] in (400, 422)
        assert refusal(zoo, model="other")[0] == 404
    if zoo.service.hosted:
        with pytest.raises(openai.AuthenticationError):
            client_of(zoo, "wrong").post("/" + zoo.service.paths[0], cast_to=object, body={"model": zoo.service.model})


@pytest.mark.parametrize("name", [name for name in CHAT if name not in ("plain", "openai-chat-5.6")])
def test_tokens_shared_with_an_earlier_prompt_are_told_as_cached_where_the_service_tells_them(
    play: Callable[[str], Zoo], name: str
):
    zoo = play(name)
    long = [{"role": "system", "content": "Know this. " * 800}, AGENT[1]]
    if name in ("openrouter", "litellm"):
        marked = [{"type": "text", "text": long[0]["content"], "cache_control": {"type": "ephemeral"}}]
        long = [{"role": "system", "content": marked}, AGENT[1]]

    options = {"stream_options": {"include_usage": True}} if name == "qwen-stream" else {}
    for words in ("One.", "Two."):
        ask(zoo, [*long[:1], {"role": "user", "content": words}], **options)

    first, second = (entry.counted for entry in zoo.service.log)
    silent = ("anthropic", "ollama", "lm-studio", "sglang", "vllm-bare")
    assert (first.cached, second.cached > 1500) == (0, name not in silent)
    assert second.cached + second.written <= second.prompt
    assert zoo.service.log[1].cost < zoo.service.log[0].cost or name in silent


# One by one


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("openai-chat", {"temperature": 0}, "Only the default (1) value is supported"),
        ("openai-chat", {"max_tokens": 100}, "Use 'max_completion_tokens' instead"),
        ("openai-chat", {"tools": TOOLS, "reasoning_effort": "high"}, "Please use /v1/responses instead"),
        ("openai-chat", {"thinking": {"type": "enabled"}}, "Unrecognized request argument supplied: thinking"),
        ("openai-chat", {"tools": [function(f"t{n}") for n in range(129)]}, "maximum length 128"),
        ("openai-chat", {"tools": [function("a.b")]}, "string does not match pattern"),
        ("openai-chat", {"response_format": {"type": "json_object"}}, "must contain the word 'json'"),
        ("openai-chat-5.6", {"tools": TOOLS, "reasoning_effort": None}, "set reasoning_effort to 'none'"),
        ("azure", {"temperature": 0.5}, "does not support 0.5 with this model"),
        ("deepseek", {"tools": TOOLS, "tool_choice": "required"}, "does not support this tool_choice"),
        (
            "deepseek",
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}},
            "response_format type is unavailable",
        ),
        ("kimi", {"temperature": 0}, "invalid temperature: only 1 is allowed for this model"),
        ("qwen", {"tools": TOOLS, "tool_choice": "required"}, "in thinking mode"),
        ("qwen-stream", {"response_format": {"type": "json_object"}}, "Json mode response is not supported"),
        ("glm", {"max_tokens": 200_000}, "131072"),
        ("gemini", {"seed": 1}, 'Unknown name \\"seed\\": Cannot find field.'),
        ("anthropic", {"temperature": 1.5}, "less than or equal to 1"),
        ("xai", {"presence_penalty": 1}, "does not support parameter presencePenalty"),
        ("mistral", {"max_completion_tokens": 10}, "Extra inputs are not permitted"),
        ("groq", {"tools": TOOLS, "reasoning_format": "raw"}, "reasoning_format must be"),
        ("lm-studio", {"response_format": {"type": "json_object"}}, "must be 'json_schema' or 'text'"),
    ],
)
def test_a_parameter_is_refused_in_the_services_own_words(
    play: Callable[[str], Zoo], name: str, options: dict[str, Any], words: str
):
    zoo = play(name)
    if options.get("reasoning_effort", "") is None:
        options = {**options, "reasoning_effort": "low"}
    status, body = refusal(zoo, **options)
    assert status in (400, 422)
    assert words in told(body)


def test_streams_alone_serve_some_models_of_qwen(play: Callable[[str], Zoo]):
    zoo = play("qwen-stream")
    body = {"model": zoo.service.model, "messages": AGENT}
    with pytest.raises(openai.BadRequestError, match="non-streaming calls"):
        client_of(zoo).post("/chat/completions", cast_to=object, body=body)


@pytest.mark.parametrize(
    ("name", "field", "words"),
    [
        ("deepseek", "reasoning_content", "must be passed back to the API"),
        ("kimi", "reasoning_content", "reasoning_content is missing in assistant tool call message at index 2"),
        ("litellm", "thinking_blocks", "Expected `thinking`"),
    ],
)
def test_thoughts_left_out_beside_a_call_are_refused(play: Callable[[str], Zoo], name: str, field: str, words: str):
    zoo = play(name)
    message = message_of(ask(zoo, tools=TOOLS))
    without = {key: value for key, value in message.items() if key != field}

    status, body = refusal(zoo, [*AGENT, without, *results_of(message)], tools=TOOLS)

    assert status == 400
    assert words in told(body)
    ask(zoo, [*AGENT, message, *results_of(message)], tools=TOOLS)


def test_deepseek_wants_empty_thoughts_back_and_those_of_earlier_turns_that_called_tools(play: Callable[[str], Zoo]):
    zoo = play("deepseek")
    first = message_of(ask(zoo, tools=TOOLS))
    second = message_of(ask(zoo, [*AGENT, first, *results_of(first)], tools=TOOLS))
    third = message_of(ask(zoo, [*AGENT, first, *results_of(first), second, *results_of(second)], tools=TOOLS))
    assert (second["reasoning_content"], third["reasoning_content"] != "") == ("", True)

    for bare in (second, third):
        turn = [first, *results_of(first), second, *results_of(second), third]
        given = [
            {key: part for key, part in each.items() if each is not bare or key != "reasoning_content"} for each in turn
        ]
        assert refusal(zoo, [*AGENT, *given, AGENT[1]])[0] == 400


@pytest.mark.parametrize(
    ("name", "field"),
    [("mistral", "reasoning_content"), ("groq", "reasoning_content"), ("groq", "reasoning_details")],
)
def test_strict_services_refuse_fields_of_others(play: Callable[[str], Zoo], name: str, field: str):
    answered = {"role": "assistant", "content": "Yes.", field: "Hm."}
    status, body = refusal(play(name), [*AGENT, answered, AGENT[1]])
    assert status in (400, 422)
    assert field in json.dumps(body)


def test_gemini_wants_the_signature_of_a_steps_first_call_unchanged(play: Callable[[str], Zoo]):
    zoo = play("gemini")
    message = message_of(ask(zoo, tools=TOOLS))
    first, second = message["tool_calls"]
    assert "extra_content" not in second

    bare = message | {"tool_calls": [{key: part for key, part in first.items() if key != "extra_content"}, second]}
    other = message | {"tool_calls": [first | {"extra_content": {"google": {"thought_signature": "other"}}}, second]}

    status, body = refusal(zoo, [*AGENT, bare, *results_of(message)])
    assert (status, isinstance(body, list), body[0]["error"]["status"]) == (400, True, "INVALID_ARGUMENT")
    assert "missing a thought_signature" in told(body)
    assert "Corrupted" in told(refusal(zoo, [*AGENT, other, *results_of(message)])[1])


def test_mistral_wants_ids_of_nine_characters_and_a_user_or_tool_last(play: Callable[[str], Zoo]):
    zoo = play("mistral")
    message = message_of(ask(zoo, tools=TOOLS))
    assert [part["type"] for part in message["content"]] == ["thinking"]
    long = message | {"tool_calls": [call | {"id": f"call_{call['id']}"} for call in message["tool_calls"]]}
    assert "with a length of 9" in told(refusal(zoo, [*AGENT, long, *results_of(long)])[1])
    said = {"role": "assistant", "content": "Yes."}
    assert "Expected last role User or Tool" in told(refusal(zoo, [*AGENT, said])[1])


@pytest.mark.parametrize("name", ["vllm", "ollama"])
def test_what_is_not_called_reasoning_is_dropped_without_a_word(play: Callable[[str], Zoo], name: str):
    zoo = play(name)
    message = message_of(ask(zoo, tools=TOOLS))
    other = {key: part for key, part in message.items() if key != "reasoning"} | {"reasoning_content": "Hm." * 400}

    ask(zoo, [*AGENT, other, *results_of(message)], tools=TOOLS)
    ask(zoo, [*AGENT, message, *results_of(message)], tools=TOOLS)

    _, dropped, kept = (entry.counted for entry in zoo.service.log)
    assert dropped.prompt < kept.prompt
    assert len(zoo.service.lost) == 1
    assert zoo.service.foreign == ["reasoning_content"]


def test_templates_of_local_servers_refuse_some_orders_of_roles(play: Callable[[str], Zoo]):
    assert refusal(play("llama.cpp"), [*AGENT, AGENT[1]])[0] == 500
    assert "at the beginning" in told(refusal(play("vllm"), [*AGENT, AGENT[0]])[1])


def test_a_context_that_is_too_small_is_told_or_cut_silently(play: Callable[[str], Zoo]):
    long = [AGENT[0], {"role": "user", "content": "word " * 60_000}]
    status, body = refusal(play("llama.cpp"), long)
    assert (status, body["error"]["type"], body["error"]["n_ctx"]) == (400, "exceed_context_size_error", 65_536)
    assert "overflows" in told(refusal(play("lm-studio"), long)[1])
    cut = play("ollama")
    ask(cut, [*long, {"role": "assistant", "content": "Yes."}, AGENT[1]])
    assert cut.service.log[0].counted.prompt < 1000


def test_thoughts_stand_inside_the_text_where_nobody_takes_them_out(play: Callable[[str], Zoo]):
    for name in ("minimax", "vllm-bare", "lm-studio"):
        assert message_of(ask(play(name)))["content"].startswith("<think>\nZOO-THOUGHT-")
    split = message_of(ask(play("minimax-split"), reasoning_split=True))
    assert (split["content"], split["reasoning_details"][0]["type"]) == (
        "Note 1 is in notes/turn-1.md.",
        "reasoning.text",
    )


def test_minimax_fails_with_status_200(play: Callable[[str], Zoo]):
    zoo = play("minimax")
    answer: Any = client_of(zoo, "wrong").post("/chat/completions", cast_to=object, body={"model": zoo.service.model})
    assert (answer["choices"], answer["base_resp"]["status_code"]) == (None, 1004)


def test_openrouter_fails_inside_a_200_and_inside_a_stream_and_tells_cost_and_provider(play: Callable[[str], Zoo]):
    zoo = play("openrouter")
    good = ask(zoo)
    assert (good["provider"], good["usage"]["cost"]) == ("Anthropic", float(zoo.service.log[0].cost))
    zoo.service.faults = ["error_in_200"] * 2
    assert ask(zoo)["error"]["code"] == 502
    with pytest.raises(openai.APIError, match="Provider returned error"):
        ask(zoo, stream=True)


def test_filters_of_azure_and_failed_calls_of_groq_have_their_codes(play: Callable[[str], Zoo]):
    azure = play("azure")
    azure.service.faults = ["prompt_filtered", "answer_filtered"]
    status, body = refusal(azure)
    assert (status, body["error"]["code"]) == (400, "content_filter")
    assert ask(azure)["choices"][0]["finish_reason"] == "content_filter"
    groq = play("groq")
    groq.service.faults = ["tool_use_failed"]
    assert refusal(groq, tools=TOOLS)[1]["error"]["code"] == "tool_use_failed"


@pytest.mark.parametrize("name", ["deepseek", "groq", "openai-chat", "lm-studio"])
def test_judges_get_json_where_its_mode_is_heeded(play: Callable[[str], Zoo], name: str):
    schema = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": SCHEMA}}
    form = {"type": "json_object"} if name == "deepseek" else schema
    zoo = play(name)
    content = message_of(ask(zoo, JUDGE, response_format=form))["content"]
    assert json.loads(content.rpartition("</think>")[2])["says_all"] is True


@pytest.mark.parametrize("name", ["anthropic", "minimax", "plain"])
def test_judges_get_json_in_a_fence_where_no_mode_is_heeded_or_asked_for(play: Callable[[str], Zoo], name: str):
    form = {} if name == "plain" else {"response_format": {"type": "json_object"}}
    assert "```json\n{" in message_of(ask(play(name), JUDGE, **form))["content"]


# The Responses API


def respond(zoo: Zoo, items: Any, **options: Any) -> dict[str, Any]:
    tools = [{"type": "function", "strict": False, **tool["function"]} for tool in TOOLS]
    usual = {"store": False, "include": [ENCRYPTED], "tools": tools}
    body = {"model": zoo.service.model, "input": items, **usual, **options}
    return client_of(zoo).post("/responses", cast_to=object, body=body)  # type: ignore[return-value]


@pytest.mark.parametrize("name", RESPONSES)
def test_items_come_back_whole_through_a_loop_without_stored_state(play: Callable[[str], Zoo], name: str):
    zoo = play(name)
    items: list[Any] = list(AGENT)
    kinds = []

    for _ in range(3):
        output = respond(zoo, items)["output"]
        kinds.append([item["type"] for item in output])
        items += output
        calls = [item for item in output if item["type"] == "function_call"]
        items += [{"type": "function_call_output", "call_id": call["call_id"], "output": "Done."} for call in calls]

    assert kinds == [
        ["reasoning", "function_call", "function_call"],
        ["reasoning", "message", "function_call"],
        ["reasoning", "message"],
    ]
    assert zoo.service.lost == []
    assert [entry.status for entry in zoo.service.log] == [200] * 3


def test_reasoning_left_out_or_without_its_content_is_refused(play: Callable[[str], Zoo]):
    zoo = play("openai-responses")
    reasoning, *calls = respond(zoo, AGENT)["output"]
    results = [{"type": "function_call_output", "call_id": call["call_id"], "output": "Done."} for call in calls]

    with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
        respond(zoo, [*AGENT, *calls, *results])
    with pytest.raises(openai.NotFoundError, match="Items are not persisted"):
        respond(zoo, [*AGENT, {**reasoning, "encrypted_content": None}, *calls, *results])
    with pytest.raises(openai.BadRequestError, match="could not be verified"):
        respond(zoo, [*AGENT, {**reasoning, "encrypted_content": "other"}, *calls, *results])
    with pytest.raises(openai.BadRequestError, match="without its required following item"):
        respond(zoo, [*AGENT, reasoning])
    respond(zoo, [*AGENT, reasoning, *calls, *results])


def test_responses_take_a_temperature_only_without_effort_and_know_no_fields_of_chats(play: Callable[[str], Zoo]):
    zoo = play("openai-responses")
    with pytest.raises(openai.BadRequestError, match="'temperature' is not supported"):
        respond(zoo, AGENT, temperature=0)
    with pytest.raises(openai.BadRequestError, match="Unknown parameter: 'max_tokens'"):
        respond(zoo, AGENT, max_tokens=10)
    answer = respond(zoo, AGENT, temperature=0, reasoning={"effort": "none"})
    assert [item["type"] for item in answer["output"]] == ["function_call", "function_call"]


@pytest.mark.slow
@pytest.mark.parametrize("name", RESPONSES)
def test_the_clients_own_helper_reads_the_stream_of_responses(play: Callable[[str], Zoo], name: str):
    zoo = play(name)
    options = {"store": False, "include": [ENCRYPTED], "reasoning": {"summary": "auto"}}
    with client_of(zoo).responses.stream(model=zoo.service.model, input=AGENT, **options) as stream:
        final = stream.get_final_response()
    assert final.output_text == "Note 1 is in notes/turn-1.md."
    assert final.output[0].encrypted_content.startswith("gAAAAA")
    assert final.usage.output_tokens_details.reasoning_tokens == zoo.service.log[0].counted.reasoning > 0


# The one that misbehaves


def test_the_plain_server_spoils_one_answer_for_each_name(play: Callable[[str], Zoo]):
    zoo = play("plain")
    plain: Service = zoo.service
    plain.faults = ["cut_arguments", "refusal", "filtered", "no_usage", "quota", "busy", "detail", "picture_500"]

    cut = ask(zoo, tools=TOOLS)
    assert cut["choices"][0]["finish_reason"] == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(message_of(cut)["tool_calls"][0]["function"]["arguments"])
    assert message_of(ask(zoo))["refusal"] == "I can't help with that."
    assert ask(zoo)["choices"][0]["finish_reason"] == "content_filter"
    assert "usage" not in ask(zoo)
    assert refusal(zoo)[1]["error"]["code"] == "insufficient_quota"
    assert refusal(zoo)[0] == 429
    assert "detail" in refusal(zoo)[1]
    shown = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]
    assert refusal(zoo, [{"role": "user", "content": shown}])[0] == 500
    assert message_of(ask(zoo))["content"] == "Note 1 is in notes/turn-1.md."


def test_the_plain_server_spoils_streams(play: Callable[[str], Zoo]):
    zoo = play("plain")
    zoo.service.faults = ["no_done", "line_separator", "closed", "slow", "stalled"]
    zoo.service.go_on.set()

    texts = [message_of(ask(zoo, stream=True))["content"] for _ in range(5)]

    assert texts[1].startswith("One\u2028two\u0085three.")
    assert {text.rpartition(". ")[2] for text in texts} == {"Note 1 is in notes/turn-1.md."}

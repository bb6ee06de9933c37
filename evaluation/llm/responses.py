"""The Responses API: a conversation as its items, and its answer as an assistant's message.

Nothing is kept by the service (``store`` is false): its reasoning comes encrypted, and goes back with the other items
of the answer, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.llm.dialects import NO_WORDS, ORIGIN, OUTPUT

Json = Mapping[str, Any]
_RENAMED = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_TRANSLATED = ("messages", "tools", "response_format", "tool_choice", "reasoning_effort", "stream_options")


def responses_request(body: Json, origin: str) -> dict[str, Any]:
    """From the body of a chat completion."""
    request = {_RENAMED.get(name, name): value for name, value in body.items() if name not in _TRANSLATED}
    request["input"] = [item for message in body["messages"] for item in _items(message, origin)]
    request["store"] = False
    request["include"] = ["reasoning.encrypted_content"]
    if tools := body.get("tools"):
        request["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]
    if effort := body.get("reasoning_effort"):
        request["reasoning"] = {**(body.get("reasoning") or {}), "effort": effort}
    if isinstance(choice := body.get("tool_choice"), Mapping):
        request["tool_choice"] = {"type": "function", "name": (choice.get("function") or {}).get("name")}
    elif choice:
        request["tool_choice"] = choice
    if wanted := body.get("response_format"):
        schema = wanted.get("json_schema") or {}
        request["text"] = {**(body.get("text") or {}), "format": {"type": wanted["type"], **schema}}
    return request


def message_of(response: Json) -> dict[str, Any]:
    """The answer as an assistant's message, with the items to send back."""
    items = [item for item in response.get("output") or () if isinstance(item, Mapping)]
    parts = [part for item in items if item.get("type") == "message" for part in _parts(item.get("content"))]
    thoughts = [
        str(part.get("text", ""))
        for item in items
        if item.get("type") == "reasoning"
        for part in (*_parts(item.get("summary")), *_parts(item.get("content")))
    ]
    message: dict[str, Any] = {
        "role": "assistant",
        "content": "".join(str(part.get("text", "")) for part in parts if part.get("type") == "output_text"),
        OUTPUT: items,
    }
    if refusal := "".join(str(part.get("refusal", "")) for part in parts):
        message["refusal"] = refusal
    if thoughts:
        message["reasoning"] = "\n\n".join(thoughts)
    calls = [
        {
            "id": item.get("call_id") or item.get("id"),
            "type": "function",
            "function": {"name": item.get("name"), "arguments": item.get("arguments")},
        }
        for item in items
        if item.get("type") == "function_call"
    ]
    if calls:
        message["tool_calls"] = calls
    return message


def finish_reason_of(response: Json) -> str:
    """In the words of chat completions."""
    if response.get("status") != "incomplete":
        return "stop"
    reason = _mapping(response.get("incomplete_details")).get("reason")
    return {"max_output_tokens": "length"}.get(str(reason), str(reason or "length"))


def usage_of(response: Json) -> dict[str, Any]:
    """Likewise."""
    usage = _mapping(response.get("usage"))
    return {
        **usage,
        "prompt_tokens": usage.get("input_tokens"),
        "completion_tokens": usage.get("output_tokens"),
        "prompt_tokens_details": usage.get("input_tokens_details"),
        "completion_tokens_details": usage.get("output_tokens_details"),
    }


def _items(message: Json, origin: str) -> Sequence[Json]:
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        return [{"type": "function_call_output", "call_id": message.get("tool_call_id"), "output": content or ""}]
    if role != "assistant":
        return [{"role": role, "content": _input(content)}]
    if message.get(OUTPUT) and message.get(ORIGIN) == origin:
        return list(message[OUTPUT])
    calls = [
        {
            "type": "function_call",
            "call_id": call["id"],
            **{name: call["function"][name] for name in ("name", "arguments")},
        }
        for call in message.get("tool_calls") or ()
    ]
    said = content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in _parts(content))
    if not said and not calls:
        said = NO_WORDS
    return [{"role": "assistant", "content": said}, *calls] if said else calls


def _input(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [
        {"type": "input_image", "image_url": _mapping(part.get("image_url")).get("url")}
        if part.get("type") == "image_url"
        else {"type": "input_text", "text": part.get("text", "")}
        for part in _parts(content)
    ]


def _parts(value: Any) -> list[Json]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []


def _mapping(value: Any) -> Json:
    return value if isinstance(value, Mapping) else {}

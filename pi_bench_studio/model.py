"""One of Inspect's models in a seat of the engine: it is asked with chat completions, and answers with one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from anyio import from_thread
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from evaluation.llm import ContextTooLongError, Endpoint
from evaluation.protocol.participants import InfrastructureError

Json = Mapping[str, Any]
KEPT = "extra_content"
"""Field of a message that comes back to the model as it was: holds Inspect's own form of it, with signed thoughts."""
FINISH = {"max_tokens": "length", "tool_calls": "tool_calls", "content_filter": "content_filter"}


class ModelFailedError(InfrastructureError):
    """Inspect has tried again as often as it should, or stops the sample."""

    hopeless = True


class Seat:
    """``Endpoint.answer`` of a session that is played in a worker thread of anyio."""

    def __init__(self, model: Model) -> None:
        self.failure: Exception | None = None
        """What the model raised, which the engine tells only in words: a limit of Inspect's, for one."""
        self._model = model

    @property
    def endpoint(self) -> Endpoint:
        name = str(self._model)
        return Endpoint(name, "inspect:", name, answer=self)

    def __call__(self, request: Json) -> dict[str, Any]:
        try:
            output: ModelOutput = from_thread.run(self._ask, request)
        except Exception as error:
            self.failure = error
            raise ModelFailedError(f"{self._model}: {error or type(error).__name__}") from error
        if output.stop_reason == "model_length":
            raise ContextTooLongError(f"{self._model} cannot read so long a conversation.")
        return completion_of(output)

    async def _ask(self, request: Json) -> ModelOutput:
        return await self._model.generate(
            messages_of(request["messages"]),
            tools=[tool_of(tool["function"]) for tool in request.get("tools", ())],
            tool_choice=choice_of(request.get("tool_choice")),
            config=GenerateConfig(
                temperature=request.get("temperature"), response_schema=schema_of(request.get("response_format"))
            ),
        )


def messages_of(messages: Sequence[Json]) -> list[ChatMessage]:
    names: dict[str, str] = {}
    found: list[ChatMessage] = []
    for message in messages:
        content = message.get("content") or ""
        if message["role"] == "assistant":
            calls = [_call_of(call) for call in message.get("tool_calls", ())]
            names |= {call.id: call.function for call in calls}
            kept = message.get(KEPT) or {"content": content}
            found.append(ChatMessageAssistant.model_validate({**kept, "tool_calls": calls or None}))
        elif message["role"] == "tool":
            call = message["tool_call_id"]
            found.append(ChatMessageTool(content=content, tool_call_id=call, function=names.get(call)))
        elif message["role"] == "system":
            found.append(ChatMessageSystem(content=content))
        else:
            found.append(ChatMessageUser(content=content if isinstance(content, str) else [*map(_part_of, content)]))
    return found


def tool_of(function: Json) -> ToolInfo:
    schema = _inlined(function["parameters"], function["parameters"].get("$defs", {}))
    open_ended = {"additionalProperties": schema.get("additionalProperties", True)}
    parameters = ToolParams.model_validate(open_ended | schema)
    return ToolInfo(name=function["name"], description=function["description"], parameters=parameters)


def choice_of(wanted: Any) -> ToolChoice | None:
    if isinstance(wanted, Mapping):
        return ToolFunction(wanted["function"]["name"])
    choices: dict[Any, ToolChoice] = {"none": "none", "auto": "auto", "required": "any"}
    return choices.get(wanted)


def schema_of(wanted: Json | None) -> ResponseSchema | None:
    if wanted is None:
        return None
    named = wanted["json_schema"]
    return ResponseSchema(
        name=named["name"], json_schema=JSONSchema.model_validate(named["schema"]), strict=named["strict"]
    )


def completion_of(output: ModelOutput) -> dict[str, Any]:
    """As a service would have answered."""
    said = output.message
    calls = [_entry_of(call) for call in said.tool_calls or ()]
    thoughts = "" if isinstance(said.content, str) else _thoughts(said.content)
    message = {
        "role": "assistant",
        "content": said.text,
        **({"tool_calls": calls} if calls else {}),
        **({"reasoning_content": thoughts} if thoughts else {}),
        KEPT: said.model_dump(mode="json", exclude_none=True),
    }
    choice = {"index": 0, "message": message, "finish_reason": FINISH.get(output.stop_reason, "stop")}
    usage = {"usage": _usage(output.usage)} if output.usage else {}
    return {"object": "chat.completion", "model": output.model, "choices": [choice], **usage}


def _thoughts(content: Sequence[Content]) -> str:
    return "\n\n".join(part.reasoning for part in content if isinstance(part, ContentReasoning) and not part.redacted)


def _usage(usage: ModelUsage) -> dict[str, Any]:
    cached, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    prompt = usage.input_tokens + cached + written
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "cost": usage.total_cost,
    }


def _call_of(entry: Json) -> ToolCall:
    return ToolCall(entry["id"], entry["function"]["name"], json.loads(entry["function"]["arguments"]))


def _entry_of(call: ToolCall) -> dict[str, Any]:
    """Arguments that Inspect could not read stay what they are for the engine: no JSON."""
    arguments = call.parse_error or json.dumps(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": arguments}}


def _part_of(part: Json) -> Content:
    return ContentImage(image=part["image_url"]["url"]) if part["type"] == "image_url" else ContentText(**part)


def _inlined(schema: Any, definitions: Json, inside: tuple[str, ...] = ()) -> Any:
    """Without references, which Inspect drops. What refers to itself may be anything."""
    if isinstance(schema, list):
        return [_inlined(each, definitions, inside) for each in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    if not name:
        return {key: _inlined(value, definitions, inside) for key, value in schema.items() if key != "$defs"}
    return {} if name in inside else _inlined(definitions.get(name, {}), definitions, (*inside, name))

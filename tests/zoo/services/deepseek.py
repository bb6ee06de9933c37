"""DeepSeek V4 in its thinking mode, which is the default.

api-docs.deepseek.com/guides/thinking_mode (thoughts of a turn that called tools go back in all later requests, sampling
has no effect); crewAIInc/crewAI/issues/5878 (the error's body); deepseek-harness/discussions/1850 (empty thoughts must
come back, too); llm-exe/llm-exe/issues/662 (2026-07-11, no json_schema); DeepSeek-V3/issues/1376 (2026-08-21, forced
tools). Blank lines and comments while a request waits: its FAQ. Read on 24 November 2026.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.zoo.checks import Refused, check_json_named, turns
from tests.zoo.counting import Counted
from tests.zoo.script import Said
from tests.zoo.service import Body, Reply, Service, plain_usage


class DeepSeek(Service):
    name = "deepseek"
    model = "deepseek-v4-pro"
    dialect = "deepseek"
    least_cached, cache_block = 64, 64
    roles = ("system", "user", "assistant", "tool")

    def check(self, body: Body) -> None:
        super().check(body)
        if not self.does_think(body):
            return
        for turn in turns(body["messages"]):
            answers = [message for _, message in turn if message["role"] == "assistant"]
            used_tools = any(answer.get("tool_calls") for answer in answers)
            if used_tools and any("reasoning_content" not in answer for answer in answers):
                raise self.invalid("The `reasoning_content` in the thinking mode must be passed back to the API.")
        if isinstance(body.get("tool_choice"), dict) or body.get("tool_choice") == "required":
            raise self.invalid("Thinking mode does not support this tool_choice")

    def check_format(self, body: Body) -> None:
        kind = (body.get("response_format") or {}).get("type", "text")
        if kind == "json_object":
            check_json_named(body["messages"])
        elif kind != "text":
            raise self.invalid("This response_format type is unavailable now")

    def invalid(self, message: str) -> Refused:
        return Refused(400, message, code="invalid_request_error")

    def does_think(self, body: Body) -> bool:
        return (body.get("thinking") or {}).get("type") != "disabled"

    def thought(self, said: Said) -> str:
        """Empty where the model calls its tool at once."""
        return "" if len(said.calls) == 1 else super().thought(said)

    def message(self, said: Said, thought: str) -> Body:
        return super().message(said, thought) | {"content": said.text, "reasoning_content": thought}

    def usage(self, counted: Counted) -> Body:
        return {
            **plain_usage(counted),
            "prompt_tokens_details": {"cached_tokens": counted.cached},
            "prompt_cache_hit_tokens": counted.cached,
            "prompt_cache_miss_tokens": counted.prompt - counted.cached,
            "completion_tokens_details": {"reasoning_tokens": counted.reasoning},
        }

    def answer(self, seat: str, body: Body) -> Reply:
        reply = super().answer(seat, body)
        return Reply(b"\n\n\n" + reply.body, reply.status) if isinstance(reply.body, bytes) else reply

    def events(self, body: Body, document: Body) -> Iterator[bytes]:
        yield b": keep-alive\n\n"
        yield from super().events(body, document)

    def chunks(self, body: Body, document: Body) -> Iterator[Body]:
        """Usage stands in the last chunk with a choice."""
        common = {**document, "object": "chat.completion.chunk"}
        usage = common.pop("usage")
        [choice] = document["choices"]
        for delta in self.deltas(choice["message"]):
            yield {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": None}], "usage": None}
        last = {"index": 0, "delta": {"content": ""}, "finish_reason": choice["finish_reason"]}
        yield {**common, "choices": [last], "usage": usage}

    def deltas(self, message: Body) -> Iterator[Body]:
        if not message["reasoning_content"]:  # said, though empty
            yield {"role": "assistant", "content": None, "reasoning_content": ""}
        yield from super().deltas(message)

    def read_messages(self, body: Body) -> list[Body]:
        """Thoughts of turns without tools are ignored."""
        read: list[Body] = []
        for turn in turns(body["messages"]):
            used_tools = any(message.get("tool_calls") for _, message in turn)
            read += [
                message if used_tools else {name: part for name, part in message.items() if name != "reasoning_content"}
                for _, message in turn
            ]
        return json.loads(json.dumps(read))

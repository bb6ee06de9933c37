"""Qwen at Model Studio (DashScope's compatible mode), thinking.

help.aliyun.com/en/model-studio/deep-thinking; alibabacloud.com/help/en/model-studio/error-code (2026-02-05, calls that
must stream); cloudwego/eino/issues/994 (2026-04-24, forced tools); JSON mode while thinking was refused in
presenton/presenton/issues/184 (2025-08-04) and is taken by newer models, QwenLM/Qwen/issues/2329 (2026-09-02); effort
`minimal`: nanobot's registry.py@3852956; alibabacloud.com/help/en/model-studio/context-cache (2026-10-11, marks make an
explicit cache whose writes cost 1.25). Read on 24 November 2026.
"""

from __future__ import annotations

import json

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Said
from tests.zoo.service import Body, Service

PARAMETER = "invalid_parameter_error"


class Qwen(Service):
    name = "qwen"
    model = "qwen3.8-max"
    dialect = "qwen"
    roles = ("system", "user", "assistant", "tool")
    keeps_turns = False
    least_cached, cache_block = 256, 1
    must_stream = False

    def check(self, body: Body) -> None:
        super().check(body)
        self.bills_writes = "cache_control" in json.dumps(body["messages"])
        if self.bills_writes:
            self.tells |= {"written"}
        thinks = self.does_think(body)
        if thinks and self.must_stream and not body.get("stream"):
            raise self.invalid("parameter.enable_thinking must be set to false for non-streaming calls")
        if thinks and (isinstance(body.get("tool_choice"), dict) or body.get("tool_choice") == "required"):
            raise self.invalid(
                "The tool_choice parameter does not support being set to required or object in thinking mode"
            )
        if body.get("reasoning_effort") == "minimal":
            raise self.invalid("'reasoning_effort' must be one of 'none', 'minimum', 'low', 'medium', 'high'")

    def invalid(self, message: str) -> Refused:
        return Refused(400, f"<400> InternalError.Algo.InvalidParameter: {message}", code=PARAMETER)

    def does_think(self, body: Body) -> bool:
        return body.get("enable_thinking") is not False

    def message(self, said: Said, thought: str) -> Body:
        message = super().message(said, thought)
        return message | {"content": message["content"] or ""}

    def usage(self, counted: Counted) -> Body:
        usage = super().usage(counted) or {}
        if self.bills_writes:  # an explicit cache, which marks in messages ask for
            usage["prompt_tokens_details"] |= {
                "cache_creation_input_tokens": counted.written,
                "cache_type": "ephemeral",
            }
        return usage


class StreamingQwen(Qwen):
    """An open model of theirs: it thinks only in streams, and knows no JSON mode while it does."""

    name = "qwen-stream"
    model = "qwen3-235b-a22b-thinking-2507"
    must_stream = True

    def check_format(self, body: Body) -> None:
        if body.get("response_format") and self.does_think(body):
            raise self.invalid("Json mode response is not supported when enable_thinking is true")

"""Groq with an open reasoning model: thoughts in `reasoning`, unknown message fields refused, malformed calls a 400.

console.groq.com/docs/reasoning (formats; raw with tools or JSON is refused); tashfeenahmed/freellmapi/pull/1093
(2026-09-01) and janhq/jan/issues/8136 (2026-05-13): reasoning_content is refused; sipeed/picoclaw/issues/748:
`tool_use_failed`; console.groq.com/docs/prompt-caching. Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.script import Asked, Said
from tests.zoo.service import Body, Service

KNOWN = {"role", "content", "name", "tool_calls", "tool_call_id", "reasoning"}


class Groq(Service):
    name = "groq"
    model = "openai/gpt-oss-120b"
    dialect = "groq"
    field = "reasoning"
    keeps = ("reasoning",)
    cache_block = 128
    least_cached = 128

    def check(self, body: Body) -> None:
        for at, message in enumerate(body.get("messages") or ()):
            if unknown := sorted(message.keys() - KNOWN):
                raise Refused(
                    400,
                    f"'messages.{at}' : for 'role:{message['role']}' the following must be satisfied[('messages.{at}' "
                    f": property '{unknown[0]}' is unsupported)]",
                )
        super().check(body)
        if body.get("reasoning_format") == "raw" and (body.get("tools") or body.get("response_format")):
            raise Refused(400, "reasoning_format must be parsed or hidden when using JSON mode or tool calling")

    def fault(self, name: str, body: Body, asked: Asked) -> Said:
        """``tool_use_failed``"""
        raise Refused(
            400,
            "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            code="tool_use_failed",
            failed_generation='<function=list_dir{"path": </function>',
        )

    def too_long(self, tokens: int) -> Refused:
        return Refused(400, "Please reduce the length of the messages or completion.", code="context_length_exceeded")

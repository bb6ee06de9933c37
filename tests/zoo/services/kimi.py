"""Kimi K3 at Moonshot: always thinks, takes one temperature, wants its thoughts back beside tool calls.

mastra-ai/mastra/issues/12592 and continuedev/continue/issues/11600 (2026-03-18, the 400); can1357/oh-my-pi/pull/1839
(2026-06-04, history is read with `thinking.keep`); HKUDS/nanobot/issues/3939 (thinking and effort together);
dev.to/aihubmix/kimi-k31-pro-migration-guide (2026-10, sampling); platform.kimi.ai/docs/api/errors. Cached tokens stand
at the top of usage: nanobot's openai_compat_provider.py@3852956. Read on 24 November 2026.
"""

from __future__ import annotations

from tests.zoo.checks import Refused
from tests.zoo.counting import Counted
from tests.zoo.script import Call
from tests.zoo.service import Body, Service, plain_usage


class Kimi(Service):
    name = "kimi"
    model = "kimi-k3.1"
    dialect = "kimi"
    roles = ("system", "user", "assistant", "tool")
    tells = frozenset({"cached"})
    least_cached, cache_block = 256, 256

    def check(self, body: Body) -> None:
        super().check(body)
        if body.get("temperature") not in (None, 1):
            raise Refused(400, "invalid temperature: only 1 is allowed for this model")
        if body.get("top_p") not in (None, 0.95):
            raise Refused(400, "invalid top_p: only 0.95 is allowed for this model")
        if isinstance(body.get("tool_choice"), dict):
            raise Refused(400, "tool_choice 'specified' is incompatible with thinking enabled")
        if body.get("reasoning_effort") and body.get("thinking"):
            raise Refused(400, "cannot specify both 'thinking' and 'reasoning_effort'")
        for at, message in enumerate(body["messages"]):
            if message["role"] != "assistant":
                continue
            if message.get("tool_calls") and not message.get("reasoning_content"):
                raise Refused(
                    400,
                    "thinking is enabled but reasoning_content is missing in assistant tool call message at index "
                    f"{at}",
                )
            if not message.get("tool_calls") and not message.get("content"):
                raise Refused(
                    400, f"Invalid request: the message at position {at} with role 'assistant' must not be empty"
                )

    def call_id(self, call: Call, at: int) -> str:
        return f"functions.{call.name}:{self._number * 10 + at}"

    def usage(self, counted: Counted) -> Body:
        return plain_usage(counted) | {"cached_tokens": counted.cached}

    def error(self, refused: Refused) -> Body:
        return {"error": {"message": refused.message, "type": refused.kind}}

    def too_long(self, tokens: int) -> Refused:
        return Refused(400, f"Invalid request: Your request exceeded model token limit: {self.context}")
